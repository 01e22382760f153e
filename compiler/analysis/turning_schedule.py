"""An affine schedule of tasks that take turns, repeat what they do, or stand in a loop.

Its nodes are activities (`compiler.analysis.activities`). Round r of what is repeated starts r periods after round 0;
repetitions that pass tokens to each other in round after round have the same period, that of the slowest cycle or the
slowest task. So a part that passes from round r to round r + d is an edge between two activities whose lag is d periods
less, and few rounds tell about all. Tasks go on to their next activity when the one before has left the pipeline: an
edge that carries nothing.

Nodes run at the pace of what they read where that comes while they run (`normal`), and where they may wait as slow as
their readers and the starts let them; `conservative` lets all of them wait. What a FIFO then holds at most is counted
over all parts of its stream: tokens that are written long before they are read are held by all rounds between. All of
it is made in C++ (core/turning.h).
"""

import ctypes
from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from compiler.analysis.affine_schedule import Edge
from compiler.analysis.core import Numbers, Words, core, numbers, pointer, words, zeros
from compiler.graph.task_graph import Stream

LAUNCH = ""  # the node that starts with the kernel
_TOLD = 6


class Failure(IntEnum):
    """Why there is no schedule: as core/turning.h has it."""

    NONE = 0
    NO_PERIOD = 1
    NO_WRITER = 2
    NO_ORDER = 3


class Kernel(NamedTuple):
    """A kernel as the core reads it: all streams, and the names of all activities."""

    streams: tuple[Stream, ...]
    activities: tuple[str, ...]
    words: Words
    numbers: Numbers


class TurningSchedule:
    """As an `AffineSchedule`, but of activities; `edges` are parts of streams, several of each. `floor`: depths that
    launches with other arguments need. Where there is none, `failure` says why, and `failed` of which task and stream,
    by number.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.floor = kernel, dict[str, int]()
        told = words(zeros(_TOLD))
        self._core, given = core(), map(pointer, (kernel.words, kernel.numbers, told))
        self._turning = ctypes.c_void_p(self._core.millrace_turning(*given))
        failure, *self.failed, self._nodes, self._edges, self._phases = told
        self.failure = Failure(failure)

    def __del__(self) -> None:
        if getattr(self, "_turning", None) is not None:
            self._core.millrace_turning_end(self._turning)

    def depths(self, start: Mapping[str, float]) -> dict[str, int]:
        """Of the FIFO of each stream that passes from task to task, with which it runs by this schedule."""
        starts = numbers([start[node] for node in self.nodes])
        depths = words(zeros(len(self.kernel.streams)))
        self._core.millrace_turning_depths(self._turning, pointer(starts), pointer(depths))
        found = zip(self.kernel.streams, depths, strict=True)
        return {stream.name: max(depth, self.floor.get(stream.name, 0)) for stream, depth in found if depth}

    def earliest(self, wanted: Mapping[str, float]) -> dict[str, float]:
        """The earliest starts in cycles that keep the lags, none earlier than `wanted` (default 0). Longest paths."""
        starts = numbers([wanted.get(node, 0.0) for node in self.nodes])
        kept = self._core.millrace_turning_earliest(self._turning, pointer(starts))
        assert kept  # periods were chosen so
        return dict(zip(self.nodes, starts, strict=True))

    def swept(self) -> dict[str, float]:
        """The earliest starts, then sweeps of local moves."""
        starts = numbers(zeros(self._nodes + 1))
        self._core.millrace_turning_swept(self._turning, pointer(starts))
        return dict(zip(self.nodes, starts, strict=True))

    @cached_property
    def _tells(self) -> tuple[Words, Numbers]:
        """Nodes, edges and phases, as the core has them."""
        found = words(zeros(self._nodes + 3 * self._edges + 2 * self._phases))
        flows = numbers(zeros(3 * self._edges + self._phases))
        self._core.millrace_turning_tell(self._turning, pointer(found), pointer(flows))
        return found, flows

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The launch, and activities in the order of their first events."""
        return (LAUNCH, *[self.kernel.activities[number] for number in self._tells[0][: self._nodes]])

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Parts of streams."""
        found, flows = islice(self._tells[0], self._nodes, None), iter(self._tells[1])
        return tuple([self._edge(found, flows) for _ in range(self._edges)])

    def _edge(self, found: Iterator[int], flows: Iterator[float]) -> Edge:
        stream, ends = self.kernel.streams[next(found)], (self.nodes[next(found)], self.nodes[next(found)])
        return Edge(stream.name, *ends, next(flows), next(flows), next(flows), stream.width, stream.tokens)

    @cached_property
    def phases(self) -> tuple[Edge, ...]:
        """From each activity to the next one of its task, and from the launch to all; they carry nothing."""
        found = islice(self._tells[0], self._nodes + 3 * self._edges, None)
        lags = islice(self._tells[1], 3 * self._edges, None)
        return tuple([Edge("", self.nodes[next(found)], self.nodes[next(found)], lag, 0.0, 0.0, 0, 0) for lag in lags])
