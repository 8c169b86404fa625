#!/usr/bin/env python3
"""All models as native code: right, repeatable, and compiled within limits.

    tools/bench_python bench/native.py [MODEL ...] [--threads 1,2] [--json OUT.json]

Each model in a process of its own, on one core while it compiles: seconds of CPU and peak memory of
compiling, kernels, and the largest difference from hone's own float64 answer relative to the output's
magnitude; with each number of threads, in repeated runs, and in runs from four threads at once, all of
which must agree to the bit with the first. Fails when a limit is missed: difference 1e-4, 60 s for the
slowest model and 15 s in the median, memory three times the model and 500 MB.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
HONE = ROOT / "build" / "release" / "hone"
CALLERS = 4


def filled(name):
    return Path(subprocess.run([ROOT / "tools/fill_model", name], check=True, capture_output=True,
                               text=True).stdout.strip())


def cached_reference(path):
    """Seeded inputs and float64 answers of the reference engine: two dicts by name."""
    import onnx
    sys.path.insert(0, str(ROOT / "models"))
    from fill_weights import inputs_for

    feed = inputs_for(onnx.load(path, load_external_data=False))
    folder = path.parent / "float64"
    if not (folder / "complete").exists():
        with tempfile.TemporaryDirectory() as work:
            arguments = []
            for index, (name, value) in enumerate(feed.items()):
                np.save(f"{work}/{index}.npy", value)
                arguments += ["--input", f"{name}={work}/{index}.npy"]
            subprocess.run([HONE, "run", path, "--float64", "--output-dir", folder, *arguments],
                           check=True, stdout=subprocess.DEVNULL)
        (folder / "complete").touch()
    outputs = sorted(folder.glob("*.npy"), key=lambda file: int(file.name.split("_")[0]))
    return feed, [np.load(file) for file in outputs]


def difference(outputs, reference):
    worst = 0.0
    for got, expected in zip(outputs, reference, strict=True):
        largest = float(np.abs(expected).max()) or 1.0
        worst = max(worst, float(np.abs(got.astype(np.float64) - expected).max()) / largest)
    return worst


def same_bits(model, feed, first, failures):
    outputs = model.run(feed)
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(outputs, first)):
        failures.append("runs differ")


def examine(name, thread_counts):
    """One model, in this process."""
    path = filled(name)
    feed, reference = cached_reference(path)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    import hone

    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    model = hone.compile(path, threads=thread_counts[0])
    after = resource.getrusage(resource.RUSAGE_SELF)
    size = path.stat().st_size
    row = dict(model=name, model_mb=size / 1e6, compile_s=time.perf_counter() - start,
               compile_cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
               peak_mb=after.ru_maxrss / 1e3, before_mb=before.ru_maxrss / 1e3)
    os.sched_setaffinity(0, cores)
    report = model.report()
    row |= dict(kernels=report["kernels"], steps=report["steps"], not_native=report["not_native"])
    row["difference"], failures = 0.0, []
    for count in thread_counts:
        model = model if count == thread_counts[0] else hone.compile(path, threads=count)
        first = model.run(feed)
        row["difference"] = max(row["difference"], difference(first, reference))
        same_bits(model, feed, first, failures)
        callers = [threading.Thread(target=same_bits, args=(model, feed, first, failures))
                   for _ in range(CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    row["failures"] = failures
    return row


def problems(row):
    found = list(row["failures"])
    if not row["difference"] <= 1e-4:
        found.append("inexact")
    if row["not_native"]:
        found.append("not native")
    if row["compile_cpu_s"] > 60:
        found.append("slow to compile")
    if row["peak_mb"] > 3 * row["model_mb"] + 500:
        found.append("memory")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--json", help="also write the rows here")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.threads.split(",")]
    if arguments.one:
        print(json.dumps(examine(arguments.models[0], counts)))
        return
    names = arguments.models or sorted(path.stem for path in (ROOT / "models").glob("*.onnx"))
    print(f"{'model':20s} {'MB':>7s} {'compile s':>9s} {'CPU s':>7s} {'peak MB':>8s} {'kernels':>7s} "
          f"{'steps':>6s} {'difference':>10s}")
    rows, failed = [], 0
    for name in names:
        run = subprocess.run([sys.executable, __file__, "--one", "--threads", arguments.threads, name],
                             capture_output=True, text=True)
        if run.returncode != 0:
            failed += 1
            print(f"{name:20s} failed: {(run.stderr.strip() or str(run.returncode)).splitlines()[-1]}")
            continue
        row = json.loads(run.stdout.splitlines()[-1])
        row["problems"] = problems(row)
        failed += bool(row["problems"])
        rows.append(row)
        print(f"{name:20s} {row['model_mb']:7.1f} {row['compile_s']:9.2f} {row['compile_cpu_s']:7.2f} "
              f"{row['peak_mb']:8.0f} {row['kernels']:7d} {row['steps']:6d} {row['difference']:10.1e} "
              f"{' '.join(sorted(set(row['problems'])))}", flush=True)
    if rows:
        median = statistics.median(row["compile_cpu_s"] for row in rows)
        worst = max(rows, key=lambda row: row["difference"])
        print(f"median of compiling {median:.2f} s; worst difference {worst['difference']:.1e} "
              f"({worst['model']})")
        failed += median > 15
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
