"""Mistakes in a kernel: how deep its streams are, and what it gives to which task."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bench.mutants.control import interchangeable
from bench.mutants.edits import Place, become, exchange, offered
from bench.mutants.source import Function, Piece

_STREAM = re.compile(r"hls::stream<(?P<type>.+), (?P<depth>\d+)> (?P<name>\w+)\(\"")
_CALL = re.compile(r"^  (?P<task>\w+)\((?P<arguments>[^()]*)\);", re.MULTILINE)
_PARAMETER = re.compile(r"(?P<type>(?:const )?(?:ap_uint<\d+>\*|float|int)) (?P<name>\w+)(?=[,)])")
_OTHER_CALLS = 2  # with which an argument is exchanged


@dataclass(frozen=True, slots=True)
class Call:
    """Of a task, with its arguments."""

    task: str
    arguments: tuple[Piece, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel's file; `written` says which streams each task writes."""

    name: str
    text: str
    functions: Mapping[str, Function]
    written: Mapping[str, Sequence[str]]

    @cached_property
    def depths(self) -> dict[str, Piece]:
        """How many tokens each stream holds."""
        whole = Piece(0, self.text)
        return {match["name"]: whole.part(match, "depth") for match in _STREAM.finditer(self.text)}

    @cached_property
    def types(self) -> dict[str, str]:
        """Of streams, memories and scalars."""
        streams = {match["name"]: match["type"] for match in _STREAM.finditer(self.text)}
        return streams | {match["name"]: match["type"] for match in _PARAMETER.finditer(self.text)}

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        whole = Piece(0, self.text)
        found = ((match["task"], whole.part(match, "arguments")) for match in _CALL.finditer(self.text))
        return tuple(Call(task, _arguments(given)) for task, given in found if task in self.functions)


def _arguments(given: Piece) -> tuple[Piece, ...]:
    return tuple(given.part(match) for match in re.finditer(r"\w+", given.text))


def depth(kernel: Kernel) -> dict[str, list[Place]]:
    """Another depth of a stream, by the task that writes it."""
    return {
        task: offered(_depths(kernel.depths[stream]) for stream in streams if stream in kernel.depths)
        for task, streams in kernel.written.items()
    }


def _depths(piece: Piece) -> Place:
    tokens = int(piece.text)
    return become(piece, (str(n) for n in (tokens - 1, tokens + 1, tokens // 2, 2 * tokens) if n > 0))


def wiring(kernel: Kernel) -> dict[str, list[Place]]:
    """Two arguments of a type exchanged: of one call, or of two."""
    return {call.task: offered(_exchanges(kernel, number)) for number, call in enumerate(kernel.calls)}


def _exchanges(kernel: Kernel, number: int) -> list[Place]:
    call, types = kernel.calls[number], kernel.types
    following = [*kernel.calls[number + 1 :], *kernel.calls[:number]]
    places = list[Place]()
    for at, argument in enumerate(call.arguments):
        inside = [exchange(argument, other) for other in _others_of(kernel, call, at)]
        across = [
            exchange(argument, other, (task.task,))
            for task in following
            for other in task.arguments
            if types[other.text] == types[argument.text] and other.text != argument.text
        ]
        places.append((*inside, *across[:_OTHER_CALLS]))
    return places


def _others_of(kernel: Kernel, call: Call, at: int) -> list[Piece]:
    """Later arguments of the call that are of the same type and mean something else."""
    function, types = kernel.functions[call.task], kernel.types
    names = list(function.parameters)
    return [
        other
        for place, other in enumerate(call.arguments)
        if place > at
        and types[other.text] == types[call.arguments[at].text]
        and not interchangeable(function, names[at], names[place])
    ]
