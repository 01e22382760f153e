import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.link.timing_summary import ClockSlack, Slack, parse_timing_summary
from compiler.toolchain.source import Source, read_source

MISSED = "impl/small_timing_summary_missed.rpt"


def test_a_miss_is_a_failure() -> None:
    report = parse_timing_summary(read_source(synthetic_fixture(MISSED)))
    assert (report.met, report.state, report.tool_version) == (False, "Routed", "2024.1")
    assert report.setup == Slack(-0.25, -1.5, 12, 1000)
    assert (report.hold, report.pulse_width) == (Slack(0.01, 0, 0, 990), Slack(0.5, 0, 0, 400))
    assert report.clocks == (
        ClockSlack("io_clk", Slack(6.863, 0, 0, 50)), ClockSlack("kernel_clk", Slack(-0.25, -1.5, 12, 900)),
    )  # fmt: skip
    (failure,) = report.failures
    assert (failure.kind, failure.where) == ("timing", "kernel_clk")
    assert "worst slack -0.25 ns, 12 of 1000 endpoints fail" in failure.message
    assert [(m.name, m.value) for m in report.metrics()] == [
        ("worst_slack", -0.25), ("total_slack", -1.5), ("failing_endpoints", 12),
    ]  # fmt: skip


def test_met() -> None:
    text = synthetic_fixture(MISSED).read_text()
    text = text.replace("Timing constraints are not met.", "All user specified timing constraints are met.")
    report = parse_timing_summary(Source("x.rpt", text))
    assert (report.met, report.failures) == (True, ())


def test_a_real_miss() -> None:
    path = vitis_fixture("impl/prometheus_bicg_3SLR_u55c_2023.2_dr_timing_summary_FAILED.rpt")
    report = parse_timing_summary(read_source(path))
    assert report.setup == Slack(-1.091, -55803.938, 166686, 1267143)
    assert report.worst_clock == ClockSlack("clk_kernel_00_unbuffered_net", Slack(-1.091, -55803.938, 166686, 815654))
    assert [f.kind for f in report.failures] == ["timing"]


def test_a_real_design_that_meets_its_clocks() -> None:
    report = parse_timing_summary(read_source(vitis_fixture("impl/dat480_u55c_2023.2_dr_timing_summary_MET.rpt")))
    assert (report.met, report.setup.worst, report.failures) == (True, 0.003, ())
    kernel = next(clock for clock in report.clocks if clock.clock == "clk_kernel_00_unbuffered_net")
    assert kernel.setup == Slack(0.076, 0, 0, 150429)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Timing constraints are not met.", "", "does not say whether"),
        ("-1.500                     12                 1000", "-1.500                     12", "11 numbers"),
        ("  -1.500   ", "  -1.x00   ", "not a number"),
        ("| Intra Clock Table", "| Inter", "no section 'Intra Clock Table'"),
    ],
)
def test_damaged(old: str, new: str, message: str) -> None:
    text = synthetic_fixture(MISSED).read_text().replace(old, new)
    with pytest.raises(ReportError, match=message):
        parse_timing_summary(Source("x.rpt", text))
