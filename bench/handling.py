#!/usr/bin/env python3
"""What it costs to handle models: time and peak memory of hone's commands.

    tools/python bench/handling.py [--json OUT.json]

One row per command: best wall time of three runs, CPU time, peak resident memory, and that
divided by the model's size. The figures of the README come from here.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HONE = os.path.join(ROOT, "build", "release", "hone")


def filled(name):
    return subprocess.run([os.path.join(ROOT, "tools", "fill_model"), name], check=True,
                          capture_output=True, text=True).stdout.strip()


def measure(argv, runs=3):
    """Least wall and CPU seconds, and peak RSS in bytes, of a command."""
    best = None
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if status != 0:
            sys.exit(f"{' '.join(argv)} failed")
        row = (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
        best = row if best is None or row[0] < best[0] else best
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="also write the rows here")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core
    bert, resnet = filled("bert_base_s128"), filled("resnet18")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.onnx")
        for what, argv, model in [
            ("inspect bert_base_s128", [HONE, "inspect", bert], bert),
            ("optimize bert_base_s128", [HONE, "optimize", bert, "-o", out], bert),
            ("inspect resnet18", [HONE, "inspect", resnet], resnet),
            ("run resnet18 (reference engine)", [HONE, "run", resnet], resnet),
        ]:
            wall, cpu, rss = measure(argv)
            size = os.path.getsize(model)
            rows.append(dict(what=what, wall_s=round(wall, 3), cpu_s=round(cpu, 3),
                             peak_mb=round(rss / 1e6, 1), peak_over_model=round(rss / size, 3)))
    print(f"{'command':36s} {'wall s':>8s} {'CPU s':>8s} {'peak MB':>9s} {'/ model':>8s}")
    for row in rows:
        print(f"{row['what']:36s} {row['wall_s']:8.3f} {row['cpu_s']:8.3f} {row['peak_mb']:9.1f} "
              f"{row['peak_over_model']:8.3f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
