"""What a host program had a board do: every launch of a kernel against what it should have read (design 3.7).

`Witness` is the simulated board that keeps what the device's memory holds when a kernel starts and when it ends.
`GenerationChecks` follows a whole generation: which kernel runs when and what it is told, parameters of the layer whose
turn it is, tables of all tokens and positions, caches as the launches before left them, the row that a launch adds to
them, and the token that it gave. Files that the host reads are taken as they are; that they hold PyTorch's network is
what the reference's tokens prove.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from compiler.frontend.interpret import Array
from compiler.host.accelerator import scalar_bits
from compiler.host.design import LOAD, Design, Image, Kernel, Result, load_design
from compiler.host.network import PROMPT, Network, prompt_rows
from compiler.host.packing import pack, unpack
from compiler.host.session import CHOOSE, END, FIRST, POSITION, TOKEN, UNTIL, ended
from compiler.simulator.board import pyxrt

Key = tuple[str, int]  # an image, and one of its channels


@dataclass
class Launch:
    """One execution of a kernel of the design in `directory`: digests of what its buffers held before, what those that
    kernels write held after, and the numbers passed.
    """

    directory: Path
    kernel: str
    before: dict[Key, bytes]
    numbers: tuple[int, ...]
    after: dict[Key, bytes] = field(default_factory=dict[Key, bytes])


class Witness:
    """The simulated board by the names of pyxrt; `launches` holds what ran on it."""

    device = pyxrt.Device
    xclbin = pyxrt.Xclbin
    kernel = pyxrt.Kernel
    bo = pyxrt.Buffer
    xclBOSyncDirection = pyxrt.SyncDirection  # noqa: N815 # pyxrt's name
    ert_cmd_state = pyxrt.CommandState

    def __init__(self) -> None:
        self.launches: list[Launch] = []

    def run(self, kernel: pyxrt.Kernel) -> pyxrt.Run:
        return _WitnessedRun(self.launches, kernel)


class _WitnessedRun(pyxrt.Run):
    def __init__(self, launches: list[Launch], kernel: pyxrt.Kernel) -> None:
        super().__init__(kernel)
        self._launches, self._directory, self._name = launches, kernel.loaded.design, kernel.name
        design = load_design(self._directory)
        [entry] = [k for k in design.kernels if k.name == kernel.name]
        # What is read and written is passed twice.
        self._images = {key: (position, design.images[key[0]]) for position, key in enumerate(entry.channels)}
        self._arguments: dict[int, Any] = {}

    def set_arg(self, position: int, argument: Any) -> None:
        super().set_arg(position, argument)
        self._arguments[position] = argument

    def start(self) -> None:
        numbers = tuple(a for _, a in sorted(self._arguments.items()) if isinstance(a, int))
        before = {key: _digest(content) for key, content in self._memory(written=False)}
        self._launches.append(Launch(self._directory, self._name, before, numbers))
        super().start()

    def wait(self, timeout_ms: int = 0) -> pyxrt.CommandState:
        state = super().wait(timeout_ms)
        self._launches[-1].after = dict(self._memory(written=True))
        return state

    def _memory(self, *, written: bool) -> Iterator[tuple[Key, bytes]]:
        """What the device holds, in all buffers or in those that kernels write; where a buffer is too short for its
        image, as much as there is.
        """
        for key, (position, image) in self._images.items():
            if not written or image.role in _MADE:
                buffer: pyxrt.Buffer = self._arguments[position]
                size = min(image.channel_bytes, len(buffer.map()))
                yield key, bytes(buffer.loaded.memory[buffer.address : buffer.address + size])


_MADE = ("output", "intermediate", "kept")  # images that kernels write


class WrongLaunchError(Exception):
    """A launch is not what it should be."""


def wrong_launch_of_files(launches: Sequence[Launch], design: Design) -> str | None:
    """Why launches are not one run of the design on the files of its directory; None where they are."""
    scalars = np.fromfile(design.directory / "params" / "scalars.bin", "<i4") if design.scalars else np.zeros(0, "<i4")
    numbers = {s.value: int(scalars[position]) for position, s in enumerate(design.scalars)}
    coming, memory = iter(launches), dict[Key, bytes]()

    def expected(image: Image, key: Key) -> bytes:
        return _digest((design.directory / image.files[key[1]]).read_bytes())

    try:
        for kernel in design.kernels:
            memory |= _checked(next(coming, None), kernel.name, design, kernel, memory, expected, numbers, {})
    except WrongLaunchError as error:
        return str(error)
    if next(coming, None) is not None:
        return "more is launched than the design has kernels"
    for (name, channel), content in memory.items():
        image = design.images[name]
        if not image.files:
            continue
        file = f"out/{Path(image.files[channel]).name}"
        if (design.directory / file).read_bytes() != content:
            return f"{file} is not what the device holds"
    return None


def _checked(
    launch: Launch | None,
    where: str,
    design: Design,
    kernel: Kernel,
    memory: Mapping[Key, bytes],
    expected: Callable[[Image, Key], bytes],
    numbers: Mapping[str, int],
    told: Mapping[str, int],
) -> dict[Key, bytes]:
    """What a launch of `kernel` left. Raises WrongLaunchError unless it read `memory`, as far as the kernels before it
    wrote that, `expected` digests of what they do not write, its `numbers`, and what it is to be `told`.
    """
    if launch is None or (launch.directory, launch.kernel) != (design.directory, kernel.name):
        raise WrongLaunchError(f"{where}: {'nothing' if launch is None else launch.kernel} is launched instead")
    for key in kernel.channels:
        image = design.images[key[0]]
        if image.role in ("output", "intermediate") and key not in memory:
            continue  # this kernel is the first to write it
        if launch.before[key] != (_digest(memory[key]) if key in memory else expected(image, key)):
            raise WrongLaunchError(f"{where}: {key[0]}, channel {key[1]}, is not what it should read")
    arguments = tuple(1 if name == LOAD else told.get(name, design.arguments[name]) for name in kernel.arguments)
    if launch.numbers != (*(numbers[value] for value in kernel.scalars), *arguments):
        raise WrongLaunchError(f"{where}: the numbers passed are not those of the network")
    return launch.after


@dataclass
class GenerationChecks:
    """The launches of one generation, followed from the first token of the prompt on. `cache`: shape of the keys of one
    layer, and of its values: [1, heads, positions, features]. `asked`: how many tokens were to be made, had none been
    the `ending` one.
    """

    network: Network
    design: Design
    cache: tuple[int, ...]
    launches: Sequence[Launch]
    asked: int
    ending: int | None = None
    checked: int = 0

    @property
    def end(self) -> dict[str, int]:
        """What launches are told of the ending token."""
        return {} if self.ending is None else {END: self.ending}

    def run(self, tokens: Sequence[int]) -> str | None:
        """Why the launches are not those that should have given `tokens`; None where they are."""
        try:
            self._follow(tokens)
        except WrongLaunchError as error:
            return str(error)
        return None

    def _follow(self, tokens: Sequence[int]) -> None:
        tensors, design, coming = self.network.tensors(), self.design, iter(self.launches)
        read: dict[Key, bytes] = {}
        held: dict[Key, bytes] = {}  # what is kept, before the launch that comes
        for image in design.images.values():
            if image.role == "kept":
                held |= dict.fromkeys(_channels(image), bytes(image.channel_bytes))
            elif image.role == "param":
                read |= self._digests(image, tensors)
        numbers = {s.value: scalar_bits(tensors[s.source], s.dtype) for s in design.scalars}
        position, made, left = 0, tokens[:0], tokens
        for turn, prompt in enumerate(self.network.description.turns, 1):
            given = [*made[-1:], *prompt]
            made = left[: ended(left[: self.asked], self.ending)]
            left = left[len(made) :]
            rows = {PROMPT: prompt_rows(self.network.description.length, given, position)}
            for image in design.images.values():
                read |= self._digests(image, rows) if image.role == "input" else {}
            first = position + len(given) - 1
            said = [*given, *made]
            while len(said) > 1:
                where = f"turn {turn}, position {position}"
                until = first + self.asked - 1 if FIRST in design.arguments else position
                told = {TOKEN: said[0], POSITION: position, CHOOSE: int(position >= first), UNTIL: until, FIRST: first}
                memory = self._step(coming, where, read, held, numbers, told | self.end)
                following = said[1 : until - position + 2]
                for name in dict.fromkeys(name for name, _ in held):
                    if not self._adds_rows(name, range(position, position + len(following)), held, memory):
                        raise WrongLaunchError(f"{where}: rows of {name} have changed that are of other positions")
                held = {key: memory[key] for key in held}
                found = next(_result(r, memory, design) for r in design.results if r.name == TOKEN)
                for one, row in zip(following, found[position:], strict=False):
                    if one != row:
                        raise WrongLaunchError(f"{where}: token {one} is not what the launch has given, {row}")
                position += len(following)
                said = said[len(following) :]
        if next(coming, None) is not None:
            raise WrongLaunchError(f"more is launched than {len(tokens)} tokens take")

    def _digests(self, image: Image, tensors: Mapping[str, Array]) -> dict[Key, bytes]:
        return dict(zip(_channels(image), map(_digest, pack(image.content(tensors), image.layout)), strict=True))

    def _step(
        self,
        coming: Iterator[Launch],
        where: str,
        read: Mapping[Key, bytes],
        held: Mapping[Key, bytes],
        numbers: Mapping[str, int],
        told: Mapping[str, int],
    ) -> dict[Key, bytes]:
        """What a launch of the design left; its kernels read what they should."""
        memory = dict[Key, bytes]()

        def expected(_image: Image, key: Key) -> bytes:
            return read[key] if key in read else _digest(held[key])

        for kernel in self.design.kernels:
            at = f"{where}, kernel {kernel.name}"
            memory |= _checked(next(coming, None), at, self.design, kernel, memory, expected, numbers, told)
            self.checked += 1
        return memory

    def _adds_rows(self, name: str, rows: range, held: Mapping[Key, bytes], memory: Mapping[Key, bytes]) -> bool:
        """Whether a launch changed what is kept at its positions only."""
        before, after = (_tensor(self.design, name, m).reshape(-1, *self.cache) for m in (held, memory))
        rest = (np.delete(array, rows, axis=3).tobytes() for array in (before, after))
        return next(rest) == next(rest)


def _channels(image: Image) -> list[Key]:
    return [(image.name, channel) for channel in range(image.layout.channels)]


def _result(result: Result, memory: Mapping[Key, bytes], design: Design) -> Array:
    return result.of(_tensor(design, result.image, memory)).reshape(-1)


def _tensor(design: Design, name: str, memory: Mapping[Key, bytes]) -> Array:
    image = design.images[name]
    return unpack([memory[name, c] for c in range(image.layout.channels)], image.layout).reshape(image.shape)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
