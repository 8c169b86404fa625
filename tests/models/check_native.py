#!/usr/bin/env python3
"""Networks of models/ as native code, with 1 and 2 threads, against the float64 reference.

    check_native.py [MODEL...]      all of them by default; needs hone on PYTHONPATH

An output may differ by 1e-4 of its magnitude. The reference is hone's own float64 answer where
bench/native.py has left one in the cache: for some networks it takes minutes. Otherwise it is what ONNX
Runtime answers in float32, unoptimized; which one it was is printed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import hone
from common import ROOT, Failed, Reference, compare

TOLERANCE = 1e-4
THREADS = (1, 2)


def reference_of(path: Path) -> tuple[dict, dict, str]:
    """Inputs, wanted outputs, and where the latter come from."""
    seeded = Reference(path)
    folder = path.parent / "float64"
    if not (folder / "complete").exists():
        return seeded.feed(), seeded.answers(), "ONNX Runtime"
    files = sorted(folder.glob("*.npy"), key=lambda file: int(file.name.split("_")[0]))
    return seeded.feed(), dict(zip(seeded.outputs, map(np.load, files), strict=True)), "float64"


def check(name: str) -> None:
    fill = subprocess.run([ROOT / "tools/fill_model", name], check=True, capture_output=True, text=True)
    path = Path(fill.stdout.strip())
    feed, wanted, source = reference_of(path)
    for threads in THREADS:
        model = hone.compile(path, threads=threads)
        report = model.report()
        if report["engine"] != "native" or report["not_native"]:
            raise Failed(f"not native: {report}")
        first = model.run(feed)
        got = dict(zip(model.output_names, first, strict=True))
        same_types = {key: value.astype(got[key].dtype) if source == "float64" else value
                      for key, value in wanted.items()}
        compare(f"{threads} threads against {source}", got, same_types, TOLERANCE)
        if not all(np.array_equal(a, b) for a, b in zip(first, model.run(feed))):
            raise Failed(f"{threads} threads: a second run differs from the first")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    failures = 0
    for name in parser.parse_args().models or sorted(p.stem for p in (ROOT / "models").glob("*.onnx")):
        start = time.perf_counter()
        print(name, flush=True)
        try:
            check(name)
            print(f"  {time.perf_counter() - start:.1f} s", flush=True)
        except Failed as failure:
            failures += 1
            print(f"  FAILED {failure}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
