"""What a design's cuts cost, and what would undo them."""

from dataclasses import replace

from small_graphs import mlp

from compiler.analysis.fusion_report import FusionReport, report_fusion
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned
from compiler.platforms.platform import Platform, load_platform

U55C = load_platform("u55c")
KNOBS = Knobs(default_tile_size=8, overall_unroll=16)


def report(knobs: Knobs, platform: Platform = U55C) -> FusionReport:
    return report_fusion(planned(mlp(), knobs, platform), knobs)


def test_one_kernel_has_nothing_to_explain() -> None:
    found = report(KNOBS)
    assert (found.kernels, found.cuts) == (1, ())
    assert found.external_bytes == found.fused_bytes
    assert "every intermediate value stays on chip" in found.summary()


def test_a_cut_names_value_demand_bound_and_lever() -> None:
    found = report(replace(KNOBS, fusion_budget=64))
    assert found.kernels > 1
    assert found.external_bytes > found.fused_bytes
    cut = found.cuts[0]
    assert cut.reason is not None
    assert (cut.reason.resource, cut.reason.bound) == ("converter_bytes", 64)
    assert cut.reason.demand > 64
    assert "a larger fusion_budget" in cut.levers
    assert cut.value in found.summary()
    assert found.to_json()["cuts"][0]["reason"]["demand"] == cut.reason.demand


def test_the_demand_of_a_cut_is_what_the_budget_must_be() -> None:
    knobs = replace(KNOBS, fusion_budget=64)
    cuts = report(knobs).cuts
    needed = max(int(cut.reason.demand) for cut in cuts if cut.reason is not None)
    wider = report(replace(knobs, fusion_budget=needed))
    assert wider.external_bytes < report(knobs).external_bytes


def test_a_cut_that_was_asked_for_says_so() -> None:
    found = report(replace(KNOBS, overrides=(TaskOverride("down", kernel="begins"),)))
    (cut,) = (cut for cut in found.cuts if cut.begins)
    assert (found.kernels, cut.reason, cut.begins) == (2, None, "down")
    assert cut.levers == ("no kernel that begins with down",)
    assert "a kernel begins with down" in found.summary()


def test_a_small_board_is_a_reason_too() -> None:
    small = replace(U55C, budget=replace(U55C.budget, bram36=0, uram=0))
    found = report(KNOBS, small)
    reasons = {cut.reason.resource for cut in found.cuts if cut.reason is not None}
    assert reasons <= {"on_chip_bytes"}
    assert reasons or not found.cuts
