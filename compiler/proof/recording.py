"""What passed the streams of a design while its C++ ran (compiler/simulator/include/millrace/tap.h)."""

from dataclasses import dataclass, field
from pathlib import Path

from compiler.errors import VerificationError
from compiler.frontend.interpret import Array
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.proof.ports import Passed
from compiler.targets.images import split, tensor_to_tokens, tokens_to_tensor
from compiler.targets.tokens import part_names, recorded_elements, stored_tokens


@dataclass
class Recording:
    """The folder of the taps of one run. A tensor is kept from its first use to its second: a stream has two ends."""

    folder: Path
    tasks: TaskGraph
    given: bool = False
    _kept: dict[str, Array] = field(default_factory=dict[str, Array])

    def prepare(self) -> None:
        """Write the plan of each stream, which the run is held to: its ends, its depth, its tokens."""
        self.folder.mkdir(parents=True, exist_ok=True)
        steady = self.tasks.steady.stream  # the launches after the first one move these alone
        plans = (
            f"{_plan(s, name)}{'' if s.name in steady else ' ?'}\n"
            for s in self.tasks.streams
            for name in part_names(s.name, s.itensor)
        )
        (self.folder / "plan").write_text("".join(plans))

    def give(self, stream: str, tensor: Array) -> None:
        """Have the reader of the stream get this tensor, whatever its writer writes."""
        itensor = self.tasks.stream[stream].itensor.without_rereads()
        tokens = stored_tokens(tensor_to_tokens(tensor, itensor), itensor, self.tasks.port_bits)
        for name, part in zip(part_names(stream, itensor), tokens, strict=True):
            (self.folder / f"{name}.in").write_bytes(part)

    def written(self, stream: str) -> Array:
        """The tensor that the stream's writer wrote. Raises VerificationError where it wrote none."""
        return self._tensor(stream, "bin")

    def read(self, stream: str) -> Array:
        """The tensor that its reader got. What fills memories is never given."""
        return self._tensor(stream, "in" if self.given and stream in self.tasks.steady.stream else "bin")

    def passed(self, where: Passed) -> Array:
        """The tensor that its reader got there."""
        return split(self.read(where.stream), where.joint)[where.part]

    def _tensor(self, stream: str, suffix: str) -> Array:
        name = f"{stream}.{suffix}"
        if (kept := self._kept.pop(name, None)) is not None:
            return kept
        itensor = self.tasks.stream[stream].itensor
        try:
            raws = [(self.folder / f"{part}.{suffix}").read_bytes() for part in part_names(stream, itensor)]
        except FileNotFoundError as error:
            raise VerificationError(f"nothing passed stream {stream}") from error
        self._kept[name] = tensor = tokens_to_tensor(recorded_elements(raws, itensor, self.tasks.port_bits), itensor)
        return tensor


def _plan(stream: Stream, name: str) -> str:
    """Of the FIFO `name`, which carries the stream or a part of each token. Where it begins with tokens, which its
    writer puts in first, the number of all is what is known of them.
    """
    loops = (f"{loop.trip}{'r' if loop.dim is None else ''}" for loop in stream.itensor.loops)
    carried = (str(stream.tokens + stream.initial),) if stream.initial else loops
    return " ".join((name, stream.source, stream.target, str(stream.depth), *carried))
