"""What a certificate of FIFO depths promises, each part checked by runs of its own."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory_steps import is_free, next_smaller, price
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.core import run
from compiler.simulator.timing.network import Network, Outcome
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.certify import NOT_TRIED, Sizing
from compiler.sizing.trial import SLACK, Trial, one_at_a_time, trials_of

_U55C = load_platform("u55c")
BOARD = replace(_U55C, memories=_U55C.memories._replace(srl_depth=6))
"""A U55C whose shift registers are short, so that in small examples wide tokens take memory from the fourth one on."""
Simulator = Callable[[Network], Outcome]
_FREE = re.compile(r"no memory of its own up to (\d+) tokens")
_DEADLOCK = re.compile(r"at (\d+) tokens it can deadlock")
_LONGER = re.compile(r"at (\d+) tokens the kernel takes more than 0\.5 % longer")


def trial_of(tasks: TaskGraph) -> Trial:
    """Of a design of one kernel."""
    (trial,) = trials_of(tasks, BOARD)
    return trial


def with_depths(network: Network, depths: Mapping[str, int | None]) -> Network:
    """The network with the depths of some FIFOs replaced."""
    return replace(network, fifos=tuple(replace(f, depth=depths.get(f.name, f.depth)) for f in network.fifos))


def unbounded(network: Network, tasks: TaskGraph) -> Network:
    """With FIFOs of any depth, but for those behind HBM."""
    inner = [f.name for f in network.fifos if f.name in tasks.stream and not is_load(tasks.stream[f.name], tasks)]
    return with_depths(network, dict.fromkeys(inner))


def is_load(stream: Stream, tasks: TaskGraph) -> bool:
    return tasks.task[stream.source].kind == "load"


def limits(tasks: TaskGraph, simulator: Simulator = run) -> list[int]:
    """Most cycles that each kernel may take."""
    return [int(simulator(unbounded(n, tasks)).cycles * (1 + SLACK)) for n in networks_of(tasks, BOARD)]


def check(given: TaskGraph, sizing: Sizing, simulator: Simulator = run, proven: bool = True) -> None:
    """That the depths of `sizing` keep the pace of `given` and, if it is `proven`, none of them could be smaller."""
    sized = sizing.tasks
    bounds = limits(given, simulator)
    networks = networks_of(sized, BOARD)
    assert [k.proven for k in sizing.kernels] == [proven] * len(networks)
    assert replace(sized, streams=given.streams) == given
    for network, bound, kernel in zip(networks, bounds, sizing.kernels, strict=True):
        outcome = simulator(network)
        assert not can_deadlock(network, simulator)
        assert outcome.cycles == kernel.cycles
        assert outcome.cycles <= bound == int(kernel.unbounded * (1 + SLACK))
        for fifo in network.fifos:
            if fifo.name in sized.stream:
                _check_stream(sized.stream[fifo.name], network, bound, simulator)
    for stream in sized.streams:
        assert stream.depth >= MIN_DEPTH
        if is_load(stream, sized):
            assert price(stream.width, stream.depth, BOARD.memories) <= price(
                stream.width, given.stream[stream.name].depth, BOARD.memories
            )


def _check_stream(stream: Stream, network: Network, bound: int, simulator: Simulator) -> None:
    width, depth, reason = stream.width, stream.depth, stream.reason
    if is_free(width, depth, BOARD.memories):
        free = _FREE.fullmatch(reason)
        assert free, reason
        assert is_free(width, int(free[1]), BOARD.memories)
        assert not is_free(width, int(free[1]) + 1, BOARD.memories)
        return
    if reason == NOT_TRIED:
        return
    smaller = next_smaller(width, depth, BOARD.memories)
    assert smaller is not None
    assert not _holds(network, stream.name, smaller, bound, simulator), f"{stream.name} could have {smaller} tokens"
    failed = _DEADLOCK.fullmatch(reason) or _LONGER.fullmatch(reason)
    assert failed, reason
    assert int(failed[1]) == smaller, reason
    tried = with_depths(network, {stream.name: int(failed[1])})
    assert can_deadlock(tried, simulator) or (failed.re is _LONGER and simulator(tried).cycles > bound), reason


def _holds(network: Network, fifo: str, depth: int, bound: int, simulator: Simulator) -> bool:
    tried = with_depths(network, {fifo: depth})
    return not can_deadlock(tried, simulator) and simulator(tried).cycles <= bound


def can_deadlock(network: Network, simulator: Simulator = run) -> bool:
    """With what its pipelines hold, or with one iteration in each."""
    return any(simulator(each).deadlocked for each in (network, one_at_a_time(network)))
