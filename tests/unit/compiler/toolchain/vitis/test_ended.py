"""Why a run is no pass."""

from pathlib import Path

import pytest
from fixtures import vitis_fixture

from compiler.toolchain.vitis.ended import log_failures, why_failed
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.process import EndedBy, Run

LIMITS = Limits(3600, 16, 50)


def run(exit_code: int = 1, ended_by: EndedBy | None = None) -> Run:
    return Run(exit_code, ended_by, 10.0, 20 << 30, 60 << 30)


@pytest.mark.parametrize(
    ("ended_by", "kind", "text"),
    [
        ("timeout", "timeout", "v++ was ended after 3600 s, the time it was given"),
        ("memory", "resources", "v++ was ended at 20.0 GB of memory; it was given 16 GB"),
        ("disk", "resources", "v++ was ended when its files took 60.0 GB; it was given 50"),
    ],
)
def test_a_limit(tmp_path: Path, ended_by: EndedBy, kind: str, text: str) -> None:
    (failure,) = why_failed("v++", run(-9, ended_by), LIMITS, tmp_path / "log")
    assert (failure.kind, failure.message) == (kind, text)


@pytest.mark.parametrize(
    ("exit_code", "kind", "where"),
    [
        (-9, "resources", "signal 9"),
        (137, "resources", "signal 9"),
        (-11, "tool_crash", "signal 11"),
        (139, "tool_crash", "signal 11"),
        (1, "tool_crash", "exit code 1"),
    ],
)
def test_a_log_without_an_error(tmp_path: Path, exit_code: int, kind: str, where: str) -> None:
    log = tmp_path / "log"
    log.write_text("INFO: [v++ 60-1] going on\nlast words\n\n")
    (failure,) = why_failed("v++", run(exit_code), LIMITS, log)
    assert (failure.kind, failure.where) == (kind, where)
    if kind == "tool_crash":
        assert "last words" in failure.message


def test_a_pass_is_not_asked_for_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("ERROR: [HLS 200-642] not supported, and it went on\n")
    assert why_failed("vitis_hls", run(0), LIMITS, log) == ()
    assert log_failures(tmp_path / "absent") == ()


@pytest.mark.parametrize(
    "then",
    [
        "ERROR: [HLS 200-1715] Encountered problem during source synthesis",
        "ERROR: [COSIM 212-4] *** C/RTL co-simulation finished: FAIL ***",
    ],
)
def test_what_a_crashed_tool_says_of_its_stage_is_no_fault_of_the_design(tmp_path: Path, then: str) -> None:
    log = tmp_path / "log"
    banner = "****** Vitis HLS - High-Level Synthesis from C, C++ and OpenCL v2023.2 (64-bit)"
    log.write_text(f"{banner}\nAbnormal program termination (11)\n{then}\n    while executing\n")
    assert [failure.kind for failure in why_failed("vitis_hls", run(), LIMITS, log)] == ["tool_crash"]


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("heterocl_bert_u280_vpp_link_FAIL_place_overutil.log", "placement"),
        ("heterocl_bert16sa_u280_vpp_link_FAIL_route_congestion.log", "routing"),
        ("stanlee_vitis_hls_FAIL_no_testbench.log", "c_error"),
    ],
)
def test_the_logs_of_real_failures(log: str, kind: str) -> None:
    found = why_failed("v++", run(), LIMITS, vitis_fixture(f"logs/{log}"))
    assert {failure.kind for failure in found} == {kind}
