"""Valid models: many operators, attributes, subgraphs, ways to store data."""

import struct

import onnx.parser
from onnx import AttributeProto, TensorProto, helper

from .build import INT64, add_of, external_tensor, ints, model_of, nested_ifs, parse, raw_tensor, unary, value

# In ONNX's own text form: name, opset, body.
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


def models() -> dict:
    return {name: parse(text, opset) for name, (opset, text) in VALID.items()} | special_valid()
