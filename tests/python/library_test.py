#!/usr/bin/env python3
"""Libraries that `hone compile` writes: used from C, on this machine and, by qemu, on AArch64.

    library_test.py --hone PROGRAM [-k NAME]
"""

import argparse
import ctypes
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

HERE = Path(__file__).resolve().parent
HARNESS = HERE.parent / "library" / "harness.c"
CLANG = "clang-" + dict(line.split("=", 1) for line in
                        (HERE.parent.parent / "tools/versions.env").read_text().splitlines()
                        if "=" in line and not line.startswith("#"))["CLANG_VERSION"]
ARM = "/usr/aarch64-linux-gnu"
# What libc, libm and libpthread offer and the runtime or a kernel may need.
ALLOWED = set("""__sched_cpucount aligned_alloc bcmp calloc clock_gettime close free lseek madvise memcpy
    memmove memset mmap munmap open pthread_attr_destroy pthread_attr_init pthread_attr_setstacksize
    pthread_create pthread_join pthread_sigmask sched_getaffinity sigfillset snprintf syscall""".split())
HONE = None


def small_network():
    """Convolution, pooling, matrix product, softmax; two outputs."""
    random = np.random.default_rng(1)
    value = helper.make_tensor_value_info
    weights = {"k": random.standard_normal((8, 3, 3, 3)), "b": random.standard_normal(8),
               "w": random.standard_normal((8, 10)) / 3}
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "k", "b"], ["c"], pads=[1, 1, 1, 1]),
         helper.make_node("Relu", ["c"], ["r"]),
         helper.make_node("GlobalAveragePool", ["r"], ["g"]),
         helper.make_node("Flatten", ["g"], ["f"]),
         helper.make_node("MatMul", ["f", "w"], ["m"]),
         helper.make_node("Softmax", ["m"], ["y"], axis=-1)],
        "network", [value("x", TensorProto.FLOAT, ["N", 3, 12, 12])],
        [value("y", TensorProto.FLOAT, ["N", 10]), value("r", TensorProto.FLOAT, ["N", 8, 12, 12])],
        [onnx.numpy_helper.from_array(data.astype(np.float32), name)
         for name, data in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(*command, ok=True):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ok and result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}:\n{result.stdout}{result.stderr}")
    return result


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model = self.folder / "network.onnx"
        model = small_network()
        onnx.save(model, self.model)
        self.x = np.random.default_rng(2).standard_normal((2, 3, 12, 12)).astype(np.float32)
        self.x.tofile(self.folder / "in0")
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        self.expected = session.run(None, {"x": self.x})

    def compile(self, output, *options, ok=True):
        return run(HONE, "compile", self.model, "-o", self.folder / output, "--dim", "N=2", *options,
                   ok=ok)

    def harness(self, *objects, name="network", compiler=("cc",)):
        program = self.folder / "harness"
        run(*compiler, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-DMODEL={name}",
            f'-DHEADER="{name}.h"', f"-I{self.folder}", HARNESS, *objects, "-o", program)
        return program

    def check_outputs(self):
        for i, expected in enumerate(self.expected):
            got = np.fromfile(self.folder / f"out{i}", np.float32).reshape(expected.shape)
            np.testing.assert_allclose(got, expected, atol=1e-5)
            os.remove(self.folder / f"out{i}")

    def test_shared_library(self):
        self.compile("network.so")
        program = self.harness(self.folder / "network.so", "-lm", "-lpthread",
                               f"-Wl,-rpath,{self.folder}")
        for threads, callers in ((1, 1), (2, 1), (2, 4), (7, 2)):
            run(program, threads, callers, "-", self.folder)
            self.check_outputs()

    def test_needs_only_the_c_library(self):
        self.compile("network.so")
        lines = run("nm", "-D", self.folder / "network.so").stdout.splitlines()
        undefined = {line.split()[-1] for line in lines if " U " in line}
        self.assertLessEqual(undefined, ALLOWED)
        defined = {line.split()[-1] for line in lines if " U " not in line}
        self.assertEqual(defined, {"network_" + name for name in (
            "create", "destroy", "run", "input", "output", "input_count", "output_count")})
        dynamic = run("readelf", "-d", self.folder / "network.so").stdout
        self.assertEqual(dynamic.count("NEEDED"), 3)

    def test_describes_itself(self):
        self.compile("network.so")
        library = ctypes.CDLL(str(self.folder / "network.so"))

        class Tensor(ctypes.Structure):
            _fields_ = [("name", ctypes.c_char_p), ("element_type", ctypes.c_int32),
                        ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64)),
                        ("bytes", ctypes.c_int64)]

        library.network_output.restype = ctypes.POINTER(Tensor)
        self.assertEqual(library.network_input_count(), 1)
        self.assertEqual(library.network_output_count(), 2)
        y = library.network_output(0).contents
        self.assertEqual((y.name, y.element_type, y.rank, y.bytes), (b"y", 1, 2, 80))
        self.assertEqual(y.dims[:2], [2, 10])

    def test_two_objects_in_one_program(self):
        self.compile("network.o")
        self.compile("second.o", "--no-header")
        program = self.harness(self.folder / "network.o", self.folder / "second.o", "-lm",
                               "-lpthread")
        run(program, 2, 2, "-", self.folder)
        self.check_outputs()

    def test_weights_beside(self):
        weights = self.folder / "network.weights"
        self.compile("network.so", "--weights", weights)
        program = self.harness(self.folder / "network.so", "-lm", "-lpthread",
                               f"-Wl,-rpath,{self.folder}")
        run(program, 1, 2, weights, self.folder)
        self.check_outputs()
        self.assertIn("no model", run(program, 1, 1, "-", self.folder, ok=False).stderr)
        data = bytearray(weights.read_bytes())
        data[40] ^= 1  # within the digest
        weights.write_bytes(data)
        self.assertIn("no model", run(program, 1, 1, weights, self.folder, ok=False).stderr)
        weights.write_bytes(data[:-1])
        self.assertIn("no model", run(program, 1, 1, weights, self.folder, ok=False).stderr)

    def test_same_input_same_bytes(self):
        for name in ("network.so", "network.o"):
            self.compile(name)
            os.rename(self.folder / name, self.folder / ("first_" + name))
            self.compile(name)
            self.assertTrue(filecmp.cmp(self.folder / name, self.folder / ("first_" + name), False))

    def arm_program(self, target):
        self.compile("network.o", "--target", target)
        libraries = f"{ARM}/lib"
        return self.harness(
            self.folder / "network.o", f"{libraries}/crt1.o", f"{libraries}/crti.o",
            f"{libraries}/crtn.o", f"-L{libraries}", "-lc", "-lm", "-lpthread",
            compiler=(CLANG, "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-nostdlib", "-isystem",
                      f"{ARM}/include", f"-Wl,-dynamic-linker,{libraries}/ld-linux-aarch64.so.1",
                      "-mno-outline-atomics"))

    def test_aarch64(self):
        for target in ("neoverse-n1", "cortex-a53"):
            program = self.arm_program(target)
            for threads in (1, 2):
                run("qemu-aarch64", "-L", ARM, program, threads, 2, "-", self.folder)
                self.check_outputs()

    def test_aarch64_shared_library(self):
        self.compile("network.so", "--target", "neoverse-n1")
        header = run("readelf", "-h", self.folder / "network.so").stdout
        self.assertIn("AArch64", header)

    def test_plain_x86_64(self):
        for target in ("x86-64", "x86-64-v2", "x86-64-v3"):
            self.compile("network.so", "--target", target)
            program = self.harness(self.folder / "network.so", "-lm", "-lpthread",
                                   f"-Wl,-rpath,{self.folder}")
            run(program, 2, 1, "-", self.folder)
            self.check_outputs()

    def test_run_and_bench(self):
        arguments = ("--dim", "N=2", "--input", f"x={self.folder}/x.npy")
        np.save(self.folder / "x.npy", self.x)
        for threads in (1, 2):
            run(HONE, "run", self.model, "--engine", "native", "--threads", threads, *arguments,
                "--output-dir", self.folder)
            for i, name in enumerate(("y", "r")):
                np.testing.assert_allclose(np.load(self.folder / f"{i}_{name}.npy"),
                                           self.expected[i], atol=1e-5)
            text = run(HONE, "bench", self.model, "--threads", threads, "--seconds", "0.05", *arguments)
            self.assertIn("GFLOP/s", text.stdout)
        result = json.loads(run(HONE, "bench", self.model, "--seconds", "0.05", "--json",
                                *arguments).stdout)
        self.assertLessEqual(result["min_ms"], result["p50_ms"])
        self.assertGreater(result["peak_gflops"], 1)
        self.assertEqual(len(result["steps"]), result["report"]["steps"])
        self.assertEqual(result["report"]["not_native"], [])

    def example(self, name):
        """The program behind `<!-- NAME -->` in the documentation, compiled where it expects to be."""
        page = (HERE.parent.parent / "docs/c.md").read_text()
        block = re.search(rf"<!-- {re.escape(name)} -->\n((?:    .*\n|\n(?=    ))+)", page).group(1)
        (self.folder / name).write_text(textwrap.dedent(block))
        return self.folder / name

    def test_documentation(self):
        value = helper.make_tensor_value_info
        graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "graph",
                                  [value("x", TensorProto.FLOAT, ["N", 3])],
                                  [value("y", TensorProto.FLOAT, ["N", 3])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  self.folder / "model.onnx")
        run(HONE, "compile", self.folder / "model.onnx", "-o", self.folder / "model.so",
            "--shape", "x=2,3")
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
        run("cc", *flags, self.example("model.c"), self.folder / "model.so", "-Wl,-rpath,$ORIGIN",
            "-lm", "-lpthread", "-o", self.folder / "program")
        self.assertEqual(run(self.folder / "program").stdout, "y: 1\n")
        build = Path(HONE).resolve().parent
        if not (build / "libhone.so").exists():
            self.skipTest("no libhone.so in this build")
        run("cc", *flags, self.example("libhone.c"), f"-I{HERE.parent.parent / 'include'}", f"-L{build}",
            "-lhone", f"-Wl,-rpath,{build}", "-o", self.folder / "program")
        ran = subprocess.run([self.folder / "program"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((ran.stdout, ran.returncode), ("y: 1\n", 0))

    def test_refuses_bad_requests(self):
        nowhere = self.folder / "none" / "network.so"
        for arguments, message in (
                (["-o", self.folder / "network.so"], "dimension N of f32[N, 3, 12, 12] is open"),
                (["-o", self.folder / "network.exe", "--dim", "N=2"], "must end in .so or .o"),
                (["-o", nowhere, "--dim", "N=2"], "cannot write there"),
                (["-o", self.folder / "a.so", "--dim", "N=2", "--target", "z80"], "z80"),
                (["-o", self.folder / "a.so", "--dim", "N=2", "--name", "a b"], "not a name"),
                (["-o", self.folder / "a.so", "--dim", "M=2"], "no such dimension"),
                (["-o", self.folder / "a.so", "--shape", "x=2,4,12,12"], "is no case of")):
            result = run(HONE, "compile", self.model, *arguments, ok=False)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(message, result.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["in0", "network.onnx"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    arguments, rest = parser.parse_known_args()
    HONE = arguments.hone
    unittest.main(argv=sys.argv[:1] + rest)
