"""Converters against a replay of both streams, element by element: what they need at least, and what they do."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from random import Random

import pytest

from compiler.analysis.tasks import converter_task
from compiler.graph.box import verify_realisation, write_to_read
from compiler.graph.converter import Converter, box_of, plan_converter
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.program import Access
from compiler.graph.task_graph import Task
from compiler.options import ConverterRule
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")

Point = tuple[int, ...]

EXTENTS = (1, 2, 3, 4, 6, 8, 12)
LARGEST_TILE = 96


def random_walk(rng: Random, shape: Point, again: int) -> ITensor:
    """A stream of a tensor of `shape`: extents split into element and loops, shuffled, with up to `again` re-reads."""
    element: list[int] = []
    loops = [Loop(rng.randint(2, 3), 1, None) for _ in range(rng.randint(0, again))]
    for dim, extent in enumerate(shape):
        step = rng.choice([d for d in range(1, extent + 1) if extent % d == 0])
        element.append(step)
        while step < extent:
            trip = rng.choice([d for d in range(2, extent // step + 1) if extent // step % d == 0])
            loops.append(Loop(trip, step, dim))
            step *= trip
    rng.shuffle(loops)
    if rng.random() < 0.4:  # as tiled nests walk: the coarser loop of a dimension outside
        loops.sort(key=lambda loop: -loop.step)
    return ITensor(tuple(element), "f32", tuple(loops))


def random_pair(rng: Random) -> tuple[ITensor, ITensor]:
    """Two streams of one tensor, often with the same outer loops; only the target re-reads."""
    tile = tuple(rng.choice(EXTENTS) for _ in range(rng.randint(1, 3)))
    while prod(tile) > LARGEST_TILE:
        tile = tile[1:]
    outer: list[Loop] = []
    reached = list(tile)
    for _ in range(rng.choice((0, 1, 1, 2))):
        dim, trip = rng.randrange(len(tile)), rng.randint(2, 3)
        outer.insert(0, Loop(trip, reached[dim], dim))
        reached[dim] *= trip
    source, target = random_walk(rng, tile, 0), random_walk(rng, tile, 2)
    return (
        ITensor(source.element, "f32", (*outer, *source.loops)),
        ITensor(target.element, "f32", (*outer, *target.loops)),
    )


def pairs(count: int, seed: int) -> Iterator[tuple[ITensor, ITensor]]:
    rng = Random(seed)
    for _ in range(count):
        source, target = random_pair(rng)
        if not source.same_stream(target):
            yield source, target


@lru_cache(maxsize=2)  # of a pair
def elements(itensor: ITensor) -> list[list[Point]]:
    """The elements of each token, in row-major order."""
    spans = [range(extent) for extent in itensor.element]
    within = list(product(*spans))
    return [
        [tuple(o + i for o, i in zip(offset, place, strict=True)) for place in within] for offset in itensor.offsets()
    ]


def most_alive(source: ITensor, target: ITensor) -> int:
    """The definition of the exact requirement, as it reads."""
    pushed, pulled = elements(source), elements(target)
    position = {point: i for i, token in enumerate(pushed) for point in token}
    last_use = {point: j for j, token in enumerate(pulled) for point in token}
    held: set[Point] = set()
    read = most = 0
    for j, token in enumerate(pulled):
        while read <= max(position[point] for point in token):
            held.update(pushed[read])
            read += 1
        most = max(most, len(held))
        held -= {point for point in token if last_use[point] == j}
    assert not held
    return most


@dataclass
class Replay:
    """What happens when a converter's task runs: its reads and writes iteration by iteration, on a memory of cells."""

    converter: Converter
    shortest: int = 1 << 60

    def address(self, point: Point, passed: int, per_round: int) -> Point:
        chosen, extent = self.converter.realisation, self.converter.extent
        cell = [p % e for p, e in zip(point, extent, strict=True)]
        cell[chosen.dim] = (cell[chosen.dim] + passed // per_round * extent[chosen.dim]) % chosen.length
        return tuple(cell)

    def run(self, task: Task) -> None:
        memory: dict[Point, tuple[Point, int]] = {}
        pushed, pulled = elements(self.converter.source), elements(self.converter.target)
        filled = drained = 0
        for now, index in enumerate(product(*(range(trip) for trip in task.timing.trips))):
            if _admits(task.writes[0], index):
                for point in pulled[drained]:
                    found, written = memory[self.address(point, drained, self.converter.drain)]
                    assert found == point
                    self.shortest = min(self.shortest, now - written)
                drained += 1
            if _admits(task.reads[0], index):
                for point in pushed[filled]:
                    cell = self.address(point, filled, self.converter.fill)
                    assert all(0 <= c < e for c, e in zip(cell, self.converter.memory, strict=True))
                    memory[cell] = point, now
                filled += 1
        assert (filled, drained) == (len(pushed), len(pulled))


def _admits(access: Access, index: Point) -> bool:
    return all(gate.low <= index[gate.loop] < gate.high for gate in access.gates)


def check(source: ITensor, target: ITensor, rule: ConverterRule) -> Converter:
    converter = plan_converter(source, target, rule)
    box, chosen = box_of(source, target), converter.realisation
    verify_realisation(box, chosen)
    task = converter_task("c", 0, converter, "in", "out", U55C)
    assert task.timing.tokens(task.reads[0]) == source.tokens
    assert task.timing.tokens(task.writes[0]) == target.tokens
    replay = Replay(converter)
    replay.run(task)
    assert replay.shortest == write_to_read(box, chosen) >= 1
    assert converter.exact_bits <= converter.bits <= converter.paper_bits
    assert (rule == "exact") or converter.bits == converter.paper_bits
    return converter


def check_pairs(count: int, seed: int) -> set[str]:
    kinds: set[str] = set()
    for source, target in pairs(count, seed):
        exact = check(source, target, "exact")
        paper = check(source, target, "paper")
        assert exact.exact_bits == most_alive(source, target) * DTYPE_BITS["f32"], (str(source), str(target))
        rows = exact.shared + exact.realisation.delay, paper.shared + paper.realisation.delay
        assert rows[0] * exact.realisation.period <= rows[1] * paper.realisation.period * (1 + 1 / 64)
        kinds.add(exact.realisation.kind)
    return kinds


def test_converters_do_what_a_replay_of_both_streams_does() -> None:
    assert check_pairs(400, seed=0) == {"single", "refill", "circular", "ping-pong"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_ten_thousand_converters(seed: int) -> None:
    check_pairs(1000, seed)
