#!/usr/bin/env python3
"""Write ONNX's own backend node cases as files.

    write_onnx_cases.py OUTDIR

    OUTDIR/cases.txt                          the names of all cases, sorted
    OUTDIR/<case>/model.onnx
    OUTDIR/<case>/tolerance.txt               rtol and atol, on one line
    OUTDIR/<case>/test_data_set_<k>/input_<n>.pb, output_<n>.pb      a TensorProto each
                                    input_<n>.seq.pb, input_<n>.opt.pb   SequenceProto, OptionalProto
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TypeProto, numpy_helper
from onnx.backend.test.case import node


def value_as_file(value, name: str, type_proto: TypeProto) -> tuple[str, bytes]:
    """The suffix and the bytes of one input or output."""
    if isinstance(value, onnx.TensorProto):
        return "pb", value.SerializeToString()
    kind = type_proto.WhichOneof("value")
    if kind == "sequence_type":
        if type_proto.sequence_type.elem_type.HasField("tensor_type"):
            dtype = onnx.helper.tensor_dtype_to_np_dtype(
                type_proto.sequence_type.elem_type.tensor_type.elem_type
            )
            value = [np.asarray(v, dtype=dtype) for v in value]
            if not value:
                sequence = onnx.SequenceProto(
                    name=name, elem_type=onnx.SequenceProto.TENSOR
                )
                return "seq.pb", sequence.SerializeToString()
        return "seq.pb", numpy_helper.from_list(value, name).SerializeToString()
    if kind == "optional_type":
        return "opt.pb", optional_as_proto(value, name, type_proto).SerializeToString()
    if kind == "tensor_type":
        return "pb", tensor_as_proto(value, name, type_proto).SerializeToString()
    raise ValueError(f"{name}: a {kind} has no file form")


def tensor_as_proto(value, name: str, type_proto: TypeProto) -> onnx.TensorProto:
    tensor = numpy_helper.from_array(np.asarray(value), name)
    if tensor.data_type != type_proto.tensor_type.elem_type:
        raise ValueError(f"{name}: the data's type is not the model's")
    return tensor


def optional_as_proto(value, name: str, type_proto: TypeProto) -> onnx.OptionalProto:
    element = type_proto.optional_type.elem_type.WhichOneof("value")
    if value is None:
        kind = onnx.OptionalProto.UNDEFINED
        return onnx.OptionalProto(name=name, elem_type=kind)
    if element == "sequence_type":
        return onnx.OptionalProto(
            name=name,
            elem_type=onnx.OptionalProto.SEQUENCE,
            sequence_value=numpy_helper.from_list(list(value), name),
        )
    return onnx.OptionalProto(
        name=name,
        elem_type=onnx.OptionalProto.TENSOR,
        tensor_value=numpy_helper.from_array(np.asarray(value), name),
    )


def write_case(case, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "tolerance.txt").write_text(f"{case.rtol:g} {case.atol:g}\n")
    graph = case.model.graph
    for k, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{k}"
        data.mkdir()
        for word, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
            if len(values) > len(infos):
                raise ValueError(f"{case.name}: more {word}s than the model declares")
            for n, (value, info) in enumerate(zip(values, infos)):
                suffix, data_bytes = value_as_file(value, info.name, info.type)
                (data / f"{word}_{n}.{suffix}").write_bytes(data_bytes)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(sys.argv[1])
    warnings.filterwarnings("ignore")
    cases = node.collect_testcases(None)
    names = sorted(case.name for case in cases)
    if len(set(names)) != len(names):
        raise ValueError("two cases have the same name")
    for case in cases:
        write_case(case, out / case.name)
    (out / "cases.txt").write_text("".join(f"{name}\n" for name in names))
    print(f"{len(names)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
