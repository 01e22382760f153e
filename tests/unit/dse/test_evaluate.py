from dataclasses import replace

import pytest
from evaluations import evaluated

from compiler.analysis.estimate import DIE_BOUNDS
from compiler.analysis.placement.netlist import RESOURCES
from compiler.errors import ToolError, Violation
from compiler.graph.linalg_graph import LinalgGraph
from compiler.metrics import Fidelity
from compiler.options import Knobs, TaskOverride
from compiler.passes.size_fifos import SizeFifos
from compiler.platforms.platform import Platform
from dse.evaluate import evaluate, judged
from dse.objectives import OBJECTIVES


def test_a_design_has_objectives_and_metrics_with_fidelity(mlp: LinalgGraph, u55c: Platform):
    found = evaluate(mlp, Knobs(), u55c)
    assert found.feasible
    objectives = {name: row for name, row in OBJECTIVES.items() if not row.phases and not row.inputs}
    assert min(found.objectives(tuple(objectives))) >= 0
    assert min(found.objectives()) > 0
    units = {m.name: m.unit for m in found.metrics}
    assert {name: units[name] for name in objectives} == {name: row.unit for name, row in objectives.items()}
    assert {m.fidelity for m in found.metrics} == {Fidelity.ESTIMATE}
    assert found.seconds > 0


def test_a_rejected_design_is_infeasible_with_the_reason(mlp: LinalgGraph, u55c: Platform):
    found = evaluate(mlp, Knobs(overrides=(TaskOverride("fc1", order=(0, 0, 0)),)), u55c)
    assert not found.feasible
    assert not found.priced
    assert found.reason is not None
    assert "fc1" in found.reason


def test_knobs_that_change_nothing_give_an_accelerator_that_is_known(mlp: LinalgGraph, u55c: Platform):
    found, other = (evaluate(mlp, knobs, u55c) for knobs in (Knobs(), Knobs(default_tile_size=32)))
    assert found.accelerator not in (None, other.accelerator)
    inert = Knobs(fusion_budget=1 << 20, slices=4)  # for converters that are smaller, of no engine
    again = evaluate(mlp, inert, u55c, known={found.accelerator})
    assert (again.accelerator, again.metrics, again.reason) == (found.accelerator, (), None)
    assert not again.feasible
    assert evaluate(mlp, inert, u55c, known={other.accelerator}) == replace(found, knobs=inert)


def test_a_plan_that_was_met_has_no_fifos_sized_again(
    mlp: LinalgGraph, u55c: Platform, monkeypatch: pytest.MonkeyPatch
):
    found = evaluate(mlp, Knobs(), u55c)
    monkeypatch.delattr(SizeFifos, "sized")
    again = evaluate(mlp, Knobs(fusion_budget=1 << 20), u55c, known={found.accelerator})
    assert (again.accelerator, again.priced) == (found.accelerator, False)


@pytest.mark.parametrize("error", [ZeroDivisionError(), ToolError("g++ was not found")])
def test_a_crash_and_a_missing_tool_pass_through(
    mlp: LinalgGraph, u55c: Platform, monkeypatch: pytest.MonkeyPatch, error: Exception
):
    def crash(*_: object) -> None:
        raise error

    monkeypatch.setattr("dse.evaluate.unsized", crash)
    with pytest.raises(type(error)):
        evaluate(mlp, Knobs(), u55c)


def test_the_exact_placer_judges_what_the_quick_test_leaves_open(mlp: LinalgGraph, u55c: Platform):
    """One board has room, of the other no die holds the largest task."""
    knobs = Knobs(default_tile_size=16, overall_unroll=64)
    for share, fits in ((0.1, True), (0.03, False)):
        slrs = tuple(replace(s, **{r: int(share * getattr(s, r)) for r in RESOURCES}) for s in u55c.dies.slrs)
        board = replace(u55c, dies=replace(u55c.dies, slrs=slrs))
        found = replace(evaluate(mlp, knobs, board), violations=(), placed=False)
        verdict = judged(found, mlp, board)
        assert verdict.placed == verdict.feasible == fits
        assert {v.resource for v in verdict.violations} <= set(DIE_BOUNDS)
        assert verdict.objectives() == found.objectives()
        assert verdict.seconds > found.seconds


def test_over_budget_is_infeasible_and_keeps_its_objectives():
    found = evaluated(Knobs(), 1.0, 2.0, violations=(Violation("dsp", 20, 10),))
    assert found.objectives() == (1.0, 2.0)
    assert not found.feasible


def test_time_taken_does_not_tell_evaluations_apart():
    assert evaluated(Knobs(), 1.0, 2.0, seconds=1.0) == evaluated(Knobs(), 1.0, 2.0, seconds=2.0)
