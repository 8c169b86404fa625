"""What the checks of whole models share: running hone, ONNX Runtime's answers, comparing."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

ROOT = Path(__file__).resolve().parent.parent.parent


class Failed(Exception):
    """A check did not hold; the text says which."""


def run_hone(hone: Path, *arguments) -> str:
    """What `hone ARGUMENTS` prints; an exit code other than 0 fails the check."""
    command = [str(hone), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Reference:
    """Seeded inputs of a model and ONNX Runtime's answers, from the cache of reference_outputs.py."""

    def __init__(self, model: Path, dims: dict[str, int] | None = None):
        command = [sys.executable, str(ROOT / "tools/reference_outputs.py"), str(model)]
        for name, size in (dims or {}).items():
            command += ["--dim", f"{name}={size}"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        self.folder = Path(done.stdout.strip())
        self.inputs: dict[str, Path] = {}
        self.outputs: dict[str, Path] = {}
        for line in (self.folder / "index.txt").read_text().splitlines():
            word, _, rest = line.split(" ", 2)
            name, file = rest.rsplit(" ", 1)
            (self.inputs if word == "in" else self.outputs)[name] = self.folder / file

    def feed(self) -> dict:
        return {name: np.load(path) for name, path in self.inputs.items()}

    def answers(self) -> dict:
        return {name: np.load(path) for name, path in self.outputs.items()}


def run_onnxruntime(model: Path, feed: dict) -> dict:
    """The outputs by name, with the optimizations of ONNX Runtime off, as for the references."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed)))


def run_reference_engine(hone: Path, model: Path, reference: Reference, out: Path) -> dict:
    """The outputs by name, as `hone run` gives them on the reference's inputs."""
    arguments = []
    for name, path in reference.inputs.items():
        arguments += ["--input", f"{name}={path}"]
    run_hone(hone, "run", model, "--output-dir", out, *arguments)
    files = sorted(out.glob("*.npy"), key=lambda path: int(path.name.split("_")[0]))
    if len(files) != len(reference.outputs):
        raise Failed(f"{model.name}: {len(files)} outputs, not {len(reference.outputs)}")
    return dict(zip(reference.outputs, map(np.load, files)))


def compare(what: str, got: dict, want: dict, tolerance: float) -> float:
    """Fails unless every output differs by at most `tolerance` of its greatest magnitude."""
    if list(got) != list(want):
        raise Failed(f"{what}: outputs {list(got)}, not {list(want)}")
    worst = 0.0
    for name, wanted in want.items():
        value = got[name]
        if value.shape != wanted.shape or value.dtype != wanted.dtype:
            raise Failed(
                f"{what}, {name}: {value.dtype}{value.shape}, not {wanted.dtype}{wanted.shape}"
            )
        value, wanted = value.astype(np.float64), wanted.astype(np.float64)
        if not np.array_equal(np.isfinite(value), np.isfinite(wanted)):
            raise Failed(f"{what}, {name}: infinities or NaNs at other places")
        finite = np.isfinite(wanted)
        magnitude = np.abs(wanted[finite]).max(initial=0.0)
        difference = np.abs(value - wanted, where=finite, out=np.zeros_like(wanted)).max(initial=0.0)
        error = difference / magnitude if magnitude > 0 else difference
        if error > tolerance:
            raise Failed(f"{what}, {name}: relative error {error:.3g}, allowed {tolerance:g}")
        worst = max(worst, error)
    print(f"  {what}: largest relative error {worst:.2g}")
    return worst


def load(path: Path) -> onnx.ModelProto:
    return onnx.load(path, load_external_data=False)


def check_same_interface(original: onnx.ModelProto, exported: onnx.ModelProto) -> None:
    """Names, order, types and dimensions of inputs and outputs, opsets, IR version, metadata."""

    def facts(model):
        weights = {t.name for t in model.graph.initializer}
        return {
            "inputs": [v.SerializeToString() for v in model.graph.input if v.name not in weights],
            "outputs": [v.SerializeToString() for v in model.graph.output],
            "opsets": sorted((o.domain, o.version) for o in model.opset_import),
            "IR version": model.ir_version,
            "metadata": sorted((p.key, p.value) for p in model.metadata_props),
            "name of the graph": model.graph.name,
            "producer": (model.producer_name, model.producer_version, model.domain, model.model_version),
        }

    before, after = facts(original), facts(exported)
    for name, wanted in before.items():
        if after[name] != wanted:
            raise Failed(f"{name} changed: {wanted} became {after[name]}")
