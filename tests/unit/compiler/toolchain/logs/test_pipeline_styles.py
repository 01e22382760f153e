import pytest
from fixtures import synthetic_fixture, vitis_fixture

from compiler.toolchain.logs.hls_log import parse_hls_log
from compiler.toolchain.logs.messages import messages
from compiler.toolchain.logs.pipeline_styles import LEVERS, PipelineSaid, pipelines_said
from compiler.toolchain.source import Source, read_source

PORTS = "the estimated Stream Port Number is {}, which is bigger than the frp_stream_port_number threshold of 20"
DISABLING = "Disabling free running pipeline (frp) architecture on pipeline 'L' in module 'm'"


def said(line: str) -> list[PipelineSaid]:
    return list(pipelines_said(messages(Source("csynth.log", line))))


def test_the_log_of_a_real_run() -> None:
    log = parse_hls_log(read_source(vitis_fixture("logs/prometheus_atax_u55c_2023.2_vitis_hls_OK.log")))
    assert log.pipelines == (
        PipelineSaid("task1_intra", "VITIS_LOOP_180_1", False, 1553, PORTS.format(78)),
        PipelineSaid("write_tmp_FT0", "VITIS_LOOP_352_1", False, 1553, PORTS.format(61)),
        PipelineSaid("task3_intra", "VITIS_LOOP_208_1", True, 1552, ""),
    )


def test_ours_with_the_messages_of_a_later_release() -> None:
    log = parse_hls_log(read_source(synthetic_fixture("logs/styles_vitis_hls.log")))
    assert [(p.module, p.free_running, p.code) for p in log.pipelines] == [
        ("norm", True, "[HLS 200-1552]"),
        ("fan_out", False, "[HLS 200-1553]"),
        ("load_x_Pipeline_VITIS_LOOP_30_1", False, "[HLS 200-1972]"),
        ("alone", False, "[HLS 200-1975]"),
        ("process_r", True, "[HLS 200-1976]"),
    ]
    assert log.pipelines[2].because == "it has M_AXI or AXILite port: memory0"


def test_a_log_without_such_messages_says_nothing() -> None:
    log = parse_hls_log(read_source(synthetic_fixture("logs/small_vitis_hls.log")))
    assert log.pipelines == ()


@pytest.mark.parametrize("number", range(1960, 1976))
@pytest.mark.parametrize("severity", ["INFO", "WARNING"])
def test_every_message_that_drops_frp(number: int, severity: str) -> None:
    line = f"{severity}: [HLS 200-{number}] {DISABLING}, because it can not."
    assert said(line) == [PipelineSaid("m", "L", False, number, "it can not")]


def test_a_reason_without_a_comma_before_it_and_none_at_all() -> None:
    assert said(f"INFO: [HLS 200-1962] {DISABLING} because b is shared.")[0].because == "b is shared"
    assert said(f"INFO: [HLS 200-1553] {DISABLING}.")[0].because == ""


@pytest.mark.parametrize(
    "line",
    [
        f"INFO: [HLS 200-1030] {DISABLING}, because it can not.",
        "ERROR: [HLS 200-1552] export_design: the design is not synthesised",
        "INFO: [HLS 200-1030] Apply Unified Pipeline Control on module 'm' pipeline 'L' pipeline type 'loop pipeline'",
    ],
)
def test_other_messages_say_nothing_of_it(line: str) -> None:
    assert said(line) == []


def test_what_to_do_is_known_for_messages_that_are_read() -> None:
    assert set(LEVERS) <= set(range(1960, 1976))
