#!/usr/bin/env python3
"""Makes the committed inputs of the fuzz targets: fuzz/corpus/import and fuzz/corpus/text.

    tools/python tools/make_fuzz_corpus.py

Small models that cover many operators, attributes and subgraphs, and models that are broken in one
way each. Inputs that the fuzzer found are named found_*; the script leaves them alone.
"""

import struct
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import AttributeProto, TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz/corpus"
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
HUGE = 1 << 62

# --- valid models, in ONNX's own text form: name, opset, body

VALID = {
    "elementwise": (17, """
      g (float[2, N] x, float[N] y, bool[2, N] c) => (float[2, N] o) {
        a = Add (x, y)  s = Sub (a, y)  m = Mul (s, x)  e = Exp (m)  r = Relu (e)
        k = Clip (r)  w = Where (c, k, x)  t = Tanh (w)  g2 = Sigmoid (t)  q = Pow (g2, x)
        l = LeakyRelu <alpha = 0.1> (q)  o = Max (l, x, y) }"""),
    "logic": (18, """
      g (int64[4] x, int64[4] y) => (bool[4] o) {
        a = Less (x, y)  b = Equal (x, y)  c = And (a, b)  d = Not (c)
        e = BitwiseAnd (x, y)  f = Greater (e, x)  o = Xor (d, f) }"""),
    "casts": (19, """
      g (float[3] x) => (float[3] o) {
        h = Cast <to = 10> (x)  i = Cast <to = 6> (h)  b = Cast <to = 9> (i)  f = Cast <to = 17> (x)
        g2 = Cast <to = 1> (f)  c = Cast <to = 1> (b)  o = Add (c, g2) }"""),
    "matmul": (17, """
      g (float[B, 3, 4] x, float[4, 5] w, float[5] b) => (float[B, 3, 5] o) {
        m = MatMul (x, w)  o = Add (m, b) }"""),
    "gemm": (13, """
      g (float[2, 3] a, float[4, 3] b, float[4] c) => (float[2, 4] o) {
        o = Gemm <alpha = 0.5, beta = 2.0, transB = 1> (a, b, c) }"""),
    "einsum": (12, """
      g (float[2, 3, 4] a, float[4, 3] b) => (float[2, 3] o) {
        o = Einsum <equation = "bij,ji->bi"> (a, b) }"""),
    "conv": (17, """
      g (float[1, 4, 8, 8] x, float[6, 2, 3, 3] w, float[6] b) => (float[1, 6, 4, 4] o) {
        o = Conv <group = 2, kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x, w, b) }"""),
    "conv_same": (17, """
      g (float[1, 1, W] x, float[1, 1, 3] w) => (float[1, 1, V] o) {
        o = Conv <auto_pad = "SAME_UPPER", dilations = [2]> (x, w) }"""),
    "conv_transpose": (11, """
      g (float[1, 2, 4, 4] x, float[2, 3, 3, 3] w) => (float[1, 3, 8, 8] o) {
        o = ConvTranspose <strides = [2, 2], output_shape = [8, 8]> (x, w) }"""),
    "pools": (19, """
      g (float[1, 2, 7, 7] x) => (float[1, 2, 1, 1] o, int64[1, 2, 4, 4] i) {
        a, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (x)
        b = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1> (a)
        c = LpPool <kernel_shape = [2, 2], p = 2> (b)  o = GlobalAveragePool (c) }"""),
    "reductions": (18, """
      g (float[2, 3, 4] x) => (float[1, 1, 1] o, int64[2, 3] i)
      <int64[2] axes = {0, -1}> {
        a = ReduceSum <keepdims = 1> (x, axes)  b = ReduceMax (a)  c = ReduceLogSumExp (b)
        i = ArgMax <axis = 2, keepdims = 0> (x)  d = ReduceL2 (c)  o = ReduceMean (d) }"""),
    "softmax": (13, """
      g (float[N, 10] x) => (float[N, 10] o) {
        a = Softmax <axis = 1> (x)  b = LogSoftmax (a)  o = Hardmax <axis = 0> (b) }"""),
    "softmax_old": (11, """
      g (float[2, 3, 4] x) => (float[2, 3, 4] o) { o = Softmax <axis = 1> (x) }"""),
    "norms": (21, """
      g (float[2, 4, 5] x, float[4] s, float[5] l, float[4] p) => (float[2, 4, 5] o) {
        a = BatchNormalization (x, s, s, s, s)  b = LayerNormalization <axis = -1> (a, l, l)
        c = InstanceNormalization (b, s, s)  o = GroupNormalization <num_groups = 2> (c, p, p) }"""),
    "shapes": (17, """
      g (float[N, 6] x) => (float[M, 3] o)
      <int64[2] two = {0, 3}, int64[1] minus = {-1}, int64[1] three = {3}, int64[1] zero = {0}> {
        a = Shape (x)  n = Gather (a, zero)  s = Concat <axis = 0> (n, minus, three)
        r = Reshape (x, s)  t = Transpose <perm = [1, 0, 2]> (r)  q = Size (t)
        f = Flatten <axis = 2> (t)  u = Unsqueeze (f, zero)  v = Squeeze (u, zero)
        o = Identity (v) }"""),
    "slices": (13, """
      g (float[5, 6] x) => (float[2, 3] o)
      <int64[2] s = {-1, 0}, int64[2] e = {-9223372036854775807, 100}, int64[2] st = {-2, 2},
       int64[2] ax = {0, 1}, int64[4] pads = {1, 0, 0, 0}, int64[2] sp = {2, 2}> {
        a = Slice (x, s, e, ax, st)  b = Pad <mode = "reflect"> (a, pads)
        c, o1 = Split <axis = 0> (b, sp)  o = Identity (c) }"""),
    "data_movement": (18, """
      g (float[2, 3] x, int64[2, 2] i) => (float[4, 6] o)
      <int64[2] reps = {2, 2}, int64[2] sh = {2, 3}, int64 axis = {0}> {
        e = Expand (x, sh)  t = Tile (e, reps)  ge = GatherElements <axis = 1> (t, i)
        n = GatherND (t, i)  sc = ScatterElements <axis = 0, reduction = "add"> (t, i, ge)
        nd = ScatterND (sc, i, n)  tr = Trilu (nd)  o = CumSum <reverse = 1> (tr, axis)
      }"""),
    "generators": (17, """
      g (float[3, 3] x) => (float[3, 3] o)
      <int64 s = {0}, int64 l = {6}, int64 d = {2}, int64[2] sh = {3, 3}> {
        r = Range (s, l, d)  c = ConstantOfShape (sh)  e = EyeLike (x)
        k = Constant <value_floats = [1.0, 2.0, 3.0]> ()  a = Add (c, k)  o = Mul (a, e) }"""),
    "resize": (19, """
      g (float[1, 1, 4, 4] x) => (float[1, 1, 8, 6] o) <int64[2] sizes = {8, 6}> {
        o = Resize <mode = "cubic", coordinate_transformation_mode = "half_pixel", axes = [2, 3],
                    antialias = 1> (x, , , sizes) }"""),
    "resize_scales": (11, """
      g (float[1, 1, H, W] x) => (float[1, 1, P, Q] o)
      <float[8] roi = {0, 0, 0, 0, 1, 1, 1, 1}, float[4] scales = {1, 1, 2, 1.5}> {
        o = Resize <mode = "nearest", nearest_mode = "ceil"> (x, roi, scales) }"""),
    "blocks": (13, """
      g (float[1, 8, 2, 2] x) => (float[1, 8, 2, 2] o) {
        d = DepthToSpace <blocksize = 2, mode = "CRD"> (x)  o = SpaceToDepth <blocksize = 2> (d) }"""),
    "quantized": (13, """
      g (float[2, 3] x) => (float[2, 3] o) <float s = {0.1}, uint8 z = {3}> {
        q = QuantizeLinear (x, s, z)  o = DequantizeLinear (q, s, z) }"""),
    "dynamic_quantize": (11, """
      g (float[2, 3] x) => (uint8[2, 3] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }"""),
    "lstm": (14, """
      g (float[3, 1, 2] x, float[1, 16, 2] w, float[1, 16, 4] r) => (float[3, 1, 1, 4] y) {
        y, h = LSTM <hidden_size = 4> (x, w, r) }"""),
    "gru": (14, """
      g (float[3, 1, 2] x, float[2, 12, 2] w, float[2, 12, 4] r) => (float[3, 2, 1, 4] y) {
        y = GRU <hidden_size = 4, direction = "bidirectional", linear_before_reset = 1> (x, w, r) }"""),
    "topk": (11, """
      g (float[3, 4] x) => (float[3, 2] v, int64[3, 2] i) <int64[1] k = {2}> { v, i = TopK (x, k) }"""),
    "nonzero_unique": (13, """
      g (float[3, 4] x) => (int64[2, M] n, float[U] u) { n = NonZero (x)  u = Unique (x) }"""),
    "one_hot": (11, """
      g (int64[3] x) => (float[3, 5] o) <int64 depth = {5}, float[2] v = {0, 1}> {
        o = OneHot (x, depth, v) }"""),
    "dropout_random": (13, """
      g (float[3] x) => (float[3] o) {
        d, mask = Dropout (x)  r = RandomNormal <shape = [3], seed = 1.0> ()  o = Add (d, r) }"""),
    "if": (17, """
      g (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = t () => (float[2] a) { a = Add (x, x) },
                    else_branch = e () => (float[2] b) { b = Neg (x) }> }"""),
    "loop": (17, """
      g (int64 n, bool c, float[2] x) => (float[2] y, float[K, 2] ys) {
        y, ys = Loop (n, c, x) <body = b (int64 i, bool k, float[2] v) => (bool k2, float[2] w, float[2] u)
          { k2 = Identity (k)  w = Add (v, x)  u = Mul (w, v) }> }"""),
    "scan": (17, """
      g (float[2] s, float[3, 2] x) => (float[2] y, float[3, 2] ys) {
        y, ys = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] n, float[2] o)
          { n = Add (a, e)  o = Identity (n) }> (s, x) }"""),
    "nested_if": (17, """
      g (bool c, float[2] x) => (float[2] y) {
        h = Relu (x)
        y = If (c) <then_branch = t () => (float[2] a) {
              a = If (c) <then_branch = u () => (float[2] a1) { a1 = Exp (h) },
                          else_branch = v () => (float[2] a2) { a2 = Identity (x) }> },
                    else_branch = e () => (float[2] b) { b = Neg (h) }> }"""),
    "sequences": (17, """
      g (float[2] x) => (float[2] y) <int64 at = {0}> {
        s = SequenceConstruct (x, x)  t = SequenceInsert (s, x)  y = SequenceAt (t, at) }"""),
    "optional": (18, """
      g (float[2] x) => (float[2] y) { o = Optional (x)  y = OptionalGetElement (o) }"""),
    "attention": (23, """
      g (float[1, 2, 4, 8] q, float[1, 2, 6, 8] k, float[1, 2, 6, 8] v) => (float[1, 2, 4, 8] y) {
        y = Attention (q, k, v) }"""),
    "function_operators": (20, """
      g (float[2, 4] x) => (float[2, 4] y) <int64[1] four = {4}> {
        a = Gelu (x)  b = Mish (a)  c = MeanVarianceNormalization <axes = [0]> (b)
        d = CenterCropPad <axes = [1]> (c, four)  y = HardSwish (d) }"""),
    "custom_domain": (17, """
      g (float[2] x) => (float[2] y) {
        h = com.example.Magic <level = 3, words = ["a", "b"]> (x)  y = Relu (h) }"""),
    "strings": (17, """
      g (string[2] x) => (string[2] y) { y = Identity (x) }"""),
    "symbolic_arithmetic": (17, """
      g (float[N, 2, K] x) => (float[N, M] y)
      <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1}> {
        s = Shape (x)  n = Gather (s, zero)  k = Gather (s, two)  d = Div (k, two)  m = Mul (d, two)
        p = Add (m, n)  q = Sub (p, n)  e = Slice (x, zero, q, two)  r = Concat <axis = 0> (n, minus)
        y = Reshape (e, r) }"""),
}

FUNCTIONS = """
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
agraph (float[2] x) => (float[2] y) { y = local.twice (x) }
<opset_import: ["" : 17, "local" : 1], domain: "local">
twice (a) => (b) { c = local.once <k = 2> (a)  b = local.once (c) }
<opset_import: ["" : 17], domain: "local">
once <k: int = 1> (a) => (b) { d = Constant <value_int: int = @k> ()  e = CastLike (d, a)  b = Add (a, e) }
"""

RECURSIVE_FUNCTION = """
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
agraph (float[2] x) => (float[2] y) { y = local.f (x) }
<opset_import: ["" : 17, "local" : 1], domain: "local">
f (a) => (b) { b = local.g (a) }
<opset_import: ["" : 17, "local" : 1], domain: "local">
g (a) => (b) { b = local.f (a) }
"""


def parse(text: str, opset: int = 17):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}, "com.example" : 1]>\n{text}')


# --- small models put together by hand


def value(name: str, dims, dtype: int = FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model_of(nodes, inputs, outputs, initializers=(), opset: int = 17, **facts):
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    for name, fact in facts.items():
        setattr(model, name, fact)
    return model


def ints(name: str, values):
    return numpy_helper.from_array(np.asarray(values, np.int64), name)


def with_constant(op: str, constant, x_dims=(2, 3), dtype: int = FLOAT, **attributes):
    """y = op(x, constant)"""
    return model_of(
        [helper.make_node(op, ["x", "c"], ["y"], **attributes)],
        [value("x", x_dims, dtype)],
        [value("y", None, dtype)],
        [constant],
    )


def unary(op: str, x_dims=(2, 3), opset: int = 17, **attributes):
    return model_of(
        [helper.make_node(op, ["x"], ["y"], **attributes)],
        [value("x", x_dims)],
        [value("y", None)],
        opset=opset,
    )


def raw_tensor(name: str, dims, raw: bytes, dtype: int = FLOAT):
    t = TensorProto(name=name, data_type=dtype, dims=dims)
    t.raw_data = raw
    return t


def external_tensor(name: str, dims, dtype: int = FLOAT, **entries):
    t = TensorProto(name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, entry in entries.items():
        t.external_data.add(key=key, value=str(entry))
    return t


def add_of(tensor):
    """y = x + tensor"""
    return model_of(
        [helper.make_node("Add", ["x", tensor.name], ["y"])],
        [value("x", None)],
        [value("y", None)],
        [tensor],
    )


def nested_ifs(depth: int):
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["r"])], "leaf", [], [value("r", None)])
    for k in range(depth):
        node = helper.make_node("If", ["c"], [f"r{k}"], then_branch=graph, else_branch=graph)
        # Only one branch holds the rest, or the size would double at each level.
        node.attribute[1].g.CopyFrom(
            helper.make_graph([helper.make_node("Neg", ["x"], ["z"])], "e", [], [value("z", None)])
        )
        graph = helper.make_graph([node], f"level{k}", [], [value(f"r{k}", None)])
    top = helper.make_graph(
        list(graph.node), "g", [value("c", [], TensorProto.BOOL), value("x", [2])], list(graph.output)
    )
    return helper.make_model(top, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def deep_groups(depth: int) -> bytes:
    """Nested fields 7 (graph), 1 (node), 5 (attribute), 6 (graph) ... without content."""
    message = b""
    for k in range(depth):
        tag = (1, 5, 6)[k % 3] if k + 1 < depth else 7
        length = len(message)
        varint = b""
        while length >= 128:
            varint += bytes([length & 127 | 128])
            length >>= 7
        message = bytes([tag << 3 | 2]) + varint + bytes([length]) + message
    return bytes([8, 8]) + message


def special_valid() -> dict:
    """Valid models that the text form cannot say."""
    cases = {"functions": onnx.parser.parse_model(FUNCTIONS)}
    cases["external_data"] = add_of(
        external_tensor("w", [4], location="data.bin", offset=8, length=16)
    )
    cases["external_without_length"] = add_of(external_tensor("w", [16], location="data.bin"))
    cases["raw_data"] = add_of(raw_tensor("w", [2], struct.pack("<2f", 1, float("nan"))))
    for name, dtype in (("i4", TensorProto.INT4), ("u4", TensorProto.UINT4)):
        t = raw_tensor("w", [3], b"\x21\x03", dtype)
        cases[f"packed_{name}"] = model_of(
            [helper.make_node("Identity", ["w"], ["y"])], [], [value("y", [3], dtype)], [t], opset=21
        )
        cases[f"packed_{name}"].ir_version = 10
    typed = TensorProto(name="w", data_type=TensorProto.FLOAT16, dims=[2], int32_data=[0x3C00, 0x7C00])
    cases["half_as_ints"] = model_of(
        [helper.make_node("Identity", ["w"], ["y"])], [], [value("y", [2], TensorProto.FLOAT16)], [typed]
    )
    strings = TensorProto(name="w", data_type=TensorProto.STRING, dims=[2], string_data=[b"a", b"\xff\x00"])
    cases["string_constant"] = model_of(
        [helper.make_node("Identity", ["w"], ["y"])], [], [value("y", [2], TensorProto.STRING)], [strings]
    )
    many = model_of(
        [
            helper.make_node(
                "Odd name",
                ["x", "", "x"],
                ["", "y"],
                domain="com.example",
                name='a "name" `with` \\ all\n',
                doc_string="text",
                f=float("inf"),
                i=-(1 << 63),
                fs=[0.1, float("nan"), -0.0],
                ss=["", "%x", "\x01"],
                t=ints("t", [[1, 2], [3, 4]]),
            )
        ],
        [value("x", ["odd dim", None, 3])],
        [value("y", None)],
        producer_name="p",
        doc_string="d",
        model_version=3,
        domain="org.example",
    )
    many.graph.node[0].attribute.append(AttributeProto(name="empty", type=AttributeProto.INTS))
    many.opset_import.add(domain="com.example", version=2)
    many.metadata_props.add(key="k", value="v")
    many.graph.node[0].metadata_props.add(key="k", value="v")
    many.graph.value_info.append(value("y", [2, "n"]))
    many.graph.input[0].doc_string = "an input"
    many.graph.input[0].metadata_props.add(key="k", value="v")
    cases["odd_names_and_metadata"] = many
    cases["default_of_input"] = model_of(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [value("x", [2]), value("w", [2])],
        [value("y", [2])],
        [raw_tensor("w", [2], struct.pack("<2f", 1, 2))],
    )
    cases["input_is_output"] = model_of([], [value("x", [2])], [value("x", [2])])
    cases["initializer_is_output"] = model_of([], [], [value("c", [1], INT64)], [ints("c", [3])])
    cases["output_twice"] = model_of(
        [helper.make_node("Neg", ["x"], ["y"])], [value("x", [2])], [value("y", [2]), value("y", [2])]
    )
    old = parse("g (float[2, 3] x) => (float[3, 2] y) { y = Transpose (x) }", 7)
    old.ir_version = 3
    cases["opset7"] = old
    cases["deep_if"] = nested_ifs(20)
    sparse = model_of([helper.make_node("Neg", ["s"], ["y"])], [], [value("y", [5])])
    sparse.graph.sparse_initializer.append(
        helper.make_sparse_tensor(raw_tensor("s", [2], struct.pack("<2f", 1, 2)), ints("", [1, 3]), [5])
    )
    cases["sparse_initializer"] = sparse
    training = unary("Relu")
    training.training_info.add().initialization.name = "init"
    cases["training_info"] = training
    return cases


# --- broken models


def broken_structure() -> dict:
    cases = {}
    cases["cycle"] = model_of(
        [helper.make_node("Neg", ["b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])],
        [],
        [value("b", [2])],
    )
    cases["reads_itself"] = model_of([helper.make_node("Add", ["y", "y"], ["y"])], [], [value("y", [2])])
    cases["wrong_order"] = model_of(
        [helper.make_node("Neg", ["h"], ["y"]), helper.make_node("Neg", ["x"], ["h"])],
        [value("x", [2])],
        [value("y", [2])],
    )
    cases["duplicate_output"] = model_of(
        [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])],
        [value("x", [2])],
        [value("y", [2])],
    )
    cases["duplicate_input"] = model_of(
        [helper.make_node("Neg", ["x"], ["y"])], [value("x", [2]), value("x", [3])], [value("y", [2])]
    )
    cases["duplicate_initializer"] = model_of(
        [helper.make_node("Neg", ["c"], ["y"])], [], [value("y", [1], INT64)], [ints("c", [1]), ints("c", [2])]
    )
    cases["node_shadows_input"] = model_of(
        [helper.make_node("Neg", ["x"], ["x"])], [value("x", [2])], [value("x", [2])]
    )
    cases["missing_output"] = model_of([helper.make_node("Neg", ["x"], ["y"])], [value("x", [2])], [value("z", [2])])
    cases["missing_input"] = model_of([helper.make_node("Neg", ["nobody"], ["y"])], [], [value("y", [2])])
    cases["empty_names"] = model_of([helper.make_node("Neg", [""], [""])], [value("", [2])], [value("", [2])])
    cases["no_outputs"] = model_of([helper.make_node("Neg", ["x"], [])], [value("x", [2])], [])
    cases["too_many_inputs"] = model_of(
        [helper.make_node("Relu", ["x"] * 5, ["y"])], [value("x", [2])], [value("y", [2])]
    )
    cases["too_many_outputs"] = model_of(
        [helper.make_node("Relu", ["x"], ["y", "z", "u"])], [value("x", [2])], [value("y", [2])]
    )
    cases["no_operator"] = model_of([helper.make_node("", ["x"], ["y"])], [value("x", [2])], [value("y", [2])])
    cases["unknown_operator"] = unary("NoSuchOperator")
    cases["undeclared_domain"] = model_of(
        [helper.make_node("Neg", ["x"], ["y"], domain="nowhere")], [value("x", [2])], [value("y", [2])]
    )
    cases["recursive_function"] = onnx.parser.parse_model(RECURSIVE_FUNCTION)
    doubling = onnx.parser.parse_model(FUNCTIONS)
    template = doubling.functions[0]
    for k in range(30):
        function = doubling.functions.add()
        function.CopyFrom(template)
        function.name = f"f{k}"
        inner = "once" if k == 0 else f"f{k - 1}"
        for node in function.node:
            node.op_type = inner
            del node.attribute[:]
    doubling.graph.node[0].op_type = "f29"
    cases["exponential_functions"] = doubling
    cases["if_without_branches"] = model_of(
        [helper.make_node("If", ["c"], ["y"])], [value("c", [], TensorProto.BOOL)], [value("y", [2])]
    )
    cases["loop_wrong_body"] = parse("""
      g (int64 n, bool c, float[2] x) => (float[2] y) {
        y = Loop (n, c, x) <body = b (int64 i) => (float[2] w) { w = Cast <to = 1> (i) }> }""")
    shadow = parse("""
      g (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = t () => (float[2] a) { a = Add (x, x) },
                    else_branch = e () => (float[2] x) { x = Neg (x) }> }""")
    cases["branch_shadows"] = shadow
    cases["branch_reads_later"] = parse("""
      g (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = t () => (float[2] a) { a = Add (x, later) },
                    else_branch = e () => (float[2] b) { b = Neg (x) }>
        later = Relu (x) }""")
    cases["deeper_than_protobuf"] = deep_groups(400)
    cases["deepest_if"] = nested_ifs(31)
    return cases


def broken_versions() -> dict:
    cases = {}
    for name, facts in {
        "ir_version_0": {"ir_version": 0},
        "ir_version_negative": {"ir_version": -1},
        "ir_version_huge": {"ir_version": HUGE},
    }.items():
        model = unary("Relu")
        model.ir_version = facts["ir_version"]
        cases[name] = model
    for version in (0, -5, 6, 10_000, 1 << 31, HUGE):
        model = unary("Relu")
        model.opset_import[0].version = version
        cases[f"opset_{version}"] = model
    model = unary("Relu")
    del model.opset_import[:]
    cases["no_opset"] = model
    model = unary("Relu")
    model.opset_import.add(domain="ai.onnx", version=9)
    cases["two_opsets"] = model
    model = unary("Relu")
    model.ClearField("graph")
    cases["no_graph"] = model
    return cases


def broken_types() -> dict:
    cases = {}
    for dims in ([-1, 2], [HUGE, HUGE], [(1 << 63) - 1], [-(1 << 63)], [0, HUGE], [1 << 31, 1 << 31]):
        label = "_".join(str(d) for d in dims)
        cases[f"input_dims_{label}"] = unary("Relu", dims)
        cases[f"tensor_dims_{label}"] = add_of(raw_tensor("w", dims, b"\0\0\0\0"))
        cases[f"missing_tensor_dims_{label}"] = add_of(TensorProto(name="w", data_type=FLOAT, dims=dims))
    for op in ("Flatten", "GlobalAveragePool", "Softmax", "ReduceSum", "Shape", "Size", "Transpose"):
        cases[f"{op}_of_huge"] = unary(op, [HUGE, 8, 3])
    cases["matmul_huge"] = model_of(
        [helper.make_node("MatMul", ["x", "z"], ["y"])], [value("x", [HUGE, 4]), value("z", [4, HUGE])], [value("y", None)]
    )
    cases["concat_overflow"] = model_of(
        [helper.make_node("Concat", ["x", "x", "x"], ["y"], axis=0)], [value("x", [HUGE])], [value("y", None)]
    )
    cases["conv_overflow"] = model_of(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[HUGE, HUGE], dilations=[HUGE], strides=[HUGE])],
        [value("x", [1, 1, HUGE]), value("w", [1, 1, 3])],
        [value("y", None)],
    )
    cases["element_type_99"] = model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2], 99)], [value("y", [2])])
    cases["element_type_0"] = model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2], 0)], [value("y", [2])])
    cases["tensor_type_99"] = add_of(raw_tensor("w", [2], b"12345678", 99))
    cases["wrong_types"] = model_of(
        [helper.make_node("Add", ["x", "z"], ["y"])], [value("x", [2]), value("z", [2], INT64)], [value("y", [2])]
    )
    cases["not_broadcastable"] = model_of(
        [helper.make_node("Add", ["x", "z"], ["y"])], [value("x", [2]), value("z", [3])], [value("y", [2])]
    )
    cases["string_add"] = model_of(
        [helper.make_node("Add", ["x", "x"], ["y"])], [value("x", [2], TensorProto.STRING)], [value("y", [2])]
    )
    untyped = unary("Relu")
    untyped.graph.input[0].ClearField("type")
    cases["untyped_input"] = untyped
    lying = unary("Transpose")
    lying.graph.output[0].CopyFrom(value("y", [7, 7], INT64))
    cases["lying_output_type"] = lying
    return cases


def broken_attributes() -> dict:
    cases = {}
    for axis in (2, -3, HUGE, -(1 << 63)):
        for op in ("Softmax", "Flatten"):
            cases[f"{op}_axis_{axis}"] = unary(op, axis=axis)
        cases[f"concat_axis_{axis}"] = model_of(
            [helper.make_node("Concat", ["x", "x"], ["y"], axis=axis)], [value("x", [2, 3])], [value("y", None)]
        )
        cases[f"gather_axis_{axis}"] = with_constant("Gather", ints("c", [0]), axis=axis)
    for perm in ([0, 0], [0, 2], [-1, 0], [0], [HUGE, 1]):
        cases[f"perm_{perm}"] = unary("Transpose", perm=perm)
    for values in ([-1, -1], [HUGE, HUGE], [0, 0, 0], [-2, 3], [1 << 32, 1 << 32], [5]):
        label = "_".join(map(str, values))
        cases[f"reshape_{label}"] = with_constant("Reshape", ints("c", values))
        cases[f"expand_{label}"] = with_constant("Expand", ints("c", values))
        cases[f"tile_{label}"] = with_constant("Tile", ints("c", values))
        cases[f"constant_of_shape_{label}"] = model_of(
            [helper.make_node("ConstantOfShape", ["c"], ["y"])], [], [value("y", None)], [ints("c", values)]
        )
        cases[f"unsqueeze_{label}"] = with_constant("Unsqueeze", ints("c", values))
    cases["range_huge"] = model_of(
        [helper.make_node("Range", ["a", "b", "d"], ["y"])],
        [],
        [value("y", None, INT64)],
        [ints("a", -HUGE), ints("b", HUGE), ints("d", 1)],
    )
    cases["range_zero_step"] = model_of(
        [helper.make_node("Range", ["a", "b", "d"], ["y"])],
        [],
        [value("y", None, INT64)],
        [ints("a", 0), ints("b", 5), ints("d", 0)],
    )
    for pads in ([HUGE, HUGE, HUGE, HUGE], [-5, 0, 0, 0], [1, 2]):
        cases[f"pad_{'_'.join(map(str, pads))}"] = with_constant("Pad", ints("c", pads))
    cases["slice_zero_step"] = model_of(
        [helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])],
        [value("x", [4])],
        [value("y", None)],
        [ints("s", [0]), ints("e", [4]), ints("a", [0]), ints("t", [0])],
    )
    cases["split_negative"] = with_constant("Split", ints("c", [-1, 3]))
    cases["split_huge_count"] = unary("Split", opset=18, num_outputs=HUGE)
    cases["one_hot_huge"] = model_of(
        [helper.make_node("OneHot", ["x", "d", "v"], ["y"])],
        [value("x", [3], INT64)],
        [value("y", None, INT64)],
        [ints("d", HUGE), ints("v", [0, 1])],
    )
    cases["depth_to_space_0"] = unary("DepthToSpace", (1, 8, 2, 2), blocksize=0)
    cases["depth_to_space_huge"] = unary("DepthToSpace", (1, 8, 2, 2), blocksize=1 << 32)
    for kernel, strides in (([0, 0], [1, 1]), ([HUGE, 1], [1, 1]), ([2, 2], [0, 0]), ([2, 2], [-1, 1]), ([3], [1])):
        label = "_".join(map(str, kernel + strides))
        cases[f"max_pool_{label}"] = unary("MaxPool", (1, 1, 4, 4), kernel_shape=kernel, strides=strides)
    cases["conv_group_0"] = model_of(
        [helper.make_node("Conv", ["x", "w"], ["y"], group=0)], [value("x", [1, 2, 4]), value("w", [2, 2, 3])], [value("y", None)]
    )
    for equation in ("ij,jk->ik->", "i...j->j", "ii->i", "ij->kk", "->", "...,...", "i j", "\xff"):
        cases[f"einsum_{equation.encode().hex()}"] = unary("Einsum", equation=equation)
    cases["lstm_huge_hidden"] = model_of(
        [helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=HUGE)],
        [value("x", [3, 1, 2]), value("w", [1, 16, 2]), value("r", [1, 16, 4])],
        [value("y", None)],
    )
    cases["resize_huge_scale"] = model_of(
        [helper.make_node("Resize", ["x", "", "s"], ["y"])],
        [value("x", [1, 1, 4, 4])],
        [value("y", None)],
        [numpy_helper.from_array(np.array([1, 1, 1e30, float("nan")], np.float32), "s")],
    )
    cases["resize_huge_sizes"] = model_of(
        [helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="linear")],
        [value("x", [1, 1, 4, 4])],
        [value("y", None)],
        [ints("s", [1, 1, 1 << 40, 1 << 40])],
    )
    for op, size in (("HannWindow", HUGE), ("BlackmanWindow", -1)):
        cases[f"{op}_{size}"] = model_of(
            [helper.make_node(op, ["n"], ["y"])], [], [value("y", None)], [ints("n", size)]
        )
    cases["top_k_huge"] = with_constant("TopK", ints("c", [HUGE]))
    cases["center_crop_huge"] = with_constant("CenterCropPad", ints("c", [HUGE, HUGE]))
    cases["cast_to_99"] = unary("Cast", to=99)
    wrong = unary("Softmax")
    wrong.graph.node[0].attribute.append(helper.make_attribute("axis", "text"))
    cases["attribute_kind"] = wrong
    twice = unary("Softmax", axis=1)
    twice.graph.node[0].attribute.append(helper.make_attribute("axis", 0))
    cases["attribute_twice"] = twice
    untyped = unary("Softmax", axis=1)
    untyped.graph.node[0].attribute[0].type = AttributeProto.UNDEFINED
    cases["attribute_untyped"] = untyped
    reference = unary("Softmax")
    reference.graph.node[0].attribute.add(name="axis", ref_attr_name="k", type=AttributeProto.INT)
    cases["attribute_reference_outside_function"] = reference
    return cases


def broken_data() -> dict:
    cases = {}
    for size in (0, 3, 7, 9, 400):
        cases[f"raw_data_{size}_bytes"] = add_of(raw_tensor("w", [2], b"\1" * size))
    cases["float_data_short"] = add_of(TensorProto(name="w", data_type=FLOAT, dims=[3], float_data=[1.0]))
    cases["both_kinds_of_data"] = add_of(
        TensorProto(name="w", data_type=FLOAT, dims=[1], float_data=[1.0], raw_data=b"1234")
    )
    cases["wrong_kind_of_data"] = add_of(TensorProto(name="w", data_type=FLOAT, dims=[1], int64_data=[1]))
    cases["segment"] = add_of(
        TensorProto(name="w", data_type=FLOAT, dims=[1], float_data=[1.0], segment=TensorProto.Segment(begin=0, end=HUGE))
    )
    for name, entries in {
        "missing_file": {"location": "nowhere.bin"},
        "absolute": {"location": "/etc/passwd"},
        "parent": {"location": "../import.cpp"},
        "hidden_parent": {"location": "x/../../import.cpp"},
        "backslash_parent": {"location": "..\\import.cpp"},
        "symlink": {"location": "link.bin"},
        "directory": {"location": "."},
        "device": {"location": "/dev/zero"},
        "null_byte": {"location": "data.bin\0/../../x"},
        "no_location": {"offset": 0},
        "empty_location": {"location": ""},
        "negative_offset": {"location": "data.bin", "offset": -4},
        "negative_length": {"location": "data.bin", "offset": 0, "length": -8},
        "offset_beyond": {"location": "data.bin", "offset": 4096, "length": 8},
        "offset_overflow": {"location": "data.bin", "offset": (1 << 64) - 4, "length": 8},
        "length_beyond": {"location": "data.bin", "offset": 60, "length": 8},
        "length_wrong": {"location": "data.bin", "offset": 0, "length": 12},
        "text_offset": {"location": "data.bin", "offset": "four"},
    }.items():
        cases[f"external_{name}"] = add_of(external_tensor("w", [2], **entries))
    cases["external_huge"] = add_of(external_tensor("w", [HUGE, 2], location="data.bin"))
    attribute = unary("Constant")
    del attribute.graph.node[0].input[:]
    attribute.graph.node[0].attribute.append(
        helper.make_attribute("value", external_tensor("v", [2], location="/etc/passwd"))
    )
    cases["external_attribute"] = attribute
    sparse = model_of([helper.make_node("Neg", ["s"], ["y"])], [], [value("y", [5])])
    sparse.graph.sparse_initializer.append(
        helper.make_sparse_tensor(raw_tensor("s", [2], struct.pack("<2f", 1, 2)), ints("", [1, HUGE]), [HUGE])
    )
    cases["sparse_huge"] = sparse
    return cases


def broken_bytes() -> dict:
    whole = parse(VALID["conv"][1]).SerializeToString()
    cases = {f"truncated_{size}": whole[:size] for size in (1, 2, 20, len(whole) // 2, len(whole) - 1)}
    cases["empty"] = b""
    cases["text"] = b"this is not a model\n"
    cases["zeros"] = bytes(64)
    cases["ones"] = b"\xff" * 64
    cases["endless_varint"] = b"\x08" + b"\x80" * 40
    cases["huge_length"] = b"\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01"
    cases["group"] = b"\x08\x08" + b"\x0b" * 300
    cases["wrong_wire_type"] = b"\x08\x08\x3d\x01\x02\x03\x04"
    return cases


# --- texts

TEXTS = {
    "softmax": """(x: f32[N, K]) -> (y) {
  m: f32[o < N] = max[k < K] x[o, k]
  s: f32[o < N] = sum[k < K] exp(x[o, k] - m[o])
  y: f32[o < N, i < K] = exp(x[o, i] - m[o]) / s[o]
}
""",
    "matmul": "(a: f32[M, K], b: f32[K, N]) -> (c) { c: f32[i < M, j < N] = sum[k < K] a[i, k] * b[k, j] }\n",
    "dim": "2*N + H/2 - 1\n",
    "dim_nested": "max(N % 3, min(H / (K + 1), 7*N*N)) - 4611686018427387904\n",
    "dim_overflow": "9223372036854775807*N*9223372036854775807\n",
    "dim_division": "N / 0 + 0 / 0 % 0\n",
    "dim_deep": "(" * 300 + "N" + ")" * 300 + "\n",
    "literals": "(x: f64[]) -> (y) { y: f64[] = x[] * 1e-400 + 5p-20 - 1e400 + 0.1 }\n",
    "huge_literal": "(x: f64[]) -> (y) { y: f64[] = x[] * 1e999999999 + 1p999999999 }\n",
    "model": """model {ir_version = 8, opset = 17, opset "com.microsoft" = 1, meta "author" = "me"}
graph main(%x: f32[N, 3]) -> (%y) {
  const %w: f32[3, 2] = [1.0, 2.0, -0.0, 1e-30, 4.0, 5.0]
  const %axes: i64[1] = [1]
  %h: f32[N, 2] = MatMul(%x, %w)
  %y: f32[N, 2] = Relu(%h) {} @ {name = "relu"}
  %z: f32[2] = inline (x: f32[N, 2]) -> (s) { s: f32[j < 2] = sum[i < N] x[i, j] } (%y)
}
""",
    "model_subgraph": """model {ir_version = 8, opset = 17}
graph main(%c: bool[], %x: f32[2]) -> (%y) {
  %y: f32[2] = If(%c) {then_branch = graph t() -> (%a) { outer %x: f32[2] %a: f32[2] = Neg(%x) },
    else_branch = graph e() -> (%b) { outer %x: f32[2] %b: f32[2] = Abs(%x) }}
}
""",
    "model_attributes": """model {ir_version = 8, opset = 17, opset "d" = 1}
graph `odd name`(%`a b`: f32[?], %q: ?, %s: opaque "\\x0a\\x00") -> (%y, %y) {
  about {doc = "d", meta "k" = "v"}
  %y: ?, _ = "d"::`Odd op`(%`a b`, _, %q) {a = 1, b = 1.5, c = "s", d = [1, 2], e = [1.0, nan, -inf],
    f = ["s", "t"], g = ints[], h = floats[], i = strings[], j = tensor i64[2] = [1, 2],
    k = tensors[tensor f32[] = [1.0]], l = dims[N, 2*K], m = opaque "\\xff", n = graphs[]}
    @ {name = "n", overload = "o", doc = "x", meta "k" = "v", origin = "p"}
  about %y {doc = "value"}
}
""",
    "model_huge_dims": """model {ir_version = 8, opset = 17}
graph g(%x: f32[4611686018427387904, 4611686018427387904]) -> (%y) {
  const %s: i64[2] = [4611686018427387904, -1]
  %y: f32[N] = Reshape(%x, %s)
}
""",
    "model_undefined": "model {ir_version = 8, opset = 17}\ngraph g() -> (%y) { %y: f32[2] = Neg(%z) }\n",
    "model_twice": "model {opset = 17}\ngraph g(%x: f32[2], %x: f32[2]) -> (%x) { }\n",
    "model_data": "model {opset = 17}\ngraph g() -> (%x) { const %x: f32[2] = data 99999999999 }\n",
    "model_constant_count": "model {opset = 17}\ngraph g() -> (%x) { const %x: i8[9999999999, 9999999999] = [1] }\n",
    "operators": """# Scaled swish.
op my.domain::Swish(x: T[i..]) -> (y) {
  attr beta: float = 1.0
  y: T[i..] = x[i..] / (1 + exp(-beta * x[i..]))
}
example my.domain::Swish(x: f32[2, 3]) {beta = 2.0}
""",
    "operator_attributes": """op d::Pick(x: T[n, k], i: i64[m]) -> (y) where n == m "rows" {
  attr mode: string = "sum"
  attr steps: ints = [1, 2]
  y: T[r < m] = sum[c < k] select(mode == "sum", x[i[r], c], T(0)) * T(steps[0])
}
""",
    "index_arithmetic": """(x: f32[N, 10, H], idx: i64[M]) -> (y) {
  itable t = [0, -1, 1]
  y: f32[n < N, i < 3, u < M] = sum[r < R] x[n/2 + (i + 2*r)%3, t[i] - 1, S*i + (D + 1)*r - P | 0] + x[min(n, i), idx[u], 2*(i/2) + max(i, 2*r)]
}
""",
    "literals_and_logic": """(x: f32[N], q: u8[N]) -> (y, z) {
  table w = [1/2, 3]
  y: f32[i < N] = x[i] * (1/3) + 5p-20 - (-2) / max(x[i], 0) + (-inf) * x[i] + w[i%2]
  z: bool[i < N] = x[i] < 1 and not(q[i] == 3) or is_nan(f32(q[i]))
}
""",
    "scatter": """(x: f32[N], idx: i64[M], upd: f32[L]) -> (y) where M == L "update counts", N == 2*M {
  y: f32[i < N] = x[i] * $alpha:f32
    scatter add[u < M] [idx[u]] <- upd[u]
}
""",
    "scan": """(x: f32[T, H], h0: f32[H]) -> (hs, hN) {
  scan t < T {
    carry h: f32[H] = h0
    h1: f32[i < H] = tanh(h[i] + x[t, i])
    final hN = h
    collect hs = h1
    next h = h1
  }
}
""",
    "scan_without_next": "(x: f32[3]) -> (y) { scan t < 3 { carry h: f32[3] = x final y = h } }\n",
    "arg_max": "(x: f32[N, 4]) -> (y) { y: i64[i < N] = argmax[j < 4] x[i, j] }\n",
    "wrong_ranks": "(x: f32[N, 4]) -> (y) { y: f32[i < N] = x[i] + x[i, 0, 0] }\n",
    "division_by_zero": "(x: f32[N]) -> (y) { y: f32[i < N/0] = x[i%0] / 0 + 1/0 }\n",
    "overflowing_index": "(x: f32[N]) -> (y) { y: f32[i < 4] = x[9223372036854775807*i + 9223372036854775807*i] }\n",
    "unterminated_string": 'model {doc = "abc',
    "unterminated_name": "(`abc",
    "bad_escape": 'model {doc = "\\q\\x0"}',
    "bytes": "\x00\x01\xff\u20ac (x: f32[N])",
    "empty": "",
    "comment": "# nothing but a comment",
    "deep_parentheses": "(x: f32[]) -> (y) { y: f32[] = " + "(" * 500 + "x[]" + ")" * 500 + " }\n",
    "deep_unary": "(x: f32[]) -> (y) { y: f32[] = " + "-" * 2000 + "x[] }\n",
    "deep_graphs": "model {opset = 17}\n" + "graph g() -> () { _ = If() {b = " * 90,
    "long_sum": "(x: f32[]) -> (y) { y: f32[] = x[]" + " + x[]" * 500 + " }\n",
}


def write(folder: Path, cases: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if not old.name.startswith("found_"):
            old.unlink()
    names = {name: "".join(c if c.isalnum() or c in "_-" else "_" for c in name) for name in cases}
    assert len(set(names.values())) == len(names), "two cases with one name"
    for name, data in cases.items():
        assert len(data) < 4096, f"{name}: {len(data)} bytes"
        (folder / names[name]).write_bytes(data)
    sizes = [file.stat().st_size for file in folder.iterdir()]
    print(f"{folder.relative_to(ROOT)}: {len(sizes)} files, {sum(sizes)} bytes")


def main() -> int:
    data = ROOT / "fuzz/data"
    data.mkdir(exist_ok=True)
    (data / "data.bin").write_bytes(struct.pack("<16f", *range(16)))
    link = data / "link.bin"
    if not link.is_symlink():
        link.symlink_to("../import.cpp")  # out of the folder: must not be followed
    models = {name: parse(text, opset) for name, (opset, text) in VALID.items()}
    models |= special_valid()
    for make in (broken_structure, broken_versions, broken_types, broken_attributes, broken_data):
        models |= {f"bad_{name}": model for name, model in make().items()}
    inputs = {
        name: model if isinstance(model, bytes) else model.SerializeToString(deterministic=True)
        for name, model in models.items()
    }
    inputs |= {f"bad_{name}": bytes_ for name, bytes_ in broken_bytes().items()}
    write(CORPUS / "import", inputs)
    write(CORPUS / "text", {name: text.encode("utf-8", "surrogateescape") for name, text in TEXTS.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
