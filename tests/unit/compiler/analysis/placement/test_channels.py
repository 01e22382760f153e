"""HBM channels: what moves at the same time lies apart."""

from dataclasses import replace

from small_graphs import mlp
from tasks_by_hand import load as load_by_hand

from compiler.analysis.placement.channels import assign_channels
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, LoopNest, Repeat
from compiler.graph.task_graph import Dma, LoadTask, StoreTask, TimingSpec
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
SPLIT = Knobs(default_tile_size=8, overall_unroll=64, fusion_budget=0, hbm_channels=4, stream_width=2048)


def test_every_port_of_a_kernel_has_a_channel_of_its_own_while_there_are_any() -> None:
    tasks = planned_tasks(mlp(), SPLIT, U55C)
    channels = assign_channels(tasks.transfers, U55C)
    for kernel in range(tasks.kernels):
        used = [c for t in tasks.tasks if t.kernel == kernel for c in channels.get(t.name, ())]
        assert len(set(used)) == len(used)


def test_a_value_that_passes_between_kernels_is_one_image() -> None:
    tasks = planned_tasks(mlp(), SPLIT, U55C)
    channels = assign_channels(tasks.transfers, U55C)
    stores = {t.dma.value: channels[t.name] for t in tasks.transfers if isinstance(t, StoreTask)}
    loads = [(t.dma.value, channels[t.name]) for t in tasks.transfers if isinstance(t, LoadTask)]
    passing = [(value, used) for value, used in loads if value in stores]
    assert passing
    assert all(stores[value] == used for value, used in passing)


def test_kernels_that_run_one_after_the_other_balance_on_their_own() -> None:
    """With two channels, the two heaviest ports of each kernel share none."""
    tasks = planned_tasks(mlp(), SPLIT, U55C)
    two = replace(U55C, hbm=replace(U55C.hbm, channels=2))
    channels = assign_channels(tasks.transfers, two)
    for kernel in range(tasks.kernels):
        words = [
            (-(-t.timing.iterations // t.dma.tokens_per_word), c)
            for t in tasks.transfers
            if t.kernel == kernel
            for c in channels[t.name]
        ]
        load = [sum(w for w, c in words if c == channel) for channel in (0, 1)]
        assert max(load) <= sum(load) / 2 + max(w for w, _ in words)


def load(name: str, image: int, moved: int) -> LoadTask:
    """A load of an image of `image` words, of which it moves `moved`, re-reads included."""
    dma = Dma(name, ITensor((16,), "f32", (Loop(image, 16, 0),)), 1, 1, 1, 512)
    return load_by_hand(name, TimingSpec((moved,), 1, 1), f"{name}_out", dma)


def test_space_counts_before_balance() -> None:
    tasks = [load("a", 60, 100), load("b", 60, 50), load("c", 30, 40), load("d", 40, 5)]
    two = replace(U55C, hbm=replace(U55C.hbm, channels=2, channel_bytes=100 * 64))
    assert assign_channels(tasks, two) == {"a": (0,), "b": (1,), "c": (1,), "d": (0,)}, (
        "channel 1 moves less, but is full"
    )


def test_images_go_where_there_is_space() -> None:
    tasks = planned_tasks(mlp(), Knobs(default_tile_size=8, overall_unroll=16), U55C)
    sizes = {t.name: t.dma.words * 64 for t in tasks.transfers}
    tight = replace(U55C, hbm=replace(U55C.hbm, channels=len(sizes), channel_bytes=max(sizes.values())))
    held: dict[int, int] = {}
    for name, (channel,) in assign_channels(tasks.transfers, tight).items():
        held[channel] = held.get(channel, 0) + sizes[name]
    assert max(held.values()) <= tight.hbm.channel_bytes


def test_what_takes_turns_moves_the_words_of_all_of_them() -> None:
    """With two channels, the one that moves most in all has one to itself."""
    two = replace(U55C, hbm=replace(U55C.hbm, channels=2))
    layout = ITensor((16,), "f32", (Loop(8, 16, 0),))
    dma = Dma("v", layout, 1, 1, 1, U55C.hbm.port_bits)
    row = LoopNest((4,), (), (Access("s"),))
    turning = load_by_hand("turning", TimingSpec((), 1, 66), "s", dma)
    loads = [replace(turning, turns=(Repeat(8, (row, row)),))]
    loads += [load_by_hand(name, TimingSpec((8,), 1, 66), "s", dma) for name in ("a", "b")]
    channels = assign_channels(loads, two)
    assert channels["a"] == channels["b"] != channels["turning"]
