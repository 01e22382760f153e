import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.toolchain.link.qor_assessment import Finding, parse_qor_assessment
from compiler.toolchain.source import Source, read_source

SMALL = "impl/small_qor_assessment.rpt"


def test_a_likely_design() -> None:
    report = parse_qor_assessment(read_source(synthetic_fixture(SMALL)))
    assert (report.score, report.said, report.state) == (4, "Timing will likely meet", "Optimized")
    assert report.scores == {"Utilization": 5, "Timing": 4}
    assert report.review == (Finding("WNS", "-0.100", "-0.130"),)
    assert (report.stop, report.failures) == (False, ())
    assert [(m.name, m.value) for m in report.metrics()] == [("qor_score", 4)]


@pytest.mark.parametrize(("score", "stop"), [(1, True), (2, True), (3, False), (5, False)])
def test_only_hopeless_links_are_to_be_stopped(score: int, stop: bool) -> None:
    text = synthetic_fixture(SMALL).read_text().replace("4 - Timing", f"{score} - Timing")
    report = parse_qor_assessment(Source("x.rpt", text))
    assert (report.score, report.stop, [f.kind for f in report.failures]) == (score, stop, ["timing"] * stop)


def test_a_real_link_that_missed_its_clock_eight_hours_later() -> None:
    path = vitis_fixture("impl/prometheus_bicg_3SLR_u55c_2023.2_qor_assessment_post_opt.rpt")
    report = parse_qor_assessment(read_source(path))
    assert (report.score, report.said) == (2, "Implementation may complete. Timing will not meet")
    assert report.stop
    assert report.scores == {"Utilization": 5, "Clocking": 2, "Congestion": 5, "Timing": 2}
    assert Finding("DONT_TOUCH (cells/nets)", "0", "320") in report.review


@pytest.mark.parametrize("score", ["6 - Timing", "Timing", "0 - Timing"])
def test_no_score(score: str) -> None:
    text = synthetic_fixture(SMALL).read_text().replace("4 - Timing", score.ljust(10))
    with pytest.raises(ReportError, match="no score from 1 to 5"):
        parse_qor_assessment(Source("x.rpt", text))
