"""Memories move between kinds only where one runs out, never the wrong way, and back where they need not have moved."""

from itertools import product

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import mlp

from compiler.analysis.memory import MemoryCost
from compiler.analysis.memory_kinds import POOLS, Memory, bind, buffer_choices, choose_kinds, memories_of
from compiler.graph.task_graph import Buffer
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def used(chosen: list[MemoryCost], pool: str) -> float:
    return sum(getattr(cost, pool) for cost in chosen)


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    """Block memories of all sizes, by the fast rule BRAM or URAM."""
    shapes = draw(
        st.lists(st.tuples(st.sampled_from([8, 32, 72, 144]), st.sampled_from([512, 4096, 9000])), max_size=7)
    )
    buffers = [Buffer(f"b{k}", width, depth, 1, "bram") for k, (width, depth) in enumerate(shapes)]
    return [buffer_choices(f"t{k}", buffer, U55C.memories) for k, buffer in enumerate(buffers)]


def test_what_need_not_have_moved_moves_back() -> None:
    """The cheap move frees too little; after the dear one it was for nothing."""
    small = Memory("s", "buffer", (MemoryCost("bram", 0, 1, 0), MemoryCost("uram", 0, 0, 1)))
    large = Memory("l", "buffer", (MemoryCost("bram", 0, 10, 0), MemoryCost("uram", 0, 0, 12)))
    chosen = choose_kinds([small, large], {"bram36": 5.0, "uram": 100.0, "lut": 0.0})
    assert [cost.kind for cost in chosen] == ["bram", "uram"]


@settings(max_examples=examples(150), deadline=None)
@given(memories(), st.floats(0, 60), st.floats(0, 30), st.sampled_from([0.0, 500.0, 1e5]))
def test_the_resource_that_runs_out_is_used_less_and_the_others_stay_within(
    found: list[Memory], bram36: float, uram: float, lut: float
) -> None:
    free = {"bram36": bram36, "uram": uram, "lut": lut}
    fast = [memory.options[0] for memory in found]
    chosen = choose_kinds(found, free)
    for pool in POOLS:
        assert used(chosen, pool) <= max(used(fast, pool), free[pool])
    if all(used(fast, pool) <= free[pool] for pool in POOLS[:2]):
        assert chosen == fast


@settings(max_examples=examples(60), deadline=None)
@given(memories(), st.integers(0, 20))
def test_block_ram_is_within_one_memory_of_the_best_exchange(found: list[Memory], uram: int) -> None:
    """URAM alone is free to take: the greedy frees block RAM as any choice can, but for the memory that did not fit."""
    free = {"bram36": 0.0, "uram": float(uram), "lut": 0.0}
    greedy = used(choose_kinds(found, free), "bram36")
    best = min(
        used(list(choice), "bram36")
        for choice in product(*(memory.options for memory in found))
        if used(list(choice), "uram") <= uram and used(list(choice), "lut") <= 0
    )
    largest = max((memory.options[0].bram36 for memory in found), default=0.0)
    assert greedy <= best + largest


def test_a_buffer_s_new_kind_reaches_the_graph() -> None:
    tasks = planned_tasks(mlp(64, 128, 256), Knobs(default_tile_size=16, overall_unroll=64), U55C)
    found = memories_of(tasks, U55C.memories)
    fast = [memory.options[0] for memory in found]
    assert bind(tasks, found, fast) is tasks
    index = next(k for k, memory in enumerate(found) if memory.options[0].kind == "bram")
    moved = next(option for option in found[index].options if option.kind == "uram")
    bound = bind(tasks, found, [*fast[:index], moved, *fast[index + 1 :]])
    kinds = [b.kind for t in bound.tasks for b in t.buffers] + [s.kind for s in bound.streams]
    before = [b.kind for t in tasks.tasks for b in t.buffers] + [s.kind for s in tasks.streams]
    assert sum(a != b for a, b in zip(before, kinds, strict=True)) == 1
    assert kinds[index] == "uram"
