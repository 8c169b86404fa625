#!/usr/bin/env python3
"""What docs/ARCHITECTURE.md shows is what hone prints.

    check_docs.py --hone PROGRAM

Blocks behind `<!-- dump -->`, `<!-- compile -->` and `<!-- ops NAME -->` must occur, line by line, in the
output of `hone optimize --dump` and of `hone compile --dump` on the model that the page describes, and of
`hone ops NAME`. The unit tests look at blocks behind `<!-- loop -->`.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parent.parent.parent


def tiny_model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="fc"),
        helper.make_node("Add", ["h", "b"], ["z"], name="bias"),
        helper.make_node("Identity", ["z"], ["i"]),
        helper.make_node("Softmax", ["i"], ["y"], axis=-1, name="probabilities"),
    ]
    weights = [
        numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4) / 8, "w"),
        numpy_helper.from_array(np.array([0, 0.5, 1, -1], np.float32), "b"),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def output_of(hone: Path, what: str, work: Path) -> str:
    onnx.save(tiny_model(), work / "tiny.onnx")
    if what == "compile":
        subprocess.run([hone, "compile", work / "tiny.onnx", "-o", work / "tiny.so", "--dim", "N=2",
                        "--target", "x86-64-v3", "--dump", work / "stages.txt"],
                       check=True, capture_output=True)
        return (work / "stages.txt").read_text()
    if what == "dump":
        subprocess.run([hone, "optimize", work / "tiny.onnx", "-o", work / "out.onnx", "--dump",
                        work / "out.txt"], check=True, capture_output=True)
        return (work / "out.txt").read_text()
    return subprocess.run([hone, *what.split()], check=True, capture_output=True, text=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hone", type=Path, required=True)
    hone = parser.parse_args().hone.resolve()
    page = (ROOT / "docs/ARCHITECTURE.md").read_text()
    blocks = re.findall(r"<!-- (.+?) -->\n((?:    .*\n)+)", page)
    missing = 0
    with tempfile.TemporaryDirectory() as work:
        for what, block in blocks:
            if what == "loop":
                continue
            printed = [line.strip() for line in output_of(hone, what, Path(work)).splitlines()]
            for line in block.splitlines():
                if line.strip() not in printed:
                    missing += 1
                    print(f"`{what}` does not print: {line.strip()}")
    print(f"{len(blocks)} blocks, {missing} lines that hone does not print")
    return 1 if missing or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
