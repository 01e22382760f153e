"""Memory kind of every buffer and FIFO where a pool runs out: what the fast rule chose, moved as little as possible.

While block RAM or URAM (of the board, or of one die) is over its bound, memories move to the kind that costs the least
of the other resources for what it frees. For two kinds that is the greedy of the fractional knapsack: it is at most one
memory away from the optimum. What moved without need moves back. The resource that ran out is never used more than by
the fast rule; where nothing runs out, nothing moves, so that search and compiled design agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.analysis.memory import MemoryCost, block_kinds, buffer_memory, buffer_of, fifo_of, stream_memory
from compiler.analysis.resources import Resources
from compiler.graph.task_graph import Buffer, MemoryKind, RomTask, Stream, Task, TaskGraph
from compiler.platforms.memories import Memories
from compiler.platforms.platform import Platform

POOLS = ("bram36", "uram", "lut")

Pool = Mapping[str, float]


@dataclass(frozen=True)
class Memory:
    """A buffer (of a task) or a FIFO, by name, and what it may be made of: first what the fast rule chose."""

    task: str
    name: str
    options: tuple[MemoryCost, ...]


def _others(chosen: MemoryCost, depth: int, memories: Memories) -> tuple[MemoryKind, ...]:
    """What else a memory may be made of."""
    blocks = block_kinds(memories)
    kinds: tuple[MemoryKind, ...] = ("lutram", *blocks) if depth <= memories.lutram_limit else blocks
    return tuple(kind for kind in kinds if kind != chosen.kind) if chosen.kind in blocks else ()


def buffer_choices(task: str, buffer: Buffer, memories: Memories, *, constant: bool = False) -> Memory:
    """What the buffer may be made of. What is `constant` has initial content, which URAM has not."""
    chosen, shape = buffer_memory(buffer, memories), (buffer.width, buffer.depth, buffer.banks)
    kinds = (kind for kind in _others(chosen, buffer.depth, memories) if kind != "uram" or not constant)
    return Memory(task, buffer.name, (chosen, *(buffer_of(kind, *shape, memories) for kind in kinds)))


def fifo_choices(stream: Stream, memories: Memories) -> Memory:
    """What the FIFO may be made of; it counts to the task that reads it."""
    chosen, shape = stream_memory(stream, memories), (stream.width, stream.depth)
    others = (fifo_of(kind, *shape, memories) for kind in _others(chosen, stream.depth, memories))
    return Memory(stream.target, stream.name, (chosen, *others))


def memories_of(tasks: TaskGraph, memories: Memories) -> list[Memory]:
    """All buffers and FIFOs. Names do not clash: a buffer's memory goes by its task."""
    buffers = [
        buffer_choices(task.name, buffer, memories, constant=isinstance(task, RomTask) and task.filled is None)
        for task in tasks.tasks
        for buffer in task.buffers
    ]
    return [*buffers, *(fifo_choices(stream, memories) for stream in tasks.streams)]


def _amounts(cost: MemoryCost) -> dict[str, float]:
    return {"bram36": cost.bram36, "uram": float(cost.uram), "lut": float(cost.lut)}


@dataclass(frozen=True, slots=True)
class _Move:
    """Memory number `index` becomes `to`; `price` is what it takes of other pools for each share of `pool` it frees."""

    price: float
    index: int
    to: MemoryCost


def choose_kinds(memories: Sequence[Memory], free: Pool) -> list[MemoryCost]:
    """One option for each memory so that the amounts fit `free` (what is left of each of `POOLS` for memories) where
    moves of single memories get there; starts from each memory's first option. O(memories log memories).
    """
    chosen = [memory.options[0] for memory in memories]
    used = {pool: sum(_amounts(cost)[pool] for cost in chosen) for pool in POOLS}
    for pool in POOLS[:2]:
        if used[pool] > free[pool]:
            _relieve(pool, memories, chosen, used, free)
    return chosen


def _relieve(
    pool: str, memories: Sequence[Memory], chosen: list[MemoryCost], used: dict[str, float], free: Pool
) -> None:
    """Move memories out of `pool` until it fits, cheapest first; then back what need not have moved, dearest first."""
    moved: list[_Move] = []
    for move in sorted(_moves(pool, memories, chosen, free), key=lambda m: (m.price, m.index)):
        if used[pool] <= free[pool]:
            break
        if chosen[move.index] is memories[move.index].options[0] and _apply(move, chosen, used, free):
            moved.append(move)
    for move in reversed(moved):
        _apply(replace(move, to=memories[move.index].options[0]), chosen, used, free)


def _moves(pool: str, memories: Sequence[Memory], chosen: Sequence[MemoryCost], free: Pool) -> list[_Move]:
    moves: list[_Move] = []
    for index, memory in enumerate(memories):
        now = _amounts(chosen[index])
        for option in memory.options:
            then = _amounts(option)
            freed = (now[pool] - then[pool]) / max(1.0, free[pool])
            taken = sum(max(0.0, then[p] - now[p]) / max(1.0, free[p]) for p in POOLS if p != pool)
            if freed > 0:
                moves.append(_Move(taken / freed, index, option))
    return moves


def _apply(move: _Move, chosen: list[MemoryCost], used: dict[str, float], free: Pool) -> bool:
    """Make the move unless it takes a pool that it enters above what is free."""
    before, after = _amounts(chosen[move.index]), _amounts(move.to)
    result = {p: used[p] - before[p] + after[p] for p in POOLS}
    if any(after[p] > before[p] and result[p] > free[p] for p in POOLS):
        return False
    used |= result
    chosen[move.index] = move.to
    return True


def bind(tasks: TaskGraph, memories: Sequence[Memory], chosen: Sequence[MemoryCost]) -> TaskGraph:
    """The design with these kinds: `Buffer.kind`, and `Stream.kind` of the FIFOs that are moved."""
    moved = {
        (memory.task, memory.name): cost.kind
        for memory, cost in zip(memories, chosen, strict=True)
        if cost is not memory.options[0]
    }
    if not moved:
        return tasks

    def bound(task: Task) -> Task:
        buffers = tuple(replace(b, kind=moved.get((task.name, b.name), b.kind)) for b in task.buffers)
        return replace(task, buffers=buffers) if buffers != task.buffers else task

    streams = tuple(s._replace(kind=moved.get((s.target, s.name), s.kind)) for s in tasks.streams)
    return replace(tasks, tasks=tuple(map(bound, tasks.tasks)), streams=streams)


def fit_memories(tasks: TaskGraph, memories: Sequence[Memory], free: Pool) -> TaskGraph:
    """`tasks` with these of its memories chosen so that they fit `free`."""
    return bind(tasks, memories, choose_kinds(memories, free))


def free_for(memories: Sequence[Memory], area: Resources, bound: Pool) -> dict[str, float]:
    """What of `bound` is left for these memories, which are part of `area`, by the kinds that they have now."""
    held = [_amounts(memory.options[0]) for memory in memories]
    return {p: bound[p] - (getattr(area, p) - sum(amounts[p] for amounts in held)) for p in POOLS}


def fit_board(tasks: TaskGraph, area: Resources, platform: Platform) -> TaskGraph:
    """`tasks`, of this area, with memories moved between kinds where block RAM or URAM of the board runs out."""
    bound = {pool: platform.limit(pool) for pool in POOLS}
    if area.bram36 <= bound["bram36"] and area.uram <= bound["uram"]:
        return tasks
    memories = memories_of(tasks, platform.memories)
    return fit_memories(tasks, memories, free_for(memories, area, bound))


def bind_fifos(tasks: TaskGraph, memories: Memories) -> TaskGraph:
    """`tasks` with the kind of every FIFO written down."""
    return replace(tasks, streams=tuple(s._replace(kind=stream_memory(s, memories).kind) for s in tasks.streams))
