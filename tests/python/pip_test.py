#!/usr/bin/env python3
"""`pip install` of the package into a fresh environment gives a hone that works.

    pip_test.py --library build/release/libhone.so

The library is not built once more for it; all else is as users have it.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = """
import numpy as np, onnx, hone
from onnx import TensorProto, helper
value = helper.make_tensor_value_info
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g",
                          [value("x", TensorProto.FLOAT, [4])], [value("y", TensorProto.FLOAT, [4])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
y, = hone.compile(model).run([np.array([-1, 2, -3, 4], np.float32)])
assert y.tolist() == [0, 2, 0, 4], y
print(hone.__file__)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    library = Path(parser.parse_args().library).resolve()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--no-build-isolation", "--no-deps", "--target", str(site),
             f"-Ccmake.define.HONE_LIBRARY={library}", f"-Cbuild-dir={folder}/build", str(ROOT)],
            check=True, env=environment)
        environment["PYTHONPATH"] = str(site)
        where = subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=environment,
                               capture_output=True, text=True).stdout.strip()
        if not where.startswith(str(site)):
            sys.exit(f"another hone was found: {where}")
        version = [path.name for path in site.glob("hone-*.dist-info")]
        print("installed", *version, "beside", sysconfig.get_python_version())


if __name__ == "__main__":
    main()
