"""hone compiles ONNX models to native code and runs them.

    import hone
    model = hone.compile("model.onnx", threads=2)
    outputs = model.run({"x": x})                 # a list, in the order of model.output_names
    model.run([x], outputs=[y])                   # into arrays of yours

Models may be run from several threads at once; Python's lock is not held meanwhile.
"""

import json
import os

import numpy as np

from . import _hone
from ._dtypes import DTYPE_OF_NUMBER, as_buffer, number_of

__all__ = ["Error", "Model", "compile"]
__version__ = _hone.version()

Error = _hone.Error


def compile(model, threads=1, *, shapes=None, symbols=None, target="host", cache_size=None,
            directory=None, engine=None):
    """Compiles a model: a path, the bytes of an ONNX file, or an onnx.ModelProto.

    threads     of one run
    shapes      {input name: shape}, for inputs whose dimensions are open
    symbols     {name of a symbolic dimension: value}
    target      "host", or the name of a CPU whose code runs here
    cache_size  for how many shapes compiled code is kept
    directory   where the external data of a model from memory lies
    engine      "native", or "reference": slow and simple

    A model whose shapes are all known is compiled now, others when they first run with a shape.
    Bytes are borrowed, not copied. What goes wrong is raised as hone.Error.
    """
    options = [("threads", str(threads)), ("target", str(target))]
    options += [(f"shape:{name}", ",".join(str(int(dim)) for dim in shape))
                for name, shape in (shapes or {}).items()]
    options += [(f"symbol:{name}", str(int(value))) for name, value in (symbols or {}).items()]
    for key, value in (("cache_size", cache_size), ("directory", directory), ("engine", engine)):
        if value is not None:
            options.append((key, os.fspath(value) if key == "directory" else str(value)))
    if isinstance(model, (str, os.PathLike)):
        return Model(_hone.Model.from_file(os.fspath(model), options))
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    return Model(_hone.Model.from_bytes(model, options))


class Model:
    """A compiled model. Made by hone.compile()."""

    def __init__(self, native):
        self._native = native
        self._inputs = native.inputs()
        outputs = native.outputs()
        self.input_names = [value[0] for value in self._inputs]
        self.output_names = [value[0] for value in outputs]
        # Symbolic dimensions are strings; None: even the rank is unknown.
        self.input_shapes = [value[2] for value in self._inputs]
        self.output_shapes = [value[2] for value in outputs]
        self.input_types = [DTYPE_OF_NUMBER.get(value[1]) for value in self._inputs]
        self.output_types = [DTYPE_OF_NUMBER.get(value[1]) for value in outputs]
        self._last_plan = (None, None)  # shapes of the inputs, and what they lead to

    def run(self, inputs, outputs=None):
        """Runs once. `inputs`: a dict by name, or a sequence in the order of input_names; `outputs`:
        arrays to write to, likewise. Gives a list of arrays in the order of output_names."""
        given = self._given(inputs)
        results = self._new_outputs(given) if outputs is None else self._results(outputs)
        self._native.run(given, [(number_of(array.dtype), as_buffer(array)) for array in results])
        return results

    def profile(self, inputs, runs=10):
        """Seconds of each step, the least of several runs: a dict with a list of steps."""
        return json.loads(self._native.profile(self._given(inputs), runs))

    def report(self):
        """What was compiled, as a dict."""
        return json.loads(self._native.report())

    def __repr__(self):
        def side(names, types, shapes):
            return ", ".join(f"{name}: {dtype}{list(shape) if shape is not None else '[?]'}"
                             for name, dtype, shape in zip(names, types, shapes))
        return (f"<hone.Model ({side(self.input_names, self.input_types, self.input_shapes)}) -> "
                f"({side(self.output_names, self.output_types, self.output_shapes)})>")

    def _given(self, inputs):
        if isinstance(inputs, dict):
            unknown = [name for name in inputs if name not in self.input_names]
            if unknown:
                raise Error(f"input '{unknown[0]}': the model has no such input (its inputs are: "
                            f"{', '.join(self.input_names)})")
            inputs = [inputs.get(name) for name in self.input_names]
        given = []
        for index, value in enumerate(inputs):
            if value is None:
                given.append(None)
                continue
            array = value if isinstance(value, np.ndarray) else np.asarray(value)
            if not array.flags.c_contiguous:
                array = array.copy(order="C")
            number = number_of(array.dtype)
            if number == 0:
                raise Error(f"input {index}: ONNX has no element type for numpy's {array.dtype}")
            given.append((number, as_buffer(array)))
        return given

    def _new_outputs(self, given):
        key = [None if entry is None else (entry[0], entry[1].shape) for entry in given]
        last, plan = self._last_plan
        if key != last:
            plan = [(DTYPE_OF_NUMBER[number], shape) for number, shape in self._native.plan(given)]
            self._last_plan = (key, plan)
        return [np.empty(shape, dtype) for dtype, shape in plan]

    def _results(self, outputs):
        if isinstance(outputs, dict):
            missing = [name for name in self.output_names if name not in outputs]
            if missing:
                raise Error(f"output '{missing[0]}' is missing")
            outputs = [outputs[name] for name in self.output_names]
        results = list(outputs)
        for name, array in zip(self.output_names, results):
            if not isinstance(array, np.ndarray):
                raise Error(f"output '{name}' is no numpy array")
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise Error(f"output '{name}' is not contiguous or not writable")
        return results
