"""Configuration of synthesis: options that UG1399 knows, files that exist, a script for old and new tools.


The script is run by Tcl with stand-ins for the commands of the tools that record their calls.
"""

import os
from functools import partial
from pathlib import Path

import pytest
import tcl
from needed import need
from networks import NETWORKS

from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.interface import plan_interface

U55C = load_platform("u55c")

# UG1399 2023.2 to 2026.1, "HLS Config File Commands" and "Tcl to Config File Command Map".
DOCUMENTED = {
    *("part", "flow_target", "clock", "syn.top", "syn.file", "syn.cflags", "tb.file", "tb.cflags"),
    *("csim.O", "cosim.O", "package.output.format", "package.output.file", "package.output.syn"),
}
TOOL_COMMANDS = (
    *("open_project", "open_solution", "set_top", "add_files", "set_part", "create_clock"),
    *("csim_design", "csynth_design", "cosim_design", "export_design"),
)


@pytest.fixture(scope="module")
def hls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hls/ folder of a design with several kernels."""
    folder = tmp_path_factory.mktemp("design")
    network = NETWORKS["layer_norm"]()
    graph = network.graph()
    tasks = planned_tasks(graph, Knobs(fusion_budget=0, default_tile_size=8), U55C)
    emit_design(tasks, graph, U55C, NetworkData(network.tensors, network.expected, 1e-5), folder)
    assert len(plan_interface(tasks, graph).kernels) > 1
    return folder / "hls"


def test_each_kernel_has_a_configuration_of_documented_options(hls: Path) -> None:
    configurations = sorted(hls.glob("hls*.cfg"))
    tops = set[str]()
    for file in configurations:
        lines = [line for line in file.read_text().splitlines() if line and line[0] not in "#["]
        options = [line.split("=", 1) for line in lines]
        assert {name for name, _ in options} <= DOCUMENTED
        sources = [value for name, value in options if name in {"syn.file", "tb.file"}]
        assert all((hls / source).is_file() for source in sources)
        assert len(set(sources)) == len(sources) == len(list(hls.glob("*.cpp")))
        tops.add(dict(options)["syn.top"])
        assert f"{dict(options)['syn.top']}.cpp" in sources
    assert len(tops) == len(configurations) == len(list(hls.glob("*_k?.cpp")))


def run_script(hls: Path, components: bool, steps: str | None = None) -> list[list[str]]:
    """Calls of the tool's commands, each with its arguments."""
    need("tclsh")
    calls: list[list[str]] = []

    def record(*call: str) -> str:
        calls.append(list(call))
        return ""

    names = (*TOOL_COMMANDS, *(["open_component"] if components else []))
    environment = {name: value for name, value in os.environ.items() if name != "MILLRACE_STEPS"}
    given = {} if steps is None else {"MILLRACE_STEPS": steps}
    commands = {name: partial(record, name) for name in names} | {"exit": lambda *_: ""}
    tcl.source(hls / "run_hls.tcl", commands, environment | given)
    return calls


@pytest.mark.parametrize("components", [False, True], ids=["projects (2022.2)", "components (2025.x)"])
def test_the_script_synthesises_and_exports_every_kernel(
    hls: Path, components: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hls)
    calls = run_script(hls, components)
    tops = [call[1] for call in calls if call[0] == "set_top"]
    assert tops == sorted(f.stem for f in hls.glob("*_k?.cpp"))
    opened = [call for call in calls if call[0].startswith("open_")]
    if components:
        assert opened == [["open_component", "-reset", f"build_{top}", "-flow_target", "vitis"] for top in tops]
    else:
        solution = ["open_solution", "-reset", "solution", "-flow_target", "vitis"]
        assert opened == [call for top in tops for call in (["open_project", "-reset", f"build_{top}"], solution)]
    assert [call[0] for call in calls if call[0].endswith("_design")] == ["csynth_design", "export_design"] * len(tops)
    assert [call[-1] for call in calls if call[0] == "export_design"] == [str(hls / f"{top}.xo") for top in tops]
    added = [call[2] if call[1] == "-tb" else call[1] for call in calls if call[0] == "add_files"]
    assert all((hls / file).is_file() for file in added)
    assert len(added) == len(tops) * len(list(hls.glob("*.cpp")))


def test_the_environment_says_which_steps_run(hls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hls)
    calls = run_script(hls, components=True, steps="csim csynth cosim")
    steps = [call for call in calls if call[0].endswith("_design")]
    design = str(hls.parent)
    assert steps[:3] == [["csim_design", "-argv", design], ["csynth_design"], ["cosim_design", "-argv", design]]
    with pytest.raises(tcl.TclError, match="unknown step link; the steps are csim"):
        run_script(hls, components=True, steps="link")
