"""Models that are broken in one way each."""

import struct

import numpy as np
import onnx.parser
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from .build import (
    FLOAT,
    HUGE,
    INT64,
    add_of,
    deep_groups,
    external_tensor,
    ints,
    model_of,
    nested_ifs,
    parse,
    raw_tensor,
    unary,
    value,
    with_constant,
)
from .valid import FUNCTIONS, VALID

RECURSIVE_FUNCTION = """
<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
agraph (float[2] x) => (float[2] y) { y = local.f (x) }
<opset_import: ["" : 17, "local" : 1], domain: "local">
f (a) => (b) { b = local.g (a) }
<opset_import: ["" : 17, "local" : 1], domain: "local">
g (a) => (b) { b = local.f (a) }
"""


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


def models() -> dict:
    cases = {}
    for make in (
        broken_structure,
        broken_versions,
        broken_types,
        broken_attributes,
        broken_data,
        broken_bytes,
    ):
        cases |= {f"bad_{name}": model for name, model in make().items()}
    return cases
