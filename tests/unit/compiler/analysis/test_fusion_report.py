"""What a design's cuts cost, and what would undo them."""

from dataclasses import replace

from small_graphs import mlp

from compiler.analysis.fusion_report import report_fusion
from compiler.options import Knobs
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")
KNOBS = Knobs(default_tile_size=8, overall_unroll=16)


def test_one_kernel_has_nothing_to_explain() -> None:
    report = report_fusion(mlp(), KNOBS, U55C)
    assert (report.kernels, report.cuts) == (1, ())
    assert report.external_bytes == report.fused_bytes
    assert "every intermediate value stays on chip" in report.summary()


def test_a_cut_names_value_demand_bound_and_lever() -> None:
    report = report_fusion(mlp(), replace(KNOBS, fusion_budget=64), U55C)
    assert report.kernels > 1
    assert report.external_bytes > report.fused_bytes
    cut = report.cuts[0]
    assert cut.reason is not None
    assert (cut.reason.resource, cut.reason.bound) == ("converter_bytes", 64)
    assert cut.reason.demand > 64
    assert "a larger fusion_budget" in cut.levers
    assert cut.value in report.summary()
    assert report.to_json()["cuts"][0]["reason"]["demand"] == cut.reason.demand


def test_the_demand_of_a_cut_is_what_the_budget_must_be() -> None:
    knobs = replace(KNOBS, fusion_budget=64)
    cuts = report_fusion(mlp(), knobs, U55C).cuts
    needed = max(int(cut.reason.demand) for cut in cuts if cut.reason is not None)
    wider = report_fusion(mlp(), replace(knobs, fusion_budget=needed), U55C)
    assert wider.external_bytes < report_fusion(mlp(), knobs, U55C).external_bytes


def test_a_small_board_is_a_reason_too() -> None:
    small = replace(U55C, budget=replace(U55C.budget, bram36=0, uram=0))
    report = report_fusion(mlp(), KNOBS, small)
    reasons = {cut.reason.resource for cut in report.cuts if cut.reason is not None}
    assert reasons <= {"on_chip_bytes"}
    assert reasons or not report.cuts
