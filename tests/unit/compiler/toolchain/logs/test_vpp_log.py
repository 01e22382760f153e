import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.errors import Violation
from compiler.metrics import Fidelity
from compiler.toolchain.logs.vpp_log import ClockScaling, Step, VppLog, parse_vpp_log
from compiler.toolchain.source import Source, read_source

HEAD = "INFO: [v++ 60-1306] Additional information\nINFO: [v++ 60-629] Linking for hardware target\n"
TAIL = "ERROR: [v++ 60-661] v++ link run 'run_link' failed\nERROR: [v++ 60-703] Failed to finish linking\n"


def real(name: str) -> VppLog:
    return parse_vpp_log(read_source(vitis_fixture(f"logs/{name}.log")))


def failed_link(*lines: str) -> VppLog:
    return parse_vpp_log(Source("v++.log", HEAD + "".join(f"{line}\n" for line in lines) + TAIL))


def test_a_link_that_lowers_its_clock() -> None:
    log = parse_vpp_log(read_source(synthetic_fixture("logs/small_vpp_link.log")))
    assert (log.step, log.outcome, log.tool_version, log.seconds) == ("link", "passed", "2024.1", 37918)
    assert log.peak_memory_gb == 1
    assert log.steps == (Step("system_link", 24), Step("vpl", 37863))
    assert log.tasks[1:] == (Step("FPGA logic optimization", 1299), Step("FPGA logic placement", 18304))
    assert log.phase == "logic routing"
    assert log.clocks_mhz == {"SYSTEM": 450, "KERNEL": 500, "DATA": 203}
    assert log.scalings == (ClockScaling("ulp_ucs/aclk_kernel_00", 250, 203.5),)
    assert (log.failures, log.over, log.congestion_level) == ((), (), None)
    assert [(m.name, m.value, m.fidelity) for m in log.metrics()] == [("clock", 203.5, Fidelity.LINK)]


def test_a_scaled_second_clock_is_not_that_of_the_kernels() -> None:
    text = synthetic_fixture("logs/small_vpp_link.log").read_text()
    log = parse_vpp_log(Source("v++.log", text.replace("kernel_00 has", "kernel_01 has")))
    assert (log.scalings[0].clock, log.clock_mhz) == ("ulp_ucs/aclk_kernel_01", 203)


def test_a_log_that_ends_early_is_unfinished() -> None:
    text = synthetic_fixture("logs/small_vpp_link.log").read_text()
    log = parse_vpp_log(Source("v++.log", text[: text.index("INFO: [v++ 60-791]")]))
    assert (log.outcome, [f.kind for f in log.failures], log.metrics()) == ("unfinished", ["unfinished"], ())
    assert "Run completed" in log.failures[0].message


def test_an_error_that_the_run_gets_over() -> None:
    text = synthetic_fixture("logs/small_vpp_link.log").read_text()
    text = text.replace("INFO: [v++ 60-586]", "ERROR: [VPL 1-1] odd\nINFO: [v++ 60-586]")
    assert parse_vpp_log(Source("v++.log", text)).outcome == "passed"


MESSAGES = (
    ("licence", "Common 17-345", "A valid license was not found for feature 'Synthesis' and/or device 'xcu55c'."),
    ("licence", "v++ 60-1", "License checkout failed for feature ap_opencl"),
    ("timing", "VPL 101-2", "design did not meet timing - One or more unscalable system clocks did not meet theirs."),
    ("routing", "VPL 35-3", "Design is not routable as its global congestion level is 7."),
    ("placement", "Place 30-640", "Place Check : This design requires more DSPs cells than are available."),
    ("placement", "VPL 30-487", "The packing of instances into the device could not be obeyed."),
    ("resources", "Common 17-49", "Internal Data Exception: No space left on device"),
    ("link", "VPL 19-98", "Generation of the IP CORE failed."),
)
LINES = (
    ("resources", "/tools/bin/rdiArgs.sh: line 309: 3801495 Killed                  $RDI_PROG"),
    ("resources", "cp: error writing 'x.dcp': No space left on device"),
    ("resources", "terminate called after throwing an instance of 'std::bad_alloc'"),
    ("tool_crash", "Abnormal program termination (11)"),
    ("tool_crash", "/tools/bin/loader: line 312: 4711 Segmentation fault      $RDI_PROG"),
)


@pytest.mark.parametrize(("kind", "code", "text"), MESSAGES)
def test_an_error_message(kind: str, code: str, text: str) -> None:
    log = failed_link(f"ERROR: [{code}] {text}", "ERROR: [VPL 60-704] Integration error")
    assert (log.outcome, log.metrics()) == ("failed", ())
    (failure,) = log.failures
    assert (failure.kind, failure.where, failure.message) == (kind, f"[{code}]", text)
    assert failure.lever


@pytest.mark.parametrize(("kind", "line"), LINES)
def test_an_end_that_the_tool_could_not_report(kind: str, line: str) -> None:
    first = failed_link(line, "ERROR: [VPL 60-704] Integration error").failures[0]
    assert (first.kind, first.where) == (kind, "line 3")
    assert line in first.message


def test_a_missing_licence_that_only_a_warning_tells() -> None:
    warning = "WARNING: [Common 17-348] Failed to get the license for feature 'Implementation'. Explanation: not found."
    (failure,) = failed_link(warning, "ERROR: [VPL 60-704] Integration error").failures
    assert (failure.kind, failure.where) == ("licence", "[Common 17-348]")


def test_a_link_that_says_no_more_than_that_it_failed() -> None:
    (failure,) = failed_link().failures
    assert (failure.kind, failure.where) == ("link", "[v++ 60-661]")


def test_a_licence_that_v_plus_plus_does_without() -> None:
    text = synthetic_fixture("logs/small_vpp_link.log").read_text()
    text += "WARNING: [VPL 17-301] Failed to get a license for 'ap_opencl'.\n"
    assert parse_vpp_log(Source("v++.log", text)).failures == ()


def test_a_timing_failure_names_the_clocks() -> None:
    log = failed_link("ERROR: [VPL 101-2] design did not meet timing.", "system clock: hbm_aclk; slack: -0.024 ns")
    assert log.failures[0].message == "design did not meet timing. system clock: hbm_aclk; slack: -0.024 ns"


def test_a_real_link_at_a_lower_clock() -> None:
    log = real("prometheus_bicg_3SLR_u55c_2023.2_vpp_link_OK_freqscaled")
    assert (log.outcome, log.seconds) == ("passed", 10 * 3600 + 31 * 60 + 58)
    assert log.scalings == (ClockScaling("ulp_ucs/aclk_kernel_00", 220, 177.4),)
    assert log.tasks[2] == Step("FPGA logic placement", 5 * 3600 + 5 * 60 + 4)
    assert log.peak_memory_gb == 554.449 / 1024


def test_a_real_link_whose_clock_v_plus_plus_rounds() -> None:
    log = real("axiotisk_DNN_u55c_2022.2_vpp_link_OK")
    assert (log.outcome, log.seconds, log.clock_mhz, log.scalings) == ("passed", 14730, 182, ())


def test_a_real_compile() -> None:
    log = real("axiotisk_DNN_u55c_2022.2_vpp_compile_OK")
    assert (log.step, log.outcome, log.seconds, log.fmax_mhz) == ("compile", "passed", 1474, 273.97)
    assert [(m.name, m.fidelity) for m in log.metrics()] == [("fmax", Fidelity.CSYNTH)]


def test_a_real_design_that_does_not_fit() -> None:
    log = real("heterocl_bert_u280_vpp_link_FAIL_place_overutil")
    assert (log.outcome, log.phase, round(log.seconds or 0)) == ("failed", "logic placement", 13338)
    assert {f.kind for f in log.failures} == {"placement"}
    assert Violation("RAMB36/FIFO in Pblock pblock_dynamic_region", 7702, 1776) in log.over
    assert log.failures[2].message == "RAMB36/FIFO in Pblock pblock_dynamic_region: 7702 needed, 1776 available"
    assert log.steps[-1] == Step("vpl", 13289, failed=True)


def test_a_real_design_that_does_not_route() -> None:
    log = real("heterocl_bert16sa_u280_vpp_link_FAIL_route_congestion")
    assert (log.outcome, log.phase, log.congestion_level) == ("failed", "logic routing", 7)
    assert {f.kind for f in log.failures} == {"routing"}
    assert log.failures[0].where == "[VPL 35-3]"
