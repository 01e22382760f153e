"""Which parameters stay on the chip."""

from dataclasses import replace

from layered_networks import folded_layers
from small_graphs import chain, mlp
from stepping_networks import stepping

from compiler.analysis.estimate import estimate
from compiler.analysis.memory import buffer_memory
from compiler.analysis.memory_kinds import buffer_choices
from compiler.analysis.resident import MOST_BYTES, SHARE
from compiler.analysis.resources import task_resources
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import Buffer, LoadTask, RomTask, TaskGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.platform import Platform, load_platform

U55C = load_platform("u55c")
KEPT = Knobs(weights="resident")


def values(graph: LinalgGraph, platform: Platform = U55C, knobs: Knobs = KEPT) -> tuple[set[str], set[str]]:
    """Those that stay, and those that are loaded."""
    tasks = planned_tasks(graph, knobs, platform)
    tasks.verify()
    return set(roms(tasks)), {t.dma.value for t in tasks.tasks if isinstance(t, LoadTask)}


def roms(tasks: TaskGraph) -> dict[str, RomTask]:
    return {task.value: task for task in tasks.tasks if isinstance(task, RomTask)}


def test_parameters_stay_and_inputs_come() -> None:
    assert values(mlp()) == ({"up.weight", "down.weight"}, {"x"})
    assert values(mlp(), knobs=Knobs()) == (set(), {"up.weight", "down.weight", "x"})


def test_a_tensor_of_more_than_64_kib_is_no_constant() -> None:
    """Of 4 bytes, 128 x 128 are as many as may be one, 128 x 144 are more."""
    assert MOST_BYTES == 4 * 128 * 128
    assert values(chain(128, 128, 144)) == ({"w1", "w2"}, {"v0", "memories"})
    held = roms(planned_tasks(chain(128, 128, 144), KEPT, U55C))
    assert [held[name].filled is not None for name in ("w1", "w2")] == [False, True]


def test_metrics_are_of_launches_that_find_memories_filled_but_for_those_of_the_first() -> None:
    """That a launch may fill memories gives it no positions."""
    graph = chain(128, 128, 144)
    kept, streamed = (
        {m.name: m.value for m in estimate(planned_tasks(graph, knobs, U55C), U55C, graph).metrics}
        for knobs in (KEPT, Knobs(default_tile_size=KEPT.default_tile_size))
    )
    assert set(kept) - set(streamed) == {"first_latency", "first_traffic"}
    assert kept["first_traffic"] == kept["hbm_traffic"] + 4 * 128 * 144
    assert kept["first_latency"] > kept["latency"]


def test_the_smallest_stay_where_there_is_no_room_for_all() -> None:
    """What is no constant for that lies in a memory, where there is room."""
    graph = chain(64, 64, 32, 16)
    tasks = planned_tasks(graph, KEPT, U55C)
    assert all(task_resources(task, tasks, U55C).hbm_ports == 0 for task in roms(tasks).values())
    cost = {value: buffer_memory(task.buffers[0], U55C.memories) for value, task in roms(tasks).items()}
    blocks = {value: c.bram36 + c.lut / U55C.memories.luts_per_bram36 for value, c in cost.items()}
    assert set(blocks) == {"w1", "w2", "w3"}
    first, second, last = sorted(blocks, key=lambda value: (blocks[value], value))
    room = blocks[first] + blocks[second] + blocks[last] / 2
    small = replace(U55C, budget=replace(U55C.budget, bram36=room / SHARE / U55C.dies.fill))
    assert values(graph, small) == ({first, second, last}, {"v0", "memories"})
    none = replace(small, budget=replace(small.budget, uram=0))
    assert values(graph, none) == ({first, second}, {"v0", last})


def test_what_the_host_gives_with_a_reply_is_loaded() -> None:
    assert values(stepping(1)) == (set(), {"x", "seen", "h0.k_past", "h0.scale"})


def test_a_layer_has_its_own_behind_that_of_the_layer_before() -> None:
    tasks = planned_tasks(folded_layers(3), KEPT, U55C)
    assert roms(tasks)
    for task in roms(tasks).values():
        assert task.streamed.loops[0].trip == 3
        assert task.buffers[0].depth == task.streamed.without_rereads().tokens


def test_what_is_too_large_is_read_again_on_the_chip() -> None:
    """Four rows, one at a time, want all of 128 x 144 numbers each."""
    graph, knobs = chain(128, 128, 144), replace(KEPT, default_tile_size=1, order="reduction-inner")
    before, after = (planned_tasks(graph, k, U55C) for k in (replace(knobs, weights="streamed"), knobs))
    after.verify()
    (kept,) = (rom for rom in roms(after).values() if rom.filled is not None)
    (load,) = (task for task in before.tasks if task.name == "load_w2")
    assert kept.value == "w2"
    assert isinstance(load, LoadTask)
    assert load.words == 4 * kept.filled.words  # pyright: ignore[reportOptionalMemberAccess]
    (buffer,) = kept.buffers
    assert (buffer.width, buffer.depth, buffer.banks) == (kept.streamed.width, kept.streamed.tokens // 4, 1)
    small = replace(U55C, budget=replace(U55C.budget, bram36=10, uram=0))
    assert not any(rom.filled for rom in roms(planned_tasks(graph, knobs, small)).values())


def test_as_many_memories_are_filled_as_there_is_room_for() -> None:
    graph = chain(256, 256, 256)
    assert {rom.value for rom in roms(planned_tasks(graph, KEPT, U55C)).values() if rom.filled} == {"w1", "w2"}
    room = 1.5 * 4 * 256 * 256 / SHARE / U55C.dies.fill / U55C.memories.bram36_bytes
    small = replace(U55C, budget=replace(U55C.budget, bram36=room, uram=0))
    held, loaded = values(graph, small)
    assert len(held) == 1
    assert loaded == {"v0", "memories", "w1", "w2"} - held


def test_constants_never_lie_in_uram() -> None:
    """It is the better block memory for this shape, and begins with zeros."""
    buffer = Buffer("b", 72, 4096, 1, "bram")
    for constant, kinds in ((False, {"bram", "uram"}), (True, {"bram"})):
        found = buffer_choices("t", buffer, U55C.memories, constant=constant)
        assert {cost.kind for cost in found.options} == kinds
    (rom,) = roms(planned_tasks(chain(4096, 1), replace(KEPT, overall_unroll=2), U55C)).values()
    assert rom.buffers[0].kind == "bram"
    for task in roms(planned_tasks(chain(4096, 4, 256), replace(KEPT, overall_unroll=2), U55C)).values():
        assert task.filled is not None or task.buffers[0].kind != "uram"


def test_an_override_says_where_the_weights_of_one_operation_are() -> None:
    graph, only = chain(128, 128, 144), TaskOverride("m2", weights="resident")
    assert values(graph, knobs=Knobs(overrides=(only,))) == ({"w2"}, {"v0", "w1", "memories"})
    but = replace(KEPT, overrides=(TaskOverride("m2", weights="streamed"),))
    assert values(graph, knobs=but) == ({"w1"}, {"v0", "w2"})


def test_what_an_override_wants_there_has_room_first() -> None:
    graph = chain(256, 256, 256)
    room = 1.5 * 4 * 256 * 256 / SHARE / U55C.dies.fill / U55C.memories.bram36_bytes
    small = replace(U55C, budget=replace(U55C.budget, bram36=room, uram=0))
    for name, weights in (("m1", "w1"), ("m2", "w2")):
        knobs = replace(KEPT, overrides=(TaskOverride(name, weights="resident"),))
        assert values(graph, small, knobs)[0] == {weights}


def test_it_says_nothing_of_how_the_operation_walks() -> None:
    graph = chain(128, 128, 144)
    plain, said = (planned(graph, k, U55C) for k in (KEPT, KEPT.with_override(TaskOverride("m1", weights="resident"))))
    assert plain == said
