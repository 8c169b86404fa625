#!/usr/bin/env python3
"""Seeded inputs of a model and what ONNX Runtime answers, as .npy files.

    reference_outputs.py MODEL.onnx OUTDIR      writes to OUTDIR
    reference_outputs.py MODEL.onnx             writes to the cache, prints the folder

    in_<k>_<name>.npy, out_<k>_<name>.npy       k counts the model's inputs and outputs
    index.txt                                   a line `in|out <k> <name> <file>` each

ONNX Runtime runs with its graph optimizations off, so that the answers are those of the model as it
stands. Free dimensions are 1, or as given by --dim NAME=VALUE. Nothing is computed again while the
model's bytes, this script and the dimensions are the same.
"""

import argparse
import hashlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = [Path(__file__).resolve(), ROOT / "models/fill_weights.py", ROOT / "tools/requirements.txt"]


def cache_dir() -> Path:
    if "HONE_CACHE" in os.environ:
        return Path(os.environ["HONE_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hone"


def digest_of(model: Path, dims: dict[str, int]) -> str:
    digest = hashlib.sha256(repr(sorted(dims.items())).encode())
    for path in [model, *SCRIPTS]:
        with open(path, "rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def compute(model_path: Path, dims: dict[str, int], out: Path) -> None:
    import numpy as np
    import onnx
    import onnxruntime

    sys.path.insert(0, str(ROOT / "models"))
    from fill_weights import inputs_for

    model = onnx.load(model_path, load_external_data=False)
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in dims:
                dim.dim_value = dims[dim.dim_param]
    feed = inputs_for(model)

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(model_path), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    results = session.run(names, feed)

    lines = []
    for word, values in (("in", feed.items()), ("out", zip(names, results))):
        for k, (name, value) in enumerate(values):
            file = f"{word}_{k}_{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}.npy"
            np.save(out / file, np.ascontiguousarray(value))
            lines.append(f"{word} {k} {name} {file}\n")
    (out / "index.txt").write_text("".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("outdir", type=Path, nargs="?")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    dims = {name: int(value) for name, value in (text.split("=") for text in args.dim)}

    digest = digest_of(args.model, dims)
    out = args.outdir or cache_dir() / "references" / f"{args.model.stem}-{digest[:12]}"
    stamp = out / ".complete"
    if not stamp.exists() or stamp.read_text() != digest:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=out.name + ".", dir=out.parent) as work:
            result = Path(work) / "result"
            result.mkdir()
            compute(args.model, dims, result)
            (result / stamp.name).write_text(digest)
            if out.exists():
                shutil.rmtree(out)
            result.rename(out)
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
