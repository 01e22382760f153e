"""The stand-in is as strict as the real tools: else it would prove nothing."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import psutil
import pytest
from vitis_standin.bench import Bench
from vitis_standin.install import U55C, calls, control, running

LINK = ("-l", "-t", "hw", "--platform", U55C, "--config", "link.cfg", "-o", "a.xclbin")


class Tools:
    """The programs, called by hand in a copy of the design."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        shutil.copytree(bench.design, folder)
        self.root, self.hls, self.xos = bench.root, folder / "hls", [str(xo) for xo in bench.xos()]

    def call(self, tool: str, version: str, *argv: str, **environment: str) -> tuple[int, str]:
        home = "Vitis_HLS" if tool == "vitis_hls" else "Vitis"
        place = self.root / version / home if version == "2025.1" else self.root / home / version
        done = subprocess.run(
            [place / "bin" / tool, *argv],
            cwd=self.hls,
            env={**os.environ, "PLATFORM_REPO_PATHS": str(self.root / "platforms"), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def edit(self, file: str, old: str, new: str) -> None:
        text = (self.hls / file).read_text()
        assert re.search(old, text)
        (self.hls / file).write_text(re.sub(old, new, text, count=1))


@pytest.fixture
def tools(bench: Bench, tmp_path: Path) -> Tools:
    return Tools(bench, tmp_path / "copy")


def refused(result: tuple[int, str], text: str) -> None:
    code, output = result
    assert code != 0, output
    assert re.search(text, output), output


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (r"sp=k0_1\.x_0", "sp=k0_1.nothing", r"CFGEN 83-2292\].*port or argument name: nothing"),
        (r"sp=k0_1\.", "sp=layer_norm_k0.", r"CFGEN 83-2291\] --sp tag .* kernel instance: layer_norm_k0"),
        (r"HBM\[\d+\]", "HBM[32]", r"memory resource that the platform has not: HBM\[32\]"),
        (r"HBM\[\d+\]", "HBM[30:33]", r"HBM\[30:33\]"),
        (r"nk=layer_norm_k0:1:k0_1", "nk=other:1:other_1", "no .xo file holds: other"),
        (r"nk=layer_norm_k0:1:", "nk=layer_norm_k0:2:", "names 1 instances of layer_norm_k0, not 2"),
        (r"k0_1", "layer_norm_" * 5 + "k0_1", "m_name entry length .* exceeds the allocated space"),
        (r"\[connectivity\]", "[connectivity]\nslr=k9_1:SLR0", "kernel instance: k9_1"),
        (r"\[connectivity\]", "[connectivity]\nslr=k0_1:SLR3", "the platform has not: SLR3"),
        (r"\[connectivity\]", "[connectivity]\nport=x", r"60-1520\] unrecognised option 'connectivity.port'"),
        (r"\[connectivity\]", "[connectivities]", r"unrecognised section 'connectivities'"),
        (r"kernel_frequency=0:250", "kernel_frequency=250MHz", r"the argument \('250MHz'\) .*kernel_frequency"),
        (r"kernel_frequency", "clock_frequency", r"unrecognised option 'clock_frequency'"),
    ],
)
def test_a_link_configuration_that_is_wrong(tools: Tools, old: str, new: str, text: str) -> None:
    tools.edit("link.cfg", old, new)
    refused(tools.call("v++", "2023.2", *LINK, *tools.xos), text)


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        ((*LINK, "--fast"), r"60-1520\] unrecognised option '--fast'"),
        ((*LINK[:-2],), "must be an .xclbin"),
        ((*LINK, "--report_level", "9"), r"\('9'\) for option '--report_level'"),
        ((*LINK, "-c"), "one of --compile and --link"),
        ((*LINK, "absent.xo"), r"60-602\] Source file does not exist: absent\.xo"),
        ((*LINK, "link.cfg"), "link.cfg is no XO file"),
        (LINK, "input file of type XO is required"),
        (("-l", "-t", "fpga", *LINK[3:]), r"\('fpga'\) for option '--target'"),
    ],
)
def test_a_command_line_of_the_linker_that_is_wrong(tools: Tools, argv: tuple[str, ...], text: str) -> None:
    refused(tools.call("v++", "2023.2", *argv), text)


COMPILE = ("-c", "--mode", "hls", "--config", "hls.cfg", "--work_dir", "build_layer_norm_k0")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("syn.file=layer_norm_k0.cpp", "syn.file=absent.cpp", r"Source file does not exist: absent\.cpp"),
        ("syn.top=layer_norm_k0", "syn.top=other", "there is no function named 'other'"),
        ("csim.O=true", "csim.fast=true", r"unrecognised option 'hls.csim.fast'"),
        (r"part=\S+", "part=xc7z020", r"Part 'xc7z020' is not installed"),
        ("flow_target=vitis", "flow_target=vivado", "format xo needs flow_target vitis"),
    ],
)
def test_a_configuration_of_synthesis_that_is_wrong(tools: Tools, old: str, new: str, text: str) -> None:
    tools.edit("hls.cfg", old, new)
    refused(tools.call("v++", "2024.2", *COMPILE), text)


def test_what_a_version_does_not_know(tools: Tools) -> None:
    refused(tools.call("v++", "2022.2", *COMPILE), "unrecognised option '--mode'")
    assert not (tools.root / "Vitis" / "2022.2" / "bin" / "vitis-run").exists()
    assert not (tools.root / "Vitis_HLS" / "2024.2").exists()
    refused(tools.call("vitis_hls", "2022.2", "-q"), "Unknown option '-q'")
    refused(tools.call("vitis-run", "2024.2", "--mode", "hls", "--cosim", "--tcl"), "give --mode hls and one of")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("csynth_design", "synthesise_design", 'invalid command name "synthesise_design"'),
        ("csynth_design", "csynth_design -fast", r"HLS 200-101\] 'csynth_design': Unknown option '-fast'"),
        (r"set_top \$kernel", "set_top other", "there is no function named 'other'"),
        (r"add_files \$kernel.cpp", "add_files absent.cpp", r"200-40\] Cannot find design file 'absent\.cpp'"),
        (r"\{xcu55c-fsvh2892-2L-e\}", "xc7z020", r"Part 'xc7z020' is not installed"),
    ],
)
def test_a_script_that_is_wrong(tools: Tools, old: str, new: str, text: str) -> None:
    tools.edit("run_hls.tcl", old, new)
    refused(tools.call("vitis_hls", "2022.2", "-f", "run_hls.tcl"), text)


def test_components_are_of_the_newer_tools(tools: Tools) -> None:
    code, old = tools.call("vitis_hls", "2022.2", "-f", "run_hls.tcl")
    assert code == 0
    code, new = tools.call("vitis-run", "2025.1", "--mode", "hls", "--tcl", "run_hls.tcl")
    assert code == 0
    assert "open_project" in old
    assert "open_component" not in old
    assert "open_component" in new


def test_cosim_wants_depths_data_and_a_synthesis(tools: Tools) -> None:
    argv = ("--mode", "hls", "--cosim", "--config", "hls.cfg", "--work_dir", "build_layer_norm_k0")
    refused(tools.call("vitis-run", "2024.2", *argv), "cannot be started")
    assert tools.call("v++", "2024.2", *COMPILE)[0] == 0
    (tools.hls.parent / "params" / "manifest.json").unlink()
    refused(tools.call("vitis-run", "2024.2", *argv), "no folder above tb.cpp holds params/manifest.json")
    tools.edit("layer_norm_k0.cpp", r" depth=\d+", "")
    refused(tools.call("vitis-run", "2024.2", *argv), "A depth specification is required for interface port 'x_0'")


def test_a_header_that_is_missing(tools: Tools) -> None:
    (tools.hls / "layer_norm_tasks.h").unlink()
    refused(tools.call("v++", "2024.2", *COMPILE), "HLS 207-812.*'layer_norm_tasks.h' file not found")


def test_calls_are_recorded_and_running_ones_are_marked(tools: Tools, tmp_path: Path) -> None:
    control(tools.root, FAIL="hang", CALLS=str(tmp_path / "calls"), RUNNING=str(tmp_path / "running"))
    (tmp_path / "running").mkdir()
    program = tools.root / "Vitis" / "2024.2" / "bin" / "v++"
    with subprocess.Popen([program, *COMPILE], cwd=tools.hls, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any("hangs" in line for line in process.stdout)
        assert running(tmp_path / "running") == 1
        for child in psutil.Process(process.pid).children():
            child.kill()
        process.kill()
    assert running(tmp_path / "running") == 0
    (call,) = calls(tmp_path / "calls")
    assert (call["tool"], call["argv"], call["cwd"]) == ("v++", list(COMPILE), str(tools.hls))


def test_the_environment_wins(tools: Tools) -> None:
    control(tools.root, FAIL="licence")
    assert tools.call("v++", "2024.2", *COMPILE, MILLRACE_STANDIN_FAIL="")[0] == 0
    refused(tools.call("v++", "2024.2", *COMPILE, MILLRACE_STANDIN_FAIL="other"), "unknown fault 'other'; there are c_")
