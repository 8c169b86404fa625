"""ONNX's numbers of element types, as numpy sees them."""

import numpy as np

try:
    import ml_dtypes
except ImportError:  # only types that numpy lacks need it
    ml_dtypes = None

DTYPE_OF_NUMBER = {number: np.dtype(name) for number, name in {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
}.items()}
# Elements narrower than a byte take a byte each.
_OTHERS = {16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2",
           20: "float8_e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4_e2m1fn",
           24: "float8_e8m0fnu", 25: "uint2", 26: "int2"}
if ml_dtypes is not None:
    DTYPE_OF_NUMBER |= {number: np.dtype(getattr(ml_dtypes, name))
                        for number, name in _OTHERS.items() if hasattr(ml_dtypes, name)}
_NUMBER_OF_DTYPE = {dtype: number for number, dtype in DTYPE_OF_NUMBER.items()}
_FOREIGN = {dtype: np.dtype(f"uint{8 * dtype.itemsize}")
            for number, dtype in DTYPE_OF_NUMBER.items() if number in _OTHERS}


def number_of(dtype):
    """0 for a type that ONNX does not have."""
    return _NUMBER_OF_DTYPE.get(dtype, 0)


def as_buffer(array):
    """The array as one whose memory Python's buffer protocol can hand out."""
    plain = _FOREIGN.get(array.dtype)
    return array if plain is None else array.view(plain)
