"""What a host program had a board do: every launch of a kernel against what it should have read (design 3.7).

`Witness` is the simulated board that keeps what the device's memory holds when a kernel starts and when it ends.
`GenerationChecks` follows a whole generation: which kernel runs when and what it is told, parameters of the layer whose
turn it is, hidden states and caches as the launches before left them, masks and rotary tables of all positions, rows
that a launch adds to the caches, and the token that the head gave. Files that the host reads are taken as they are;
that they hold PyTorch's network is what the reference's tokens prove.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from compiler.frontend.interpret import Array
from compiler.frontend.models.inputs import newest_first
from compiler.host.accelerator import scalar_bits
from compiler.host.design import Design, Image, Kernel, load_design
from compiler.host.network import Network
from compiler.host.packing import pack, unpack
from compiler.host.session import POSITION, caches
from compiler.simulator.board import pyxrt

Key = tuple[str, int]  # an image, and one of its channels
# Masks and rotary tables for new rows at some positions, with so many cached, of so many slots.
Inputs = Callable[[Sequence[int], int, int], Mapping[str, Array]]


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
        self._launches, self._directory, self._name = launches, kernel.loaded.design[kernel.name], kernel.name
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
    arguments = tuple(told.get(name, design.arguments[name]) for name in kernel.arguments)
    if launch.numbers != (*(numbers[value] for value in kernel.scalars), *arguments):
        raise WrongLaunchError(f"{where}: the numbers passed are not those of the network")
    return launch.after


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Those of the network, as a design takes them: digests of their images, and numbers by the name of their value."""

    images: Mapping[Key, bytes]
    numbers: Mapping[str, int]


@dataclass
class GenerationChecks:
    """The launches of one generation, followed from the prompt on."""

    network: Network
    prefill: Design
    decode: Design
    head: Design
    inputs: Inputs
    launches: Sequence[Launch]
    checked: int = 0
    _parameters: dict[Path, _Parameters] = field(default_factory=dict[Path, _Parameters])

    def run(self, tokens: Sequence[int]) -> str | None:
        """Why the launches are not those that should have given `tokens`; None where they are."""
        try:
            self._follow(tokens)
        except WrongLaunchError as error:
            return str(error)
        return None

    def _follow(self, tokens: Sequence[int]) -> None:
        about, coming = self.network.description, iter(self.launches)
        count, prompt = len(about.prompt), [*about.prompt]
        hidden = self.network.embed(prompt + prompt[-1:] * (about.rows - count), 0)
        inputs = self.inputs(range(about.rows), 0, about.rows)
        results, _ = self._step(coming, self.prefill, "prefill", {"hidden": hidden, **inputs})
        held = {p: _filled(results[new][:, :, :count], about.length) for p, new in caches(about.layers)}
        self._chosen(coming, tokens, 0, results["hidden_out"][:, count - 1 : count])
        for number in range(1, len(tokens)):
            position = count + number - 1
            inputs = {"hidden": self.network.embed([tokens[number - 1]], position), **held}
            results, kept = self._step(coming, self.decode, f"token {number}", inputs, {POSITION: position})
            for name, cache in kept.items():
                if not _same_but_for(position, held[name], cache):
                    raise WrongLaunchError(f"token {number}: another row of {name} than {position} has changed")
            held = kept
            self._chosen(coming, tokens, number, results["hidden_out"])
        if next(coming, None) is not None:
            raise WrongLaunchError(f"more is launched than {len(tokens)} tokens take")

    def _chosen(self, coming: Iterator[Launch], tokens: Sequence[int], number: int, hidden: Array) -> None:
        results, _ = self._step(coming, self.head, f"token {number}, head", {"hidden": hidden})
        if tokens[number] != (made := int(results["token"].reshape(()))):
            raise WrongLaunchError(f"token {number} is {tokens[number]}; the head has given {made}")

    def _step(
        self,
        coming: Iterator[Launch],
        design: Design,
        phase: str,
        inputs: Mapping[str, Array],
        told: Mapping[str, int] = MappingProxyType({}),
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """The results of all layers, or of the head, and the caches that are kept; the kernels of the design read what
        they should.
        """
        memory, parameters = dict[Key, bytes](), self._parameters_of(design)

        def expected(image: Image, key: Key) -> bytes:
            if image.role == "param":
                return parameters.images[key]
            return _digest(_channels(image, inputs)[key[1]])

        for kernel in design.kernels:
            where = f"{phase}, kernel {kernel.name}"
            memory |= _checked(next(coming, None), where, design, kernel, memory, expected, parameters.numbers, told)
            self.checked += 1
        results = {result.name: result.of(_tensor(design, result.image, memory)) for result in design.results}
        return results, _kept(design, memory, inputs)

    def _tables(self) -> dict[str, Array]:
        """Of the decode design: what a launch at each position reads a row of."""
        length = self.network.description.length
        rows = [newest_first(self.inputs([position], position, length + 1)) for position in range(length)]
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    def _parameters_of(self, design: Design) -> _Parameters:
        """Read and packed once, however many tokens pass them."""
        known = self._parameters.get(design.directory)
        if known is None:
            tensors = self.network.head() if design is self.head else self.network.parameters()
            tensors = {**tensors, **(self._tables() if design is self.decode else {})}
            images = {
                (image.name, channel): _digest(content)
                for image in design.images.values()
                if image.role == "param"
                for channel, content in enumerate(_channels(image, tensors))
            }
            numbers = {s.value: scalar_bits(tensors[s.source], s.dtype) for s in design.scalars}
            known = self._parameters[design.directory] = _Parameters(images, numbers)
        return known


def _kept(design: Design, memory: Mapping[Key, bytes], inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What images that launches add to hold, by the names of the network's tensors, in the shapes of `inputs`."""
    found: dict[str, Array] = {}
    for image in (image for image in design.images.values() if image.role == "kept"):
        tensor = _tensor(design, image.name, memory)
        parts = zip(image.sources, tensor if image.stacked else [tensor], strict=True)
        found |= {source: part.reshape(inputs[source].shape) for source, part in parts}
    return found


def _filled(rows: Array, slots: int) -> Array:
    """A cache [1, heads, slots, features] that begins with `rows`."""
    cache = np.zeros((*rows.shape[:2], slots, rows.shape[3]), np.float32)
    cache[:, :, : rows.shape[2]] = rows
    return cache


def _same_but_for(position: int, one: Array, other: Array) -> bool:
    """Whether two caches have the same bits in all rows but one."""
    return np.delete(one, position, axis=2).tobytes() == np.delete(other, position, axis=2).tobytes()


def _channels(image: Image, tensors: Mapping[str, Array]) -> list[bytes]:
    return pack(image.content(tensors), image.layout)


def _tensor(design: Design, name: str, memory: Mapping[Key, bytes]) -> Array:
    image = design.images[name]
    return unpack([memory[name, c] for c in range(image.layout.channels)], image.layout).reshape(image.shape)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
