#!/usr/bin/env python3
"""Variants of two networks: symbolic dimensions, batch 8, float16 and int8 (tools/make_variants.py).

    check_variants.py --hone PROGRAM [VARIANT...]      e.g. resnet18_int8; all of them by default

For each: `hone optimize` gives a file with the same interface and the same answers in ONNX Runtime,
`hone run` agrees with ONNX Runtime, and DequantizeLinear of constants is still there.
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
# The engines round float16 at other places, and a rounding may move an int8 by one step.
ENGINE_TOLERANCE = {"symbolic": 1e-4, "batch8": 1e-4, "float16": 2e-2, "int8": 5e-2}
FREE_DIMENSIONS = {
    "resnet18_symbolic": {"batch": 2},
    "bert_small_s128_symbolic": {"batch": 2, "sequence": 40},
}


def dequantized_constants(model) -> list[str]:
    """What DequantizeLinear makes of constants, by the name of the constant."""
    constants = {t.name for t in model.graph.initializer}
    constants |= {o for node in model.graph.node if node.op_type == "Constant" for o in node.output}
    return sorted(
        node.input[0]
        for node in model.graph.node
        if node.op_type == "DequantizeLinear" and node.input[0] in constants
    )


def check_symbols(original, variant: str) -> None:
    wanted = set(FREE_DIMENSIONS.get(variant, {}))
    values = [*original.graph.input, *original.graph.output]
    found = {d.dim_param for v in values for d in v.type.tensor_type.shape.dim if d.dim_param}
    if found != wanted:
        raise Failed(f"{variant}: symbolic dimensions {found}, not {wanted}")


def check(hone: Path, path: Path, work: Path) -> None:
    kind = path.stem.rsplit("_", 1)[1]
    exported = work / path.name
    run_hone(hone, "optimize", path, "-o", exported, "--check-text")
    original, result = load(path), load(exported)
    check_symbols(original, path.stem)
    check_same_interface(original, result)
    constants = dequantized_constants(original)
    if (kind == "int8") != bool(constants):
        raise Failed(f"{len(constants)} constants are dequantized in the variant itself")
    if dequantized_constants(result) != constants:
        raise Failed("DequantizeLinear of a constant was folded")
    reference = Reference(path, FREE_DIMENSIONS.get(path.stem))
    answers = reference.answers()
    compare("exported, ONNX Runtime", run_onnxruntime(exported, reference.feed()), answers, EXPORT_TOLERANCE)
    start = time.monotonic()
    got = run_reference_engine(hone, path, reference, work / path.stem)
    print(f"  reference engine: {time.monotonic() - start:.1f} s")
    compare("reference engine", got, answers, ENGINE_TOLERANCE[kind])


def variants() -> dict[str, Path]:
    command = [sys.executable, str(ROOT / "tools/make_variants.py")]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return {Path(line).stem: Path(line) for line in done.stdout.splitlines()}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hone", type=Path, required=True)
    parser.add_argument("--list", action="store_true", help="only make the variants and list them")
    parser.add_argument("variant", nargs="*")
    args = parser.parse_args()
    known = variants()
    if args.list:
        print("\n".join(known))
        return 0
    failed = 0
    for name in args.variant or known:
        if name not in known:
            parser.error(f"there is no variant {name}; one of: {', '.join(known)}")
        print(name)
        try:
            with tempfile.TemporaryDirectory(prefix="hone_variants.") as work:
                check(args.hone, known[name], Path(work))
        except Failed as failure:
            print(f"  FAILED: {failure}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
