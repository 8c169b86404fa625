#!/usr/bin/env python3
"""Single kernels, one thread, beside what the machine can do in the same run.

    tools/bench_python bench/kernels.py [NAME ...] [--json OUT.json]

Contractions: share of the peak of multiply-adds that was measured in the same process. The depthwise
convolution: speed relative to ONNX Runtime in turn. Operators on 64 MB: bytes moved over the bandwidth
of a copy loop of the same kind, in turn. Fails when one is below its mark.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parent.parent
HONE = ROOT / "build" / "release" / "hone"


def model(nodes, inputs, output, weights=None):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "kernel", [value(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [value("y", TensorProto.FLOAT, output)],
        [onnx.numpy_helper.from_array(data.astype(np.float32), name)
         for name, data in (weights or {}).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def random(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def matmul(m, k, n):
    return model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": [m, k]}, [m, n],
                 {"w": random(k, n)})


def conv(channels_in, channels_out, size, kernel, group=1):
    weight = random(channels_out, channels_in // group, kernel, kernel)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[kernel // 2] * 4, group=group)
    return model([node], {"x": [1, channels_in, size, size]}, [1, channels_out, size, size],
                 {"w": weight})


def elementwise(op, inputs, **attributes):
    shape = [4096, 4096]  # 64 MB
    weights = {"s": random(4096), "b": random(4096)} if op == "LayerNormalization" else {}
    names = ["x", "z"][:inputs] + list(weights)
    return model([helper.make_node(op, names, ["y"], **attributes)],
                 {name: shape for name in ["x", "z"][:inputs]}, shape, weights)


# name: (model, operations, least share of the peak)
CONTRACTIONS = {
    "matmul_1024": (lambda: matmul(1024, 1024, 1024), 2 * 1024**3, 0.88),
    "matmul_128_768_3072": (lambda: matmul(128, 768, 3072), 2 * 128 * 768 * 3072, 0.80),
    "conv1x1_256_14": (lambda: conv(256, 256, 14, 1), 2 * 256 * 256 * 14**2, 0.80),
    "conv3x3_128_28": (lambda: conv(128, 128, 28, 3), 2 * 9 * 128 * 128 * 28**2, 0.80),
}
# name: (model, bytes read and written)
STREAMS = {
    "add_64mb": (lambda: elementwise("Add", 2), 3 << 26),
    "relu_64mb": (lambda: elementwise("Relu", 1), 2 << 26),
    "softmax_64mb": (lambda: elementwise("Softmax", 1, axis=-1), 2 << 26),
    "layer_norm_64mb": (lambda: elementwise("LayerNormalization", 1, axis=-1), 2 << 26),
    "transpose_64mb": (lambda: elementwise("Transpose", 1, perm=[1, 0]), 2 << 26),
}
STREAM_MARK = 0.70


def bench(proto, seconds=1.0):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(proto.SerializeToString())
        file.flush()
        run = subprocess.run([HONE, "bench", file.name, "--json", "--seconds", str(seconds)],
                             check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def least(function, seconds=1.0):
    """Least CPU seconds of a call: other work on the machine does not count."""
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def in_turn(proto, other, rounds=4):
    """Least seconds of hone and of another function, measured alternately."""
    import hone

    compiled = hone.compile(proto)
    feed = {name: random(*shape) for name, shape in zip(compiled.input_names, compiled.input_shapes)}
    outputs = compiled.run(feed)
    ours = theirs = np.inf
    for _ in range(rounds):
        ours = min(ours, least(lambda: compiled.run(feed, outputs=outputs), 0.5))
        theirs = min(theirs, least(lambda: other(feed), 0.5))
    return ours, theirs


def contraction(name):
    build, flops, mark = CONTRACTIONS[name]
    result = bench(build())
    milliseconds = sum(step["ms"] for step in result["steps"])
    share = flops / (milliseconds * 1e-3) / (result["peak_gflops"] * 1e9)
    return dict(name=name, ms=milliseconds, share=share, mark=mark, of="FMA peak",
                steps=len(result["steps"]))


def depthwise():
    import onnxruntime

    proto = conv(144, 144, 56, 3, group=144)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    ours, theirs = in_turn(proto, lambda feed: session.run(None, feed))
    return dict(name="depthwise3x3_144_56", ms=ours * 1e3, share=theirs / ours, mark=1.0,
                of="ONNX Runtime", steps=1)


def stream(name):
    """The bandwidth bound: numpy's own copy, which moves the same kind of bytes."""
    build, moved = STREAMS[name]
    source, target = random(4096, 4096), np.empty((4096, 4096), np.float32)
    ours, copy = in_turn(build(), lambda feed: np.copyto(target, source))
    bound = moved / ((2 << 26) / copy)
    return dict(name=name, ms=ours * 1e3, share=bound / ours, mark=STREAM_MARK, of="copy bandwidth",
                steps=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", help="also write the rows here")
    arguments = parser.parse_args()
    work = {name: (lambda name=name: contraction(name)) for name in CONTRACTIONS}
    work["depthwise3x3_144_56"] = depthwise
    work |= {name: (lambda name=name: stream(name)) for name in STREAMS}
    rows = []
    print(f"{'kernel':22s} {'ms':>9s} {'share':>7s} {'mark':>6s}")
    for name, measure in work.items():
        if arguments.names and name not in arguments.names:
            continue
        row = measure()
        rows.append(row)
        print(f"{row['name']:22s} {row['ms']:9.3f} {100 * row['share']:6.0f}% "
              f"{100 * row['mark']:5.0f}% of {row['of']}{'' if row['share'] >= row['mark'] else '  MISSED'}",
              flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1))
    sys.exit(any(row["share"] < row["mark"] for row in rows))


if __name__ == "__main__":
    main()
