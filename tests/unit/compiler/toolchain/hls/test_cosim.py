import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.hls.cosim import CosimReport, Cycles, parse_cosim
from compiler.toolchain.source import Source, read_source


def synthetic(name: str) -> CosimReport:
    return parse_cosim(read_source(synthetic_fixture(f"cosim/{name}")))


def real(name: str) -> CosimReport:
    return parse_cosim(read_source(vitis_fixture(f"cosim/{name}")))


def test_a_pass_with_several_transactions() -> None:
    report = synthetic("pass_cosim.rpt")
    assert (report.rtl, report.status, report.simulator, report.solution) == ("Verilog", "pass", "xsim", "hls")
    assert (report.latency, report.interval) == (Cycles(4100, 4150, 4200), Cycles(4000, 4010, 4020))
    assert report.total == 12480
    assert report.failures == ()
    assert [(m.name, m.value, m.fidelity) for m in report.metrics()] == [
        ("cycles", 4200, Fidelity.COSIM), ("interval", 4020, Fidelity.COSIM), ("total_cycles", 12480, Fidelity.COSIM),
    ]  # fmt: skip


def test_a_fail_has_no_metrics() -> None:
    report = synthetic("fail_cosim.rpt")
    assert (report.status, report.latency, report.metrics()) == ("fail", Cycles(None, None, None), ())
    (failure,) = report.failures
    assert failure.kind == "cosim"
    assert "other results" in failure.message


def test_a_stub_without_a_top_points_at_the_file_beside_it() -> None:
    (failure,) = synthetic("_cosim.rpt").failures
    assert failure.message.startswith("no simulator ran")
    assert "<top>_cosim.rpt beside it" in failure.lever


def test_neither_language_ran() -> None:
    text = synthetic_fixture("cosim/fail_cosim.rpt").read_text().replace("      Fail", "        NA")
    report = parse_cosim(Source("x_cosim.rpt", text))
    assert (report.status, [f.kind for f in report.failures]) == ("not run", ["cosim"])


def test_a_pass_without_cycles_is_damaged() -> None:
    text = synthetic_fixture("cosim/fail_cosim.rpt").read_text().replace("Fail", "Pass")
    with pytest.raises(ReportError, match="says Pass, but gives no cycles"):
        parse_cosim(Source("x_cosim.rpt", text))


def test_an_unknown_status() -> None:
    text = synthetic_fixture("cosim/pass_cosim.rpt").read_text().replace("Pass", "Pas ")
    with pytest.raises(ReportError, match="no status"):
        parse_cosim(Source("x_cosim.rpt", text))


def test_a_foreign_file() -> None:
    with pytest.raises(ReportError, match=r"x\.rpt is not a cosim report"):
        parse_cosim(Source("x.rpt", "Report time : now"))


def test_real_reports() -> None:
    feed_forward = real("streamhls_FeedForward_opt1_pass_cosim.rpt")
    assert (feed_forward.status, feed_forward.latency.most, feed_forward.total) == ("pass", 67276842, 67276842)
    assert feed_forward.interval == Cycles(None, None, None)
    assert real("streamhls_hida_gemm_pass_cosim.rpt").latency.average == 176964
    assert real("streamhls_allo_3mm_FAIL_cosim.rpt").simulator == "xsim"
    assert real("streamhls_hida_gemm_STUB_cosim.rpt").simulator == ""
    unified = real("superkooks_canny_2025.2_FAIL_hls_cosim.rpt")
    assert (unified.status, unified.solution, unified.simulator) == ("fail", "hls", "")
