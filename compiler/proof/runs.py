"""The runs of a proof: what a design reads in each, and what is left of it.

`network`: the inputs that the reference's results are of. `inputs`: others of the same kind, as wide, narrower and
wider; in a decode step, the cache holds another number of positions. `exact`, `constants`: tokens drawn for each task
(`compiler.proof.probing`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from compiler.design_dir import TENSORS
from compiler.frontend.interpret import Array
from compiler.graph.linalg_graph import LinalgGraph, Value
from compiler.graph.padded_array import pad_array
from compiler.graph.task_graph import TaskGraph
from compiler.proof.memory import Memory
from compiler.proof.probing import Probe, draw_scalar, give_tokens
from compiler.proof.recording import Recording
from compiler.simulator.csim.execute import run
from compiler.targets.images import pack
from compiler.targets.interface import Interface

MISMATCH = 1  # how the testbench ends when an output is off
_MASKED = np.finfo(np.float32).min / 2
# By seed: the share of the cache's positions that are filled, and how wide the inputs are. A narrow stream is moved by
# attention and by the MLP as much as it is itself, wide keys make a softmax that is neither flat nor one-hot.
_FILLED = (0.5, 0.0, 1.0)
_WIDTH = (1.0, 1 / 16, 4.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: on what, drawn from which seed."""

    kind: Literal["network", "inputs"] | Probe
    seed: int = 0

    @property
    def name(self) -> str:
        return self.kind if self.kind == "network" else f"{self.kind}-{self.seed}"


NETWORK = Trial("network")
QUICK = (NETWORK, Trial("exact"), Trial("constants"))
WHOLE = (
    *QUICK,
    *(Trial("inputs", seed) for seed in range(len(_FILLED))),
    *(Trial(kind, seed) for seed in (1, 2) for kind in ("exact", "constants")),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is run: the built `program` of the design in `directory`, for so long at most. `work` takes what it
    leaves.
    """

    program: Path
    directory: Path
    work: Path
    graph: LinalgGraph
    tasks: TaskGraph
    interface: Interface
    timeout_s: float = 600


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run read and left, what passed its streams, and what the testbench objected to."""

    memory: Memory
    recording: Recording
    message: str


def make_run(subject: Subject, trial: Trial) -> Ran:
    """Raises what `compiler.simulator.csim.execute.run` does."""
    folder, directory = (subject.work / trial.name).resolve(), subject.directory.resolve()
    recording = Recording(folder / "taps", subject.tasks, given=trial.kind in ("exact", "constants"))
    recording.prepare()
    reads = directory if trial == NETWORK else folder
    if trial.kind == "inputs":
        _link(directory, folder)
        _draw_inputs(subject, folder, trial.seed)
    elif trial.kind != "network":
        _link(directory, folder)
        _draw_scalars(subject, folder, trial.kind, trial.seed)
        give_tokens(recording, trial.kind, trial.seed)
    arguments = str(reads), str(folder / "out")
    finished = run(subject.program, directory, recording.folder, subject.timeout_s, arguments, accepted=(0, MISMATCH))
    message = finished.stderr.strip() if finished.returncode == MISMATCH else ""
    return Ran(Memory(reads, folder / "out", subject.interface), recording, message)


def _link(directory: Path, folder: Path) -> None:
    """All that the design reads, file by file, so that some can be replaced."""
    for name in ("params", "tb"):
        (folder / name).mkdir()
        for file in (directory / name).iterdir():
            (folder / name / file.name).symlink_to(file)


def _replace(file: Path, content: bytes) -> None:
    file.unlink(missing_ok=True)
    file.write_bytes(content)


def _draw_scalars(subject: Subject, folder: Path, probe: Probe, seed: int) -> None:
    if subject.interface.scalars:
        rng = np.random.default_rng(seed)
        drawn = (draw_scalar(rng, probe, seed, value, subject.tasks).tobytes() for value in subject.interface.scalars)
        _replace(folder / "params" / "scalars.bin", b"".join(drawn))


def _draw_inputs(subject: Subject, folder: Path, seed: int) -> None:
    """Numbers of the same spread in place of each f32 input; other positions masked, where one row sees a cache."""
    rng, drawn = np.random.default_rng([1, seed]), dict[str, Array]()
    memory = Memory(subject.directory, folder, subject.interface)
    for image in subject.interface.images:
        if image.role not in {"input", "kept"} or image.value.dtype != "f32":
            continue
        if image.value.name not in drawn:
            drawn[image.value.name] = _redrawn(rng, memory.given(image), image.value, seed)
        tensor = pad_array(drawn[image.value.name], image.value.shape)
        for channel, content in enumerate(pack(tensor, image.dma)):
            _replace(folder / image.file(channel), content)
    file = folder / "tb" / TENSORS
    if file.exists():
        sources = {source for name in drawn for source in subject.graph.value[name].tensors}
        known: Mapping[str, str] = json.loads(file.read_text())
        left = {source: digest for source, digest in known.items() if source not in sources}
        _replace(file, json.dumps(left).encode())


def _redrawn(rng: np.random.Generator, tensor: Array, value: Value, seed: int) -> Array:
    """What else an input may hold: `tensor` itself, where it is made of rules that another would break."""
    masked = tensor.min()
    if np.isin(tensor, (0, masked)).all():  # a mask: the last position is the new row, which sees itself
        if np.prod(value.true_shape[:-1]) != 1 or tensor.size < 2:
            return tensor
        filled = round(_FILLED[seed] * (tensor.size - 1))
        slots = np.where(np.arange(tensor.size - 1) < filled, 0, masked if masked < 0 else _MASKED)
        return np.append(slots, 0).astype(np.float32).reshape(tensor.shape)
    spread = _WIDTH[seed] * (float(tensor.std()) or 1.0)
    return (tensor.mean() + spread * rng.normal(size=tensor.shape)).astype(np.float32)
