"""`summary.csv` and `xrt.run_summary`."""

import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import ReportError
from compiler.metrics import Fidelity
from compiler.toolchain.board.profile_summary import ApiCall, PortTransfer, UnitRun, parse_profile_summary
from compiler.toolchain.board.run_summary import RunSummary, parse_run_summary
from compiler.toolchain.source import Source, read_source

SMALL = "profile/small_summary.csv"


def test_units_transfers_and_settings() -> None:
    report = parse_profile_summary(read_source(synthetic_fixture(SMALL)))
    assert (report.application, report.tool_version, report.xrt_version) == ("run_design", "2024.1", "2.17.0")
    assert report.units[0] == UnitRun("xilinx_u55c-0", "gemm_1", "gemm", 10, 25, 2.4, 2.5, 2.6, 250)
    assert report.transfers[0] == PortTransfer("load_1/m_axi_a", "HBM[0]", "READ", 1000, 12000, 75, 1.024, 90.5)
    assert report.calls == (ApiCall("xrt::run::start", 10, 0.5), ApiCall("xrt::run::wait", 10, 26.25))
    assert report.settings == {"power_profile": "1", "power_profile_interval_ms": "20"}
    assert report.parameters["TRACE_BUFFER_FULL", "xilinx_u55c-0"] == "true"
    assert [(m.name, m.value, m.unit, m.fidelity) for m in report.metrics()] == [
        ("kernel_time", 2500, "us", Fidelity.BOARD),
        ("memory_read", 18, "GB/s", Fidelity.BOARD),
        ("memory_write", 1.3, "GB/s", Fidelity.BOARD),
    ]


def test_an_emulation_measures_nothing() -> None:
    text = synthetic_fixture(SMALL).read_text().replace("System Run", "Hardware Emulation")
    report = parse_profile_summary(Source("summary.csv", text))
    assert (report.flow, report.metrics()) == ("Hardware Emulation", ())


def test_a_real_run_with_counters() -> None:
    report = parse_profile_summary(read_source(vitis_fixture("profile/superkooks_kv260_2025.2_summary.csv")))
    assert report.units == (
        UnitRun("kv260_desktop-0", "canny_top_1", "canny_top", 101, 2614.21, 25.8811, 25.8832, 25.887, 199.998),
    )
    assert [(t.port, t.direction, t.mb_s) for t in report.transfers] == [
        ("canny_top_1/m_axi_gmem", "WRITE", 1365.3), ("canny_top_1/m_axi_gmem0", "READ", 1999.67),
    ]  # fmt: skip
    assert report.settings["device_trace"] == "fine"


def test_a_real_run_without_counters() -> None:
    report = parse_profile_summary(read_source(vitis_fixture("profile/netann_2022.1_summary.csv")))
    assert (report.application, report.units, report.transfers, report.metrics()) == ("vector_search_test", (), (), ())
    assert ApiCall("xrt::run::wait", 130, 15418.7) in report.calls
    assert report.settings["power_profile_interval_ms"] == "20"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Guidance Parameters", "Guidance", "no section 'Guidance Parameters'"),
        ("XRT_INI_SETTING", "XRT_SETTING", "no settings"),
        ("2.4,2.5,2.6,250,", "2.4,2.5,2.6,", "not as many cells"),
        ("25,2.4", "long,2.4", r"Total Time \(ms\) of Compute Unit Utilization is 'long'"),
        ("Clock Frequency (MHz)", "Clock (MHz)", r"no column 'Clock Frequency \(MHz\)'"),
    ],
)
def test_damaged(old: str, new: str, message: str) -> None:
    text = synthetic_fixture(SMALL).read_text().replace(old, new)
    with pytest.raises(ReportError, match=message):
        parse_profile_summary(Source("summary.csv", text))


def test_run_summary() -> None:
    small = parse_run_summary(read_source(synthetic_fixture("profile/small_xrt.run_summary")))
    assert small == RunSummary("1.2.0", "vp", {"summary.csv": "PROFILE_SUMMARY"})


def test_a_real_run_summary() -> None:
    report = parse_run_summary(read_source(vitis_fixture("profile/netann_2022.1_xrt.run_summary")))
    assert report.files == {"native_trace.csv": "VP_TRACE", "summary.csv": "PROFILE_SUMMARY"}
