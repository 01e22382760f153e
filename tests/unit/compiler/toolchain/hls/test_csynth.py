from dataclasses import replace

from fixtures import synthetic_fixture

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.hls.csynth import Clock, CsynthReport, Issue, Module, Span, issue_kind
from compiler.toolchain.hls.csynth_rows import Area
from compiler.toolchain.hls.csynth_xml import parse_csynth_xml
from compiler.toolchain.source import read_source

TOP = Module("top", "dataflow", Span(90, 100), Span(50, 60), Area(5, 2, 300, 400, 1))
REPORT = CsynthReport("2023.2", "xcu55c-fsvh2892-2L-e", "top", "vitis", Clock(4.0, 1.0, 3.0), Area(), (TOP,))


def test_metrics_are_of_the_worst_case_and_name_the_tool() -> None:
    assert Metric("cycles", 100.0, "cycles", Fidelity.CSYNTH, "vitis_hls", "2023.2") in REPORT.metrics()
    assert {m.name: m.value for m in REPORT.metrics()} == {
        "cycles": 100, "latency": 0.4, "interval": 60, "lut": 400, "ff": 300, "dsp": 2, "bram36": 2.5, "uram": 1,
        "clock_estimated": 3.0, "slack": 0.0,
    }  # fmt: skip


def test_what_is_not_known_is_no_metric() -> None:
    unknown = replace(TOP, latency=Span(), area=Area(lut=7))
    names = {m.name for m in replace(REPORT, modules=(unknown,), clock=Clock()).metrics()}
    assert names == {"interval", "lut"}


def test_the_slowest_interval_is_of_any_loop_of_any_module() -> None:
    report = parse_csynth_xml(read_source(synthetic_fixture("csynth/mlp_k0_csynth.xml")))
    assert {m.name: m.value for m in report.metrics()}["slowest_ii"] == 4


def test_a_timing_miss_is_a_failure_beside_the_metrics() -> None:
    report = parse_csynth_xml(read_source(synthetic_fixture("csynth/mlp_k0_csynth.xml")))
    (failure,) = report.failures
    assert (failure.kind, failure.where) == ("timing", "op_up, mlp_k0")
    assert "0.05 ns too much for the clock: 2.48 ns instead of 3.33 - 0.9 ns" in failure.message
    assert report.metrics()


def test_a_miss_without_a_known_slack_is_a_failure_too() -> None:
    late = replace(TOP, issues=(Issue("timing", "top"),))
    (failure,) = replace(REPORT, modules=(late,), clock=Clock()).failures
    assert (failure.kind, failure.where) == ("timing", "top")


def test_no_miss_is_no_failure() -> None:
    assert REPORT.failures == ()


def test_a_span_is_exact_when_both_ends_are_one() -> None:
    assert (Span(3, 3).exact, Span(None, 3).exact, Span(2, 3).exact, Span().exact) == (3, 3, None, None)


def test_kinds_of_issues() -> None:
    kinds = [issue_kind(text) for text in ("Timing Violation", "Timing", "II Violation", "II", "Something new", "")]
    assert kinds == ["timing", "timing", "ii", "ii", "other", "other"]
