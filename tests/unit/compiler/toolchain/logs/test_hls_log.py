import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.metrics import Fidelity
from compiler.toolchain.logs.hls_log import FifoBuilt, HlsLog, parse_hls_log
from compiler.toolchain.logs.vpp_log import Step
from compiler.toolchain.source import Source, read_source

HEAD = "****** Vitis HLS - High-Level Synthesis from C, C++ and OpenCL v2024.1 (64-bit)\n"
TOTAL = "INFO: [HLS 200-112] Total elapsed time: 12.32 seconds; peak allocated memory: 1.5 GB.\n"
TRACE = '    while executing\n"source run.tcl"\n'


def real(name: str) -> HlsLog:
    return parse_hls_log(read_source(vitis_fixture(f"logs/{name}.log")))


def log_of(*lines: str) -> HlsLog:
    return parse_hls_log(Source("vitis_hls.log", HEAD + "".join(f"{line}\n" for line in lines) + TOTAL))


def test_a_run_that_gets_over_an_error_line() -> None:
    log = parse_hls_log(read_source(synthetic_fixture("logs/small_vitis_hls.log")))
    assert (log.outcome, log.tool_version, log.failures) == ("passed", "2024.1", ())
    assert log.ignored == ("[HLS 200-642] The 'config_array_partition -maximum_size' command is not supported.",)
    assert (log.seconds, log.peak_memory_gb, log.fmax_mhz) == (722.2, 0.5, 342.47)
    assert log.commands == (Step("csynth_design", 719.53),)
    assert log.fifos == (
        FifoBuilt("tokens", "gemm_fifo_w512_d32_A", 512, 32, "Vivado Default RAMs"),
        FifoBuilt("start_for_store_U0", "gemm_start_for_store_U0", None, None, "Shift Registers"),
    )
    assert [(m.name, m.value, m.fidelity) for m in log.metrics()] == [("fmax", 342.47, Fidelity.CSYNTH)]


MESSAGES = (
    ("c_error", "HLS 207-812", "'missing.h' file not found: gemm.cpp:3:10"),
    ("c_error", "HLS 200-779", "Non-shared array 'v' (gemm.cpp:247) failed dataflow checking"),
    ("c_error", "SIM 211-100", "CSim failed with errors."),
    ("cosim", "COSIM 212-4", "*** C/RTL co-simulation finished: FAIL ***"),
    ("c_error", "COSIM 212-361", "C TB simulation failed, nonzero return value '1'."),
    ("deadlock", "COSIM 212-5", "Deadlock detected when simulating: FIFO x is full"),
    ("tool_crash", "HLS 200-1023", "Part 'xcu55c-fsvh2892-2L-e' is not installed."),
    ("tool_crash", "HLS 200-101", "'csynth_design': Unknown option '-fast'."),
    ("tool_crash", "XSIM 43-3316", "Signal SIGSEGV received."),
    ("licence", "Common 17-345", "A valid license was not found for feature 'HLS'"),
)


@pytest.mark.parametrize(("kind", "code", "text"), MESSAGES)
def test_why_a_run_failed(kind: str, code: str, text: str) -> None:
    log = log_of(f"ERROR: [{code}] {text}", "ERROR: [HLS 200-70] Pre-synthesis failed.")
    assert (log.outcome, log.ignored, log.metrics()) == ("failed", (), ())
    assert (log.failures[0].kind, log.failures[0].where) == (kind, f"[{code}]")


def test_a_run_that_the_system_ended() -> None:
    log = log_of("/tools/bin/rdiArgs.sh: line 280:  2555 Killed                  $RDI_PROG")
    assert [(f.kind, f.where) for f in log.failures] == [("resources", "line 2")]


def test_an_error_line_that_ends_the_script() -> None:
    log = log_of("ERROR: [HLS 200-642] The command is not supported.", TRACE)
    assert (log.outcome, [f.kind for f in log.failures]) == ("failed", ["c_error"])


def test_a_tcl_error_without_a_message() -> None:
    log = log_of('invalid command name "csynth_desing"', TRACE)
    (failure,) = log.failures
    assert (failure.kind, failure.where) == ("tool_crash", "line 3")
    assert "csynth_desing" in failure.message


def test_a_log_that_ends_early_is_unfinished() -> None:
    log = parse_hls_log(Source("vitis_hls.log", HEAD + "INFO: [HLS 200-10] Running\n"))
    assert (log.outcome, [f.kind for f in log.failures], log.seconds) == ("unfinished", ["unfinished"], None)


def test_a_real_run_with_fifos() -> None:
    log = real("prometheus_atax_u55c_2023.2_vitis_hls_OK")
    assert (log.outcome, log.seconds, log.peak_memory_gb, log.fmax_mhz) == ("passed", 722.2, 2.364, 301.4)
    assert len(log.fifos) == 31
    built = FifoBuilt("fifo_A_from_off_chip_to_S3", "kernel_nlp_fifo_w512_d512_A", 512, 512, "Vivado Default RAMs")
    assert built in log.fifos


def test_a_real_run_with_an_error_line() -> None:
    log = real("cms_2023.2_vitis_hls_OK_with_ERROR_line")
    assert (log.outcome, log.seconds, log.peak_memory_gb, log.fmax_mhz) == ("passed", 4801.9, 10.89, 602.77)
    assert len(log.ignored) == 1


def test_a_real_run_without_a_test_bench() -> None:
    log = real("stanlee_vitis_hls_FAIL_no_testbench")
    (failure,) = log.failures
    assert (log.outcome, failure.kind, failure.where) == ("failed", "c_error", "[HLS 200-627]")
    assert "test bench" in failure.lever
