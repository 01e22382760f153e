"""Every way in which the tools fail gives its own kind, with the tool's words and what to do."""

from dataclasses import replace

import pytest
from vitis_standin.bench import ENOUGH, Bench
from vitis_standin.designs import KERNELS
from vitis_standin.install import U55C

from compiler.errors import InvalidInputError, ToolError
from compiler.toolchain.vitis.commands import LinkOptions
from compiler.toolchain.vitis.installation import find_installations
from compiler.toolchain.vitis.limits import Limits
from compiler.toolchain.vitis.link import link
from compiler.toolchain.vitis.result import ToolResult

pytestmark = pytest.mark.slow

FIRST = KERNELS[:1]
OLD, NEW = "2023.2", "2024.2"

EXPECTED = [
    ("csynth", "licence", "licence", "valid license was not found"),
    ("csynth", "c_error", "c_error", "undeclared identifier"),
    ("csynth", "killed", "resources", "the system killed"),
    ("csynth", "disk_full", "resources", "the disk is full: couldn't write"),
    ("csynth", "crash", "tool_crash", "Abnormal program termination"),
    ("csynth", "no_report", "tool_crash", r"no csynth\.xml of layer_norm_k0"),
    ("csynth", "truncated", "tool_crash", r"csynth\.xml could not be read"),
    ("csynth", "half_xo", "tool_crash", r"no whole \.xo of layer_norm_k0"),
    ("csynth", "licence_unsaid", "licence", "valid license was not found"),
    ("cosim", "licence", "licence", "valid license was not found"),
    ("cosim", "licence_unsaid", "licence", "valid license was not found"),
    ("cosim", "deadlock", "deadlock", "writes into the full"),
    ("cosim", "cosim_mismatch", "cosim", "post check failed"),
    ("cosim", "killed", "resources", "the system killed"),
    ("cosim", "no_report", "tool_crash", "no cosim report of layer_norm_k0"),
    ("cosim", "truncated", "tool_crash", r"cosim\.rpt could not be read"),
    ("link", "licence", "licence", "valid license was not found"),
    ("link", "placement", "placement", r"RAMB36/FIFO in Pblock.*: 7702 needed, 1776 available"),
    ("link", "routing", "routing", "congestion level is 7"),
    ("link", "timing", "timing", "did not meet"),
    ("link", "killed", "resources", "the system killed"),
    ("link", "disk_full", "resources", "the disk is full"),
    ("link", "crash", "tool_crash", "Abnormal program termination"),
    ("link", "no_report", "tool_crash", r"wrote no layer_norm\.xclbin"),
]


def run(bench: Bench, stage: str, version: str = OLD, limits: Limits = ENOUGH) -> ToolResult:
    if stage == "csynth":
        return bench.csynth(version, limits, kernels=FIRST)
    return bench.cosim(version, limits, FIRST) if stage == "cosim" else bench.link(version, limits=limits)


@pytest.mark.parametrize(("stage", "fault", "kind", "text"), EXPECTED, ids=[f"{e[0]}-{e[1]}" for e in EXPECTED])
def test_kind_and_words(bench: Bench, stage: str, fault: str, kind: str, text: str) -> None:
    bench.tell(FAIL=f"{stage}:{fault}")
    result = run(bench, stage)
    assert not result.passed
    assert {failure.kind for failure in result.failures} == {kind}, result.failures
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(" | ".join(failure.message for failure in result.failures))
    assert any(failure.lever for failure in result.failures)
    assert result.metrics == ()
    assert any(file.suffix == ".log" for file in result.files)


@pytest.mark.parametrize(
    ("stage", "fault", "kind"),
    [
        ("csynth", "licence", "licence"),
        ("csynth", "c_error", "c_error"),
        ("csynth", "truncated", "tool_crash"),
        ("cosim", "licence", "licence"),
        ("cosim", "deadlock", "deadlock"),
        ("cosim", "cosim_mismatch", "cosim"),
    ],
)
def test_the_unified_tools_fail_alike(bench: Bench, stage: str, fault: str, kind: str) -> None:
    bench.tell(FAIL=f"{stage}:{fault}")
    assert {failure.kind for failure in run(bench, stage, NEW).failures} == {kind}


def test_a_deadlock_names_the_channels_to_deepen(bench: Bench) -> None:
    bench.tell(FAIL="deadlock")
    (failure,) = run(bench, "cosim").failures
    assert failure.lever.startswith("make a FIFO of each cycle deeper")
    assert failure.where


def test_a_clock_that_was_lowered_is_a_pass_with_the_clock_that_was_reached(bench: Bench) -> None:
    bench.tell(FAIL="timing_scaled")
    result = bench.link()
    assert result.passed, result.failures
    figures = {m.name: m.value for m in result.metrics}
    assert figures["clock"] == pytest.approx(205)
    assert result.verdict["clock_requested_mhz"] == 250
    assert result.notes[0] == "v++ lowered the clock from 250 to 205 MHz: paths missed it"
    assert "timing is not met" in result.notes[1]


def test_a_fixed_clock_can_not_be_lowered(bench: Bench) -> None:
    """Why link.cfg asks for the scalable clock and not for one of its own."""
    config = bench.design / "hls" / "link.cfg"
    text = config.read_text()
    config.write_text(text.replace("kernel_frequency=0:250\n", "") + "\n[clock]\nfreqHz=250000000:k0_1\n")
    bench.tell(FAIL="timing_scaled")
    try:
        result = bench.link()
    finally:
        config.write_text(text)
    assert {failure.kind for failure in result.failures} == {"timing"}


def test_reports_that_are_cut_are_notes_where_the_log_has_the_clock(bench: Bench) -> None:
    bench.tell(FAIL="link:truncated")
    result = bench.link()
    assert result.passed, result.failures
    assert {m.name for m in result.metrics} >= {"clock", "qor_score"}
    assert "lut" not in {m.name for m in result.metrics}
    assert any("kernel_util_routed.rpt could not be read" in note for note in result.notes)


def test_the_first_calls_only(bench: Bench) -> None:
    bench.tell(FAIL="csynth:licence@2")
    passed = [run(bench, "csynth").passed for _ in range(3)]
    assert passed == [False, False, True]


def test_the_first_kernel_that_fails_ends_the_stage(bench: Bench) -> None:
    bench.tell(FAIL="csynth:crash@1")
    result = bench.csynth()
    assert [str(f) for f in result.files] == ["layer_norm_k0/csynth.log"]
    assert list(result.verdict["kernels"]) == ["layer_norm_k0"]


@pytest.mark.parametrize("stage", ["csynth", "link"])
def test_the_time_is_over(bench: Bench, stage: str) -> None:
    bench.tell(FAIL="hang")
    result = run(bench, stage, limits=Limits(0.8))
    assert {failure.kind for failure in result.failures} == {"timeout"}
    assert "was ended after 1 s, the time it was given" in result.failures[0].message
    assert 0.7 < result.seconds < 10


def test_a_platform_that_is_not_installed(bench: Bench) -> None:
    result = bench.link(options=LinkOptions("xilinx_u280_gen3x16_xdma_1_202211_1"))
    assert result.failures[0].kind == "link"
    assert "No valid platform was found that matches xilinx_u280" in result.failures[0].message


def test_nothing_to_link(bench: Bench) -> None:
    tool = bench.installation(OLD)
    with pytest.raises(InvalidInputError, match=r"there is no .*k9\.xo to link: synthesise the design first"):
        link(bench.design, [bench.out / "k9.xo"], tool, LinkOptions(U55C), bench.out, ENOUGH, print)


def test_no_design(bench: Bench) -> None:
    (bench.root / "hls").mkdir()
    with pytest.raises(InvalidInputError, match=r"has no hls\.cfg: it is not the code of a design"):
        replace(bench, design=bench.root).csynth()


def test_an_installation_without_the_tool(bench: Bench) -> None:
    (bench.root / "Vitis" / "2022.2" / "bin" / "v++").unlink()
    assert find_installations([bench.root])[-1].vpp is None
    with pytest.raises(ToolError, match=r"has no v\+\+: install Vitis, not Vitis HLS alone"):
        bench.link("2022.2")


@pytest.mark.parametrize(("fault", "limits"), [("memory", Limits(30, 0.3, 1)), ("disk", Limits(30, 8, 0.01))])
def test_more_than_it_was_given(bench: Bench, fault: str, limits: Limits) -> None:
    bench.tell(FAIL=fault)
    result = run(bench, "csynth", limits=limits)
    assert [failure.kind for failure in result.failures] == ["resources"]
    assert "was ended" in result.failures[0].message


def test_what_a_tool_leaves_running_is_ended_without_a_word(bench: Bench) -> None:
    bench.tell(FAIL="csynth:daemon", RUNNING=str(bench.root / "running"))
    result = run(bench, "csynth")
    assert result.passed, result.failures
    assert not [note for note in result.notes if "process" in note]
    assert not list((bench.root / "running").iterdir())
