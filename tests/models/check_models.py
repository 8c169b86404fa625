#!/usr/bin/env python3
"""Every network of models/: import, export, and the reference engine, against ONNX Runtime.

    check_models.py --hone PROGRAM [--list] [MODEL...]      all of them by default

For each: `hone optimize` gives a file with the same interface and the same answers in ONNX Runtime,
`hone run` agrees with ONNX Runtime, and the text form reads back to the same model.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import (
    ROOT,
    Failed,
    Reference,
    check_same_interface,
    compare,
    load,
    run_hone,
    run_onnxruntime,
    run_reference_engine,
)

EXPORT_TOLERANCE = 1e-6
ENGINE_TOLERANCE = 1e-4


def names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "models").glob("*.onnx"))


def check(hone: Path, name: str, work: Path) -> None:
    fill = subprocess.run([ROOT / "tools/fill_model", name], check=True, capture_output=True, text=True)
    path = Path(fill.stdout.strip())
    reference = Reference(path)
    exported = work / f"{name}.onnx"
    run_hone(hone, "optimize", path, "-o", exported, "--check-text")
    check_same_interface(load(path), load(exported))
    compare("exported file in ONNX Runtime", run_onnxruntime(exported, reference.feed()),
            reference.answers(), EXPORT_TOLERANCE)
    compare("reference engine", run_reference_engine(hone, path, reference, work / "out"),
            reference.answers(), ENGINE_TOLERANCE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", type=Path, required=True)
    parser.add_argument("--list", action="store_true", help="only print the names")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(names()))
        return 0
    failures = 0
    for name in arguments.models or names():
        print(name, flush=True)
        start = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory() as work:
                check(arguments.hone, name, Path(work))
            print(f"  {time.perf_counter() - start:.1f} s", flush=True)
        except Failed as failure:
            failures += 1
            print(f"  FAILED {failure}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
