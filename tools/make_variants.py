#!/usr/bin/env python3
"""Variants of two networks of the suite that exercise dynamic shapes, other types and quantization.

    make_variants.py            makes what is missing in the cache, prints the path of each variant

For resnet18 and bert_small_s128:
    <name>_symbolic.onnx   a free dimension `batch` (bert: also `sequence`)
    <name>_batch8.onnx     the same with 8 in its place, all shapes static
    <name>_float16.onnx    every float tensor, constant, input and output in half precision
    <name>_int8.onnx       QuantizeLinear and DequantizeLinear around Conv, MatMul and Gemm: weights
                           int8 per channel, activations 8 bits per tensor, biases int32
Every variant passes onnx.checker, runs in ONNX Runtime, and is compared with the original there.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("resnet18", "bert_small_s128")
KINDS = ("symbolic", "batch8", "float16", "int8")


def cache_dir() -> Path:
    if "HONE_CACHE" in os.environ:
        return Path(os.environ["HONE_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hone"


def filled(name: str) -> Path:
    command = [str(ROOT / "tools/fill_model"), name]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def folder_of_variants(sources: list[Path]) -> Path:
    # The folder of a filled model is named after the hash of all it was made of.
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update((ROOT / "tools/requirements.txt").read_bytes())
    for source in sources:
        digest.update(source.parent.name.encode())
    return cache_dir() / f"variants-{digest.hexdigest()[:12]}"


# --- symbolic dimensions


def tensor(name: str, values, dtype):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def set_dims(value, dims: list) -> None:
    """Numbers become known dimensions, strings free ones."""
    for dim, wanted in zip(value.type.tensor_type.shape.dim, dims, strict=True):
        dim.Clear()
        if isinstance(wanted, str):
            dim.dim_param = wanted
        else:
            dim.dim_value = wanted


def with_inferred_shapes(model):
    """The model with its recorded shapes thrown away and inferred anew.

    Where the inference knows no better than an invented name, nothing is recorded.
    """
    del model.graph.value_info[:]
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    known = [
        value
        for value in model.graph.value_info
        if not any(dim.dim_param.startswith("unk__") for dim in value.type.tensor_type.shape.dim)
    ]
    del model.graph.value_info[:]
    model.graph.value_info.extend(known)
    return model


def free_dimensions(model, batch, sequence):
    """The model with `batch` (and for bert `sequence`) in place of 1 and 128: names or numbers."""
    graph = model.graph
    if len(graph.input) > 1:
        free_bert_shapes(graph)
    for value in [*graph.input, *graph.output]:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        dims[0] = batch
        if len(graph.input) > 1:
            dims[1] = sequence
        set_dims(value, dims)
    return with_inferred_shapes(model)


def free_bert_shapes(graph) -> None:
    """Replaces the sizes that the exporter burnt into bert's constants by computed ones."""
    initializers = {t.name: t for t in graph.initializer}
    producer = {name: node for node in graph.node for name in node.output}
    constant = {name: numpy_helper.to_array(t) for name, t in initializers.items()}

    def replace(name: str, values, dtype=np.int64) -> None:
        initializers[name].CopyFrom(tensor(name, values, dtype))

    new_nodes = [
        helper.make_node("Shape", ["input_ids"], ["free_shape"]),
        helper.make_node("Gather", ["free_shape", "free_one"], ["free_sequence"]),
        helper.make_node(
            "Concat", ["free_mask_head", "free_sequence", "free_sequence"], ["free_mask_shape"], axis=0
        ),
        helper.make_node(
            "Slice", ["free_all_positions", "free_zero", "free_sequence", "free_one"], ["free_positions"]
        ),
    ]
    graph.initializer.extend(
        [
            tensor("free_zero", [0], np.int64),
            tensor("free_one", [1], np.int64),
            tensor("free_mask_head", [1, -1], np.int64),
            tensor("free_mask_axes", [1, 2], np.int64),
            tensor("free_all_positions", np.arange(512)[None], np.int64),
        ]
    )
    for node in graph.node:
        for k, name in enumerate(node.input):
            value = constant.get(name)
            if value is None:
                continue
            if node.op_type == "Reshape" and value.ndim == 1 and list(value[:2]) == [1, 128]:
                replace(name, [0, 0, *value[2:]])
                for attribute in node.attribute:
                    if attribute.name == "allowzero":
                        attribute.i = 0
            elif node.op_type == "Gather" and k == 1 and value.shape == (1, 128):
                node.input[k] = "free_positions"
            elif value.dtype == np.bool_ and value.shape == (1, 1, 128, 1):
                assert value.all()
                replace(name, np.ones((1, 1, 1, 1)), np.bool_)
            elif value.dtype == np.int64 and value.tolist() == [1, -1, 128, 128]:
                node.input[k] = "free_mask_shape"
    # The mask per key: Reshape(Reshape(Gather(Flatten(mask), positions))) is mask[b, 0, 0, k].
    flatten = next(node for node in graph.node if node.op_type == "Flatten")
    mask = flatten.input[0]
    chain, value = [flatten], flatten.output[0]
    while len(chain) < 4:
        chain.append(next(node for node in graph.node if value in node.input))
        value = chain[-1].output[0]
    assert [node.op_type for node in chain] == ["Flatten", "Gather", "Reshape", "Reshape"]
    assert producer[mask].op_type == "Cast"
    unsqueeze = helper.make_node("Unsqueeze", [mask, "free_mask_axes"], [value])
    at = list(graph.node).index(chain[-1])
    nodes = list(graph.node)
    nodes[at] = unsqueeze
    nodes = new_nodes + [node for node in nodes if node not in chain[:-1]]
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in graph.node for name in node.input}
    kept = [t for t in graph.initializer if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)


# --- float16


def half(t) -> None:
    """A float32 tensor in half precision; what is out of its range becomes its greatest number."""
    if t.data_type != TensorProto.FLOAT:
        return
    limit = np.finfo(np.float16).max
    values = np.clip(numpy_helper.to_array(t), -limit, limit).astype(np.float16)
    t.CopyFrom(numpy_helper.from_array(values, t.name))


def in_float16(model):
    graph = model.graph
    for t in graph.initializer:
        half(t)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                half(attribute.t)
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
            elif attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS):
                raise ValueError("subgraphs are not expected in these models")
    for value in [*graph.input, *graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    return with_inferred_shapes(model)


# --- int8


def activation_ranges(model, names: set[str]) -> dict[str, tuple[float, float]]:
    """The least and the greatest number of each value over a few seeded runs."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    kept = {output.name for output in probe.graph.output}
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names - kept))
    session = session_of(probe)
    outputs = [output.name for output in session.get_outputs()]
    ranges = {}
    for seed in (7, 8):
        feed = inputs_for(model, seed)
        values = dict(zip(outputs, session.run(None, feed))) | feed
        for name in names:
            low, high = ranges.get(name, (0.0, 0.0))
            value = values[name]
            ranges[name] = (min(low, float(value.min())), max(high, float(value.max())))
    return ranges


class Quantizer:
    """Inserts QuantizeLinear and DequantizeLinear before the operators that have integer kernels."""

    def __init__(self, model, signed: bool):
        self.model = model
        self.graph = model.graph
        self.dtype = np.int8 if signed else np.uint8
        self.weights = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        self.scales = {}
        self.done = {}
        self.before = []

    def run(self):
        targets = [n for n in self.graph.node if n.op_type in ("Conv", "MatMul", "Gemm")]
        activations = {i for n in targets for i in n.input[:2] if i not in self.weights}
        ranges = activation_ranges(self.model, activations)
        nodes = []
        for node in list(self.graph.node):
            if node in targets:
                self.before = []
                for k in (0, 1):
                    if node.input[k] in self.weights:
                        node.input[k] = self.weight(node, k)
                    else:
                        node.input[k] = self.activation(node.input[k], ranges[node.input[k]])
                if len(node.input) > 2:
                    node.input[2] = self.bias(node)
                nodes.extend(self.before)
            nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        used = {name for node in nodes for name in node.input}
        kept = [t for t in self.graph.initializer if t.name in used]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)
        return with_inferred_shapes(self.model)

    def constant(self, name: str, values) -> str:
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def dequantize(self, name: str, quantized: str, zero, **attributes) -> str:
        inputs = [quantized, f"{name}_scale", self.constant(f"{name}_zero", zero)]
        result = f"{name}_dequantized"
        self.before.append(
            helper.make_node("DequantizeLinear", inputs, [result], name=result, **attributes)
        )
        return result

    def activation(self, name: str, value_range: tuple[float, float]) -> str:
        if name in self.done:
            return self.done[name]
        low, high = value_range
        info = np.iinfo(self.dtype)
        scale = np.float32(max(high - low, 1e-6) / (info.max - info.min))
        zero = np.clip(np.rint(info.min - low / scale), info.min, info.max).astype(self.dtype)
        self.scales[name] = scale
        quantized = f"{name}_quantized"
        self.constant(f"{name}_scale", scale)
        self.before.append(
            helper.make_node(
                "QuantizeLinear", [name, f"{name}_scale", f"{name}_zero"], [quantized], name=quantized
            )
        )
        self.done[name] = self.dequantize(name, quantized, zero)
        self.scales[self.done[name]] = scale
        return self.done[name]

    def weight(self, node, k: int) -> str:
        name = node.input[k]
        if name in self.done:
            return self.done[name]
        values = self.weights[name]
        trans_b = any(a.name == "transB" and a.i for a in node.attribute)
        axis = 0 if node.op_type == "Conv" or trans_b else values.ndim - 1
        others = tuple(a for a in range(values.ndim) if a != axis)
        scale = np.maximum(np.abs(values).max(axis=others), 1e-8).astype(np.float32) / np.float32(127)
        shape = [-1 if a == axis else 1 for a in range(values.ndim)]
        quantized = np.clip(np.rint(values / scale.reshape(shape)), -127, 127).astype(np.int8)
        self.constant(f"{name}_quantized", quantized)
        self.constant(f"{name}_scale", scale)
        zero = np.zeros(scale.shape, np.int8)
        self.done[name] = self.dequantize(name, f"{name}_quantized", zero, axis=axis)
        self.scales[self.done[name]] = scale
        return self.done[name]

    def bias(self, node) -> str:
        """A bias is an int32 in units of the product of the two scales, as integer kernels want it."""
        name = node.input[2]
        if name not in self.weights or self.weights[name].ndim != 1 or name in self.done:
            return self.done.get(name, name)
        scale = (self.scales[node.input[0]] * self.scales[node.input[1]]).astype(np.float32)
        self.constant(f"{name}_quantized", np.rint(self.weights[name] / scale).astype(np.int32))
        self.constant(f"{name}_scale", scale)
        zero = np.zeros(scale.shape, np.int32)
        self.done[name] = self.dequantize(name, f"{name}_quantized", zero, axis=0)
        return self.done[name]


# --- checks


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def compare(what: str, got, want, tolerance: float) -> None:
    """Fails unless the greatest difference stays under `tolerance` of the greatest number wanted."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    error = np.abs(got.astype(np.float64) - want).max() / np.abs(want).max()
    assert np.isfinite(got).all() and error <= tolerance, f"{what}: error {error:.3g}"
    print(f"{what}: relative error {error:.2g}", file=sys.stderr)


def batch_of(model, count: int, sequence: int | None = None) -> dict:
    """`count` different rows of inputs, cut to `sequence`, with another mask in each row."""
    rows = [inputs_for(model, seed) for seed in range(count)]
    feed = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    if "attention_mask" in feed:
        for k in range(count):
            feed["attention_mask"][k, 128 - 5 * k :] = 0
        if sequence:
            feed = {name: value[:, :sequence] for name, value in feed.items()}
    return feed


def check(name: str, kind: str, original, variant) -> None:
    onnx.checker.check_model(variant, full_check=True)
    session, reference = session_of(variant), session_of(original)
    what = f"{name}_{kind}"
    if kind in ("float16", "int8"):
        feed = inputs_for(original)
        want = reference.run(None, feed)[0]
        if kind == "float16":
            feed = {k: v.astype(np.float16) if v.dtype == np.float32 else v for k, v in feed.items()}
        compare(what, session.run(None, feed)[0], want, 0.02 if kind == "float16" else 0.25)
        return
    count = 8 if kind == "batch8" else 3
    feed = batch_of(original, count)
    rows = [{k: v[r : r + 1] for k, v in feed.items()} for r in range(count)]
    want = np.concatenate([reference.run(None, row)[0] for row in rows])
    compare(what, session.run(None, feed)[0], want, 1e-5)
    if kind == "symbolic" and "attention_mask" in feed:
        # Keys beyond the cut are masked in the reference, so that its first rows are the same.
        feed = batch_of(original, count, 40)
        feed["attention_mask"][:] = 1
        padded = batch_of(original, count)
        padded["attention_mask"][:] = 0
        padded["attention_mask"][:, :40] = 1
        rows = [{k: v[r : r + 1] for k, v in padded.items()} for r in range(count)]
        want = np.concatenate([reference.run(None, row)[0][:, :40] for row in rows])
        compare(f"{what}, sequence 40", session.run(None, feed)[0], want, 1e-5)


def make(name: str, kind: str, original):
    model = onnx.ModelProto()
    model.CopyFrom(original)
    if kind == "symbolic":
        return free_dimensions(model, "batch", "sequence")
    if kind == "batch8":
        return free_dimensions(model, 8, 128)
    if kind == "float16":
        return in_float16(model)
    return Quantizer(model, signed=name.startswith("bert")).run()


def main() -> int:
    sources = {name: filled(name) for name in NAMES}
    folder = folder_of_variants(list(sources.values()))
    if not (folder / ".complete").exists():
        load_libraries()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="variants.", dir=folder.parent) as work:
            result = Path(work) / "result"
            result.mkdir()
            for name in NAMES:
                original = onnx.load(sources[name])
                for kind in KINDS:
                    variant = make(name, kind, original)
                    check(name, kind, original, variant)
                    onnx.save(variant, result / f"{name}_{kind}.onnx")
            (result / ".complete").touch()
            shutil.rmtree(folder, ignore_errors=True)
            result.rename(folder)
    for path in sorted(folder.glob("*.onnx")):
        print(path)
    return 0


def load_libraries() -> None:
    """Imports what takes a second to load, only when something has to be made."""
    global TensorProto, helper, inputs_for, np, numpy_helper, onnx, onnxruntime
    import numpy as np
    import onnx
    import onnx.checker
    import onnx.shape_inference
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    sys.path.insert(0, str(ROOT / "models"))
    from fill_weights import inputs_for


if __name__ == "__main__":
    sys.exit(main())
