"""Small parameters that come through one port: which can, in what order they lie, that designs run."""

import re
from dataclasses import replace
from itertools import product

import pytest
from layered_networks import folded_biased
from plans import U55C

from compiler.analysis.ports import kernel_ports
from compiler.analysis.shared_loads import hindrance_to_share, shared_loads
from compiler.errors import VerificationError
from compiler.graph.task_graph import LoadTask, TaskGraph
from compiler.ir.read import parse_design
from compiler.ir.write import design_text
from compiler.options import FifoStrategy, Knobs
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.platform import Platform
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import certify

KNOBS = Knobs(default_tile_size=8, overall_unroll=64, engines="shared", loads="joint")
SHARED = "load_h0_bias_and_others"


def with_ports(ports: int) -> Platform:
    return replace(U55C, hbm=replace(U55C.hbm, kernel_ports=ports))


def built(ports: int, knobs: Knobs = KNOBS, layers: int = 3) -> TaskGraph:
    tasks = planned_tasks(folded_biased(layers), knobs, with_ports(ports))
    tasks.verify()
    return tasks


def test_what_is_small_shares_a_port_in_the_order_of_use_where_ports_are_short() -> None:
    enough, short = built(31), built(3)
    load = short.task[SHARED]
    assert isinstance(load, LoadTask)
    assert SHARED not in enough.task
    assert load.dma.joint is not None
    assert load.dma.values == ("h0.bias", "h0.gain", "shift")
    assert (load.dma.joint.rounds, len(load.dma.joint.parts), len(load.dma.joint.behind)) == (3, 2, 1)
    alone = [task for task in enough.transfers if task.dma.value in load.dma.values]
    assert sum(kernel_ports(enough)) - sum(kernel_ports(short)) == len(alone) - 1 == 2
    assert load.dma.words == sum(task.dma.words for task in alone)
    assert [access.stream for access in load.writes] == ["h0_wide_in1", "h0_out_in1", "shifted_in1"]


def test_no_more_share_than_ports_are_missing_and_none_without_joint_loads() -> None:
    ports = sum(kernel_ports(built(31)))
    for missing, sharing in ((0, []), (1, [2]), (2, [3])):
        design = planned(folded_biased(), KNOBS, with_ports(ports - missing))
        assert [len(names) for names in shared_loads(design).values()] == sharing
        assert sum(kernel_ports(built(ports - missing))) == ports - missing
    assert not shared_loads(planned(folded_biased(), replace(KNOBS, loads="own"), with_ports(3)))


def test_weights_inputs_and_what_comes_before_the_layers_do_not_share() -> None:
    design = planned(folded_biased(), KNOBS, with_ports(3))
    assert hindrance_to_share(design, "load_h0_bias") is None
    for name in ("load_x", "load_h0_up_weight", "load_scores_weight"):
        assert hindrance_to_share(design, name) is not None


def test_the_text_says_what_shares() -> None:
    design = planned(folded_biased(), KNOBS, with_ports(3))
    text = design_text(design, "")
    assert f"through @{SHARED}" in text
    assert parse_design(text, design.platform) == design


STRATEGIES: tuple[FifoStrategy, ...] = ("conservative", "normal", "whole")


@pytest.mark.parametrize("layers", [2, 3, 7])
def test_no_design_stops_and_none_is_much_slower(layers: int) -> None:
    for fifo, slices, prefetch in product(STRATEGIES, (1, 2), (0, 64)):
        knobs = replace(KNOBS, fifo=fifo, slices=slices, prefetch_kib=prefetch)
        own, short = (simulate(built(ports, knobs, layers), U55C, buckets=0) for ports in (31, 3))
        assert short.deadlock is None, knobs
        assert short.cycles < 1.1 * own.cycles, knobs


def test_fifos_behind_them_are_certified() -> None:
    sizing = certify(built(3), U55C)
    assert simulate(sizing.tasks, U55C, buckets=0).deadlock is None


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('@load_h0_up_weight "h0.up.weight" packing<channels: 1', "", "is no small whole parameter"),
        ('@load_h0_gain "h0.gain" packing<channels: 1', "channels: 2", "packed alike"),
        ('@load_h0_gain "h0.gain" packing<channels: 1, tokens_per_word: 2', "tokens_per_word: 1", "packed alike"),
    ],
    ids=["a weight", "through two ports", "in words of another number of tokens"],
)
def test_loads_that_can_not_share_are_refused(old: str, new: str, why: str) -> None:
    design = planned(folded_biased(), KNOBS, with_ports(3))
    text = design_text(design, "")
    assert old in text
    where = text.index(old)
    end = text.index(">", where)
    packing = text[where : end + 1]
    name, _, kept = new.partition(": ")
    edited = f"{packing} through @{SHARED}" if not new else re.sub(rf"{name}: \d+", f"{name}: {kept}", packing)
    with pytest.raises(VerificationError, match=why):
        parse_design(text.replace(packing, edited), design.platform)
