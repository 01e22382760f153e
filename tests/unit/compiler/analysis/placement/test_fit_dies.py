"""The quick test of dies and wires: what it finds, what it refuses, and that it counts what the placer counts."""

import random
from dataclasses import replace

import pytest
from small_dies import small_dies
from small_graphs import attention_front, mlp

from compiler.analysis.design_area import DesignArea
from compiler.analysis.estimate import Estimate, estimate
from compiler.analysis.placement import fit_dies as fitting
from compiler.analysis.placement.fit_dies import fit_dies, nearest
from compiler.analysis.placement.netlist import RESOURCES, Netlist
from compiler.analysis.placement.place import place
from compiler.analysis.resources import total
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform

U55C = load_platform("u55c")
KNOBS = Knobs(default_tile_size=16, overall_unroll=64)


def tasks_on(platform: Platform) -> TaskGraph:
    return planned_tasks(mlp(16, 32, 64), KNOBS, platform)


def amounts(found: Estimate) -> dict[str, float]:
    return {m.name: m.value for m in found.metrics}


@pytest.mark.parametrize("budget", [0, 16 << 20])
def test_tasks_fifos_and_the_control_of_every_kernel_are_placed(budget: int) -> None:
    """All kernels of an xclbin: their areas together are those of the estimate."""
    tasks = planned_tasks(attention_front(), replace(KNOBS, fusion_budget=budget), U55C)
    assert tasks.kernels > 1 or budget
    placed = total(DesignArea.of(tasks, U55C).with_fifos().values())
    estimated = amounts(estimate(tasks, U55C))
    assert {r: getattr(placed, r) for r in RESOURCES} == pytest.approx({r: estimated[r] for r in RESOURCES})


def test_a_small_design_fits_the_die_with_the_hbm() -> None:
    found = estimate(tasks_on(U55C), U55C)
    shares = [amounts(found)[r] / getattr(U55C.dies.slrs[0], r) for r in RESOURCES]
    assert (found.placed, found.fullest_die) == (True, pytest.approx(max(shares)))


def test_one_that_needs_several_dies_is_placed_within_every_limit() -> None:
    """So small that one die does not hold it: the exact placer spreads it too, and neither exceeds `fill`."""
    platform = small_dies(0.1)
    tasks = tasks_on(platform)
    found, placement = estimate(tasks, platform), place(tasks, platform)
    assert len(set(placement.slr.values())) > 1
    assert found.placed
    assert found.feasible
    assert not placement.shortfalls
    assert found.fullest_die <= platform.dies.fill
    for slr in platform.dies.slrs:
        assert all(placement.use[slr.name][r] <= platform.dies.fill * getattr(slr, r) for r in RESOURCES)
    assert all(b.wires <= platform.dies.fill * b.available for b in placement.boundaries)


def test_more_than_all_dies_may_hold_is_refused_by_what_a_die_then_holds() -> None:
    platform = small_dies(0.02)
    area = DesignArea.of(tasks_on(platform), platform)
    found = {v.resource: v for v in fit_dies(area, platform).violations}
    have = platform.dies.fill * sum(s.lut for s in platform.dies.slrs)
    assert found["slr_lut"].excess == pytest.approx(area.whole.lut / have - 1)
    assert "sll" not in found


def test_a_task_that_no_die_holds_is_refused_though_all_of_them_could() -> None:
    lut = max(area.lut for area in DesignArea.of(tasks_on(U55C), U55C).with_fifos().values())
    slrs = tuple(replace(s, lut=int(0.99 * lut / U55C.dies.fill)) for s in U55C.dies.slrs)
    many = replace(U55C.dies, slrs=(*slrs, *(replace(s, hbm=False) for s in slrs * 3)), sll=(17690,) * 11)
    platform = replace(U55C, dies=many)
    found = estimate(tasks_on(platform), platform)
    assert "slr_lut" in {v.resource for v in found.violations}


def test_too_few_wires_are_refused() -> None:
    assert estimate(tasks_on(small_dies(0.1)), small_dies(0.1)).feasible
    assert not estimate(tasks_on(small_dies(0.1, sll=20)), small_dies(0.1, sll=20)).feasible


def test_a_board_that_may_be_filled_takes_more() -> None:
    platform = small_dies(0.06)
    tasks = tasks_on(platform)
    whole = replace(platform, dies=replace(platform.dies, fill=1.0))
    assert not estimate(tasks, platform).feasible
    assert estimate(tasks, whole).feasible


def chains(seed: int) -> Netlist:
    """Six chains of five nodes with wide wires along each and narrow ones between some of them."""
    rng, lut, wires = random.Random(seed), U55C.dies.slrs[0].lut * U55C.dies.fill, dict[tuple[int, int], int]()
    areas = tuple((rng.uniform(0.02, 0.13) * lut, 0.0, 0.0, 0.0, 0.0) for _ in range(30))
    wires |= {(node, node + 1): rng.choice((2048, 8192, 9000)) for node in range(30) if node % 5 < 4}
    for one, other in (sorted(rng.sample(range(30), 2)) for _ in range(12)):
        if one // 5 != other // 5:
            wires[one, other] = rng.choice((1024, 2048, 3072))
    return Netlist(tuple((f"t{n}",) for n in range(30)), areas, tuple(rng.choice((0, 0, 0, 512)) for _ in areas), wires)


def test_where_no_single_cluster_leads_to_a_placement_groups_may(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [chains(seed) for seed in range(100)]
    found = [nearest(netlist, U55C).excess for netlist in drawn]
    monkeypatch.setattr(fitting, "FAR", 0.0)
    alone = [nearest(netlist, U55C).excess for netlist in drawn]
    assert all(both <= single for both, single in zip(found, alone, strict=True))
    assert sum(both == 0 < single for both, single in zip(found, alone, strict=True)) >= 2


def test_where_no_cut_leads_to_a_placement_large_tasks_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of large tasks fill the dies, as slices of an engine do."""
    whole = [slr.dsp * U55C.dies.fill for slr in U55C.dies.slrs]
    shares = (0.48, 0.48, 0.48, 0.48, 0.24, 0.16, 0.11, 0.06)
    area = tuple((0.0, 0.0, share * min(whole), 0.0, 0.0) for share in shares)
    netlist = Netlist(tuple((f"{n}",) for n in range(len(shares))), area, (0,) * len(shares), {})
    monkeypatch.setattr(fitting, "cheapest_cuts", lambda *_: [])
    assert nearest(netlist, U55C).excess == 0
