#!/usr/bin/env python3
"""hone beside onnx, onnxruntime and openvino in one process, imported in every order, all used.

    import_orders.py [--engine native]            needs hone on PYTHONPATH

Each order is a process of its own: symbols of LLVM, protobuf or onnx that one library lends to another
show as a crash or as a wrong answer.
"""

import argparse
import itertools
import subprocess
import sys

PACKAGES = ("hone", "onnx", "onnxruntime", "openvino")


def one_order(order: list[str], engine: str) -> None:
    import importlib

    for name in order:
        importlib.import_module(name)
    import hone
    import numpy as np
    import onnx
    import onnxruntime
    import openvino

    def tensor(name, shape):
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    weight = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["h"]),
         onnx.helper.make_node("Softmax", ["h"], ["y"], axis=-1)],
        "graph", [tensor("x", [2, 3])], [tensor("y", [2, 4])],
        [onnx.numpy_helper.from_array(weight, "w")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)],
                                   ir_version=8)
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(model))
    data = model.SerializeToString()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def answer(name):
        if name == "hone":
            return hone.compile(data, engine=engine).run([x])[0]
        if name == "onnxruntime":
            session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
            return session.run(None, {"x": x})[0]
        if name == "openvino":
            core = openvino.Core()
            return core.compile_model(core.read_model(data), "CPU")([x])[0]
        from onnx.reference import ReferenceEvaluator
        return ReferenceEvaluator(model).run(None, {"x": x})[0]

    expected = np.exp(x @ weight)
    expected /= expected.sum(axis=-1, keepdims=True)
    for name in order + order[::-1]:  # each runs before and after each other
        if not np.allclose(answer(name), expected, atol=1e-5):
            sys.exit(f"{name} gives a wrong answer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="native")
    parser.add_argument("--order", help="only this one, in this process")
    arguments = parser.parse_args()
    if arguments.order:
        one_order(arguments.order.split(","), arguments.engine)
        return
    failed = 0
    for order in itertools.permutations(PACKAGES):
        run = subprocess.run([sys.executable, __file__, "--engine", arguments.engine, "--order",
                              ",".join(order)], capture_output=True, text=True)
        if run.returncode != 0:
            failed += 1
            print(f"{' '.join(order)}: exit {run.returncode}\n{run.stderr[-2000:]}")
    print(f"{24 - failed} of 24 orders are fine")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
