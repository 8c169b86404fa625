#!/usr/bin/env python3
"""The Python package as users see it. Needs hone on PYTHONPATH."""

import contextlib
import io
import os
import re
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path

import hone
import numpy as np
import onnx
from onnx import TensorProto, helper

ENGINE = os.environ.get("HONE_ENGINE", "native")
WEIGHT = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def model_of(rows="N", element=TensorProto.FLOAT):
    """y = relu(x w)"""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
        "graph", [value("x", element, [rows, 3])], [value("y", element, [rows, 4])],
        [onnx.numpy_helper.from_array(WEIGHT, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cast_model(to):
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=to)], "graph",
                              [value("x", TensorProto.FLOAT, [6])], [value("y", to, [6])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def compiled(model=None, **options):
    return hone.compile(model_of() if model is None else model, engine=ENGINE, **options)


def rows(count):
    return np.random.default_rng(count).standard_normal((count, 3), dtype=np.float32)


def expected(x):
    return np.maximum(x @ WEIGHT, 0)


class Package(unittest.TestCase):
    def close(self, outputs, x):
        self.assertEqual(len(outputs), 1)
        self.assertEqual(outputs[0].dtype, np.float32)
        np.testing.assert_allclose(outputs[0], expected(x), atol=1e-5)

    def test_describes_itself(self):
        model = compiled()
        self.assertEqual(model.input_names, ["x"])
        self.assertEqual(model.output_names, ["y"])
        self.assertEqual(model.input_shapes, [("N", 3)])
        self.assertEqual(model.input_types, [np.dtype("float32")])
        self.assertIn("x: float32['N', 3]", repr(model))

    def test_takes_dicts_and_sequences(self):
        model, x = compiled(), rows(5)
        self.close(model.run({"x": x}), x)
        self.close(model.run([x]), x)
        self.close(model.run((x,)), x)
        self.close(model.run([np.asfortranarray(x)]), x)
        self.close(model.run([rows(10)[::2]]), rows(10)[::2])

    def test_takes_files_bytes_and_protobufs(self):
        x = rows(2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            onnx.save(model_of(), path)
            self.close(compiled(path).run([x]), x)
        data = model_of().SerializeToString()
        for source in (data, bytearray(data), memoryview(data), model_of()):
            self.close(compiled(source).run([x]), x)

    def test_specializes_for_each_shape(self):
        model = compiled(threads=2)
        for count in (1, 7, 1, 64):
            self.close(model.run([rows(count)]), rows(count))
        cache = model.report()["cache"]
        self.assertEqual(cache["compiled"], 3)
        self.assertEqual(cache["dropped"], 0)

    def test_fixes_shapes_beforehand(self):
        for options in ({"shapes": {"x": (4, 3)}}, {"symbols": {"N": 4}}):
            model = compiled(**options)
            self.assertEqual(model.report()["cache"]["compiled"], 1)
            self.assertEqual(model.input_shapes, [(4, 3)])
            self.close(model.run([rows(4)]), rows(4))
            with self.assertRaisesRegex(hone.Error, "expects f32"):
                model.run([rows(5)])

    def test_writes_into_given_arrays(self):
        model, x = compiled(), rows(3)
        y = np.empty((3, 4), np.float32)
        results = model.run([x], outputs=[y])
        self.assertIs(results[0], y)
        self.close([y], x)
        self.close(model.run({"x": x}, outputs={"y": y}), x)
        memory = np.empty(3 * 4 * 4 + 1, np.uint8)
        unaligned = memory[1:].view(np.float32).reshape(3, 4)
        self.close(model.run([x], outputs=[unaligned]), x)

    def test_takes_arrays_at_any_address(self):
        model = compiled(symbols={"N": 16})
        size = 16 * 4 * 4
        for offset in (0, 1, 4, 8, 16, 20, 32):
            memory = np.zeros(2 * size + 128, np.uint8)
            start = -memory.ctypes.data % 64 + offset
            x = memory[start:start + 16 * 3 * 4].view(np.float32).reshape(16, 3)
            x[:] = rows(16)
            y = memory[start + size:start + 2 * size].view(np.float32).reshape(16, 4)
            self.close(model.run([x], outputs=[y]), x)

    def test_does_not_copy_inputs(self):
        x = rows(3)
        x.setflags(write=False)
        self.close(compiled().run([x]), x)

    def test_refuses_what_is_wrong(self):
        model, x = compiled(), rows(3)
        for inputs, message in (
                ([x.astype(np.float64)], "is f64"), ([x[:, :2]], "expects f32"),
                ([], "0 inputs are given"), ({"z": x}, "no such input"), ({}, "is missing"),
                ([np.array(["a"])], "no element type")):
            with self.assertRaisesRegex(hone.Error, message):
                model.run(inputs)
        y = np.empty((3, 4), np.float32)
        for outputs, message in (
                ([np.empty((4, 4), np.float32)], "the result is f32"), ([], "0 outputs"),
                ([y.T], "not contiguous"), ({}, "is missing"), ([[1]], "no numpy array")):
            with self.assertRaisesRegex(hone.Error, message):
                model.run([x], outputs=outputs)
        square = model_of(rows=3)
        for options, message in (
                ({"threads": 0}, "number of threads"), ({"engine": "fast"}, "no engine"),
                ({"shapes": {"q": (1,)}}, "no such input"), ({"symbols": {"M": 1}}, "no such dim")):
            with self.assertRaisesRegex(hone.Error, message):
                hone.compile(square, **({"engine": ENGINE} | options))
        with self.assertRaisesRegex(hone.Error, "cannot open"):
            compiled("/nowhere/model.onnx")
        with self.assertRaisesRegex(hone.Error, "no ONNX model"):
            compiled(b"garbage")

    def test_element_types_beyond_numpy(self):
        import ml_dtypes

        x = np.array([0, 1, -2, 1.5, 3, 0.25], np.float32)
        for to, dtype in ((TensorProto.BFLOAT16, ml_dtypes.bfloat16), (TensorProto.FLOAT16, np.float16),
                          (TensorProto.INT8, np.int8), (TensorProto.BOOL, np.bool_)):
            y = compiled(cast_model(to)).run([x])[0]
            self.assertEqual(y.dtype, np.dtype(dtype))
            np.testing.assert_array_equal(y.astype(np.float32), x.astype(dtype).astype(np.float32))

    def test_runs_from_many_threads(self):
        model = compiled(threads=2)
        failures = []

        def work(count):
            for _ in range(50):
                x = rows(count)
                if not np.allclose(model.run([x])[0], expected(x), atol=1e-5):
                    failures.append(count)

        threads = [threading.Thread(target=work, args=(count,)) for count in (1, 2, 3, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_profiles(self):
        profile = compiled().profile([rows(2)], runs=3)
        self.assertEqual(profile["runs"], 3)
        self.assertGreater(profile["seconds"], 0)
        self.assertGreater(len(profile["steps"]), 0)

    def test_documentation(self):
        page = (Path(__file__).resolve().parents[2] / "docs/python.md").read_text()
        blocks = re.findall(r"<!-- python -->\n((?:    .*\n|\n(?=    ))+)", page)
        self.assertGreaterEqual(len(blocks), 4)
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), \
                contextlib.redirect_stdout(printed):
            onnx.save(model_of(), "model.onnx")
            names = {}
            for block in blocks:
                exec(textwrap.dedent(block), names)
        self.assertIn("input 'x': is f64[4, 3], but the model expects f32[N, 3]", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
