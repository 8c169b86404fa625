"""Small models put together by hand."""

import numpy as np
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
HUGE = 1 << 62


def parse(text: str, opset: int = 17):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}, "com.example" : 1]>\n{text}')


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
