"""The adapter against the stand-in, for every version: what is called, and what comes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from fixtures import REAL
from sliced_engines import emit_sliced
from vitis_standin.bench import VERSIONS, Bench, make_bench
from vitis_standin.designs import KERNELS
from vitis_standin.install import U55C, calls

from compiler.errors import InvalidInputError
from compiler.graph.task_graph import EngineTask, ForkTask
from compiler.metrics import Fidelity
from compiler.targets.functions import modules
from compiler.toolchain.hls.csynth import CsynthReport
from compiler.toolchain.reports import parse_report
from compiler.toolchain.timing_spec import replace_timing
from compiler.toolchain.vitis.commands import LinkOptions
from compiler.toolchain.vitis.environment import tool_environment

pytestmark = pytest.mark.slow

OLD = ("2022.2", "2023.2")


def recorded(bench: Bench) -> list[dict[str, Any]]:
    return calls(bench.root / "calls.jsonl")


@pytest.fixture(autouse=True)
def record(bench: Bench) -> None:
    bench.tell(CALLS=str(bench.root / "calls.jsonl"))


@pytest.mark.parametrize("version", VERSIONS)
def test_csynth(bench: Bench, version: str) -> None:
    lines: list[str] = []
    result = bench.csynth(version, on_line=lines.append)
    assert result.passed, result.failures
    assert result.failures == ()
    assert [str(f) for f in result.files if f.suffix == ".xo"] == [f"{k}.xo" for k in KERNELS]
    assert all((bench.out / "csynth" / f).is_file() for f in result.files)
    assert any("Estimated Fmax" in line for line in lines)
    tool = "vitis_hls" if version in OLD else "v++"
    assert [c["tool"] for c in recorded(bench)] == [tool] * 3
    if version in OLD:
        assert [c["argv"] for c in recorded(bench)] == [["-f", "run_hls.tcl"]] * 3
        assert [c["environment"]["MILLRACE_KERNELS"] for c in recorded(bench)] == list(KERNELS)
        assert {c["environment"]["MILLRACE_STEPS"] for c in recorded(bench)} == {"csynth export"}
    else:
        configs = ("hls.cfg", "hls_k1.cfg", "hls_k2.cfg")
        assert [c["argv"] for c in recorded(bench)] == [
            ["-c", "--mode", "hls", "--config", config, "--work_dir", f"build_{kernel}"]
            for config, kernel in zip(configs, KERNELS, strict=True)
        ]
    assert result.tool_versions["v++"] == version


def test_csynth_sums_areas_and_latencies_and_takes_the_slowest_clock(bench: Bench) -> None:
    result = bench.csynth()
    kernels = list(result.verdict["kernels"].values())
    assert len(kernels) == len(KERNELS)
    figures = {m.name: m.value for m in result.metrics}
    for name in ("cycles", "latency", "lut", "ff", "dsp", "bram36", "uram"):
        assert figures[name] == pytest.approx(sum(kernel[name] for kernel in kernels))
    assert figures["lut"] == 500 * len(bench.tasks.tasks)
    assert figures["fmax"] == min(kernel["fmax"] for kernel in kernels)
    assert figures["latency"] == pytest.approx(figures["cycles"] / 250)
    assert {m.fidelity for m in result.metrics} == {Fidelity.CSYNTH}
    assert {(m.tool, m.tool_version) for m in result.metrics} == {("vitis_hls", "2023.2")}


def test_the_reports_replace_the_timing_of_every_task(bench: Bench) -> None:
    result = bench.csynth()
    tasks = bench.tasks
    for file in (f for f in result.files if f.name == "csynth.xml"):
        report = parse_report(bench.out / "csynth" / file)
        assert isinstance(report, CsynthReport)
        tasks = replace_timing(tasks, report, modules(bench.tasks))
    pairs = list(zip(bench.tasks.tasks, tasks.tasks, strict=True))
    assert all(new.timing.depth > old.timing.depth for old, new in pairs)
    assert all(new.timing.ii == old.timing.ii for old, new in pairs)


def test_equal_slices_are_one_function_of_the_tool(tmp_path: Path) -> None:
    """It is asked once, has one module with many instances, and counts the area of each."""
    tasks = emit_sliced(24, tmp_path / "design")
    (tmp_path / "design" / "dataflow.json").write_text(json.dumps(tasks.to_json()))
    bench = make_bench(tmp_path, tmp_path / "design", tasks)
    bench.tell(CALLS=str(bench.root / "calls.jsonl"))
    result = bench.csynth("2024.2")
    assert result.passed, result.failures
    assert len(recorded(bench)) == 1
    (file,) = (f for f in result.files if f.name == "csynth.xml")
    report = parse_report(bench.out / "csynth" / file)
    assert isinstance(report, CsynthReport)
    made = {name: function for name, (_, function) in modules(tasks).items()}
    slices = [task.name for task in tasks.tasks if isinstance(task, EngineTask)]
    assert len(slices) == 24
    assert len({made[name] for name in slices}) == 1
    handed_on = [task.name for task in tasks.tasks if isinstance(task, ForkTask) and "deal" in task.name]
    assert len(handed_on) == 23
    assert len({made[name] for name in handed_on}) == 1
    assert len(report.modules) == len(set(made.values())) + 1  # the kernel
    assert {m.name: m.value for m in result.metrics}["lut"] == 500 * len(tasks.tasks)
    assert len(result.verdict["pipelines"]) == len(set(made.values()))
    found = replace_timing(tasks, report, modules(tasks))
    assert all(new.timing.depth > old.timing.depth for old, new in zip(tasks.tasks, found.tasks, strict=True))


def test_csynth_of_one_kernel(bench: Bench) -> None:
    result = bench.csynth("2024.2", kernels=KERNELS[1:2])
    assert list(result.verdict["kernels"]) == [KERNELS[1]]
    with pytest.raises(InvalidInputError, match=r"no kernel 'other'; it has layer_norm_k0, "):
        bench.csynth(kernels=("other",))


@pytest.mark.skipif(not REAL.is_dir(), reason="the real tool reports are not here")
def test_csynth_with_the_report_of_a_real_run(bench: Bench) -> None:
    bench.tell(REPORTS="real")
    result = bench.csynth("2025.1")
    assert result.passed, result.failures
    assert {m.tool_version for m in result.metrics} == {"2023.2"}
    assert "cycles" not in {m.name for m in result.metrics}  # the latency of that design depends on its data
    assert any("synthesis estimates" in note for note in result.notes)  # its timing violation is no failure


@pytest.mark.parametrize("version", VERSIONS)
def test_cosim(bench: Bench, version: str) -> None:
    result = bench.cosim(version)
    assert result.passed, result.failures
    figures = {m.name: m for m in result.metrics}
    kernels = list(result.verdict["kernels"].values())
    assert figures["cycles"].value == sum(kernel["cycles"] for kernel in kernels)
    assert figures["latency"].value == pytest.approx(figures["cycles"].value / 250)
    assert {(m.fidelity, m.tool_version) for m in result.metrics} == {(Fidelity.COSIM, version)}
    assert sorted(f.name for f in result.files if f.suffix == ".rpt") == ["cosim.rpt"] * 3
    if version in OLD:
        assert {c["environment"]["MILLRACE_STEPS"] for c in recorded(bench)} == {"csynth cosim"}
        assert len(recorded(bench)) == len(KERNELS)
    else:
        assert [c["tool"] for c in recorded(bench)] == ["v++", "vitis-run"] * len(KERNELS)
        assert recorded(bench)[1]["argv"][:3] == ["--mode", "hls", "--cosim"]


@pytest.mark.parametrize("version", VERSIONS)
def test_link(bench: Bench, version: str) -> None:
    result = bench.link(version)
    assert result.passed, result.failures
    figures = {m.name: m for m in result.metrics}
    assert figures["clock"].value == 250
    assert figures["clock"].tool_version == version
    assert figures["lut"].value == 3 * 8200
    assert figures["power"].value > 0
    assert {m.fidelity for m in result.metrics} == {Fidelity.LINK}
    assert Path("layer_norm.xclbin") in result.files
    assert set(result.verdict["kernels"]) == set(KERNELS)
    assert result.notes == ()
    call = recorded(bench)[-1]
    assert call["tool"] == "v++"
    assert call["argv"][:7] == ["-l", "-t", "hw", "--platform", U55C, "--config", "link.cfg"]
    assert "--kernel_frequency" not in call["argv"]  # link.cfg has the design's
    assert call["environment"]["PLATFORM_REPO_PATHS"] == str(bench.root / "platforms")
    assert call["environment"]["XILINX_VIVADO"].endswith(f"{version}/Vivado" if version == "2025.1" else version)


def test_link_for_another_clock(bench: Bench) -> None:
    result = bench.link(options=LinkOptions(U55C, clock_mhz=200))
    assert {m.name: m.value for m in result.metrics}["clock"] == 200
    argv = recorded(bench)[-1]["argv"]
    assert argv[argv.index("--kernel_frequency") + 1] == "0:200"


def test_link_for_emulation_has_a_binary_and_no_clock(bench: Bench) -> None:
    result = bench.link(options=LinkOptions(U55C, target="hw_emu"))
    assert result.passed, result.failures
    assert result.metrics == ()
    assert result.verdict["clock_mhz"] is None
    assert Path("layer_norm.xclbin") in result.files


def test_a_link_across_dies_names_the_floorplan_by_its_whole_path(bench: Bench) -> None:
    floorplan = bench.design / "hls" / "floorplan.tcl"
    floorplan.write_text("# nothing\n")
    try:
        assert bench.link().passed
    finally:
        floorplan.unlink()
    argv = recorded(bench)[-1]["argv"]
    prop = argv[argv.index("--vivado.prop") + 1]
    assert prop.startswith("run.impl_1.STEPS.PLACE_DESIGN.TCL.PRE=/")


def test_the_design_is_not_touched_and_nothing_but_the_results_stays(bench: Bench) -> None:
    before = sorted(p.relative_to(bench.design) for p in bench.design.rglob("*"))
    first = KERNELS[:1]
    results = {"csynth": bench.csynth(kernels=first), "cosim": bench.cosim(kernels=first), "link": bench.link()}
    assert sorted(p.relative_to(bench.design) for p in bench.design.rglob("*")) == before
    for stage, result in results.items():
        left = {p.relative_to(bench.out / stage) for p in (bench.out / stage).rglob("*") if p.is_file()}
        assert left == set(result.files)


def test_secrets_stay_with_the_caller() -> None:
    caller = {
        "PATH": "/bin",
        "HOME": "/h",
        "XILINXD_LICENSE_FILE": "2100@s",
        "MILLRACE_DATABASE": "x",
        "API_TOKEN": "y",
    }
    kept = tool_environment(caller, [Path("/t/bin")], {"XILINX_VITIS": "/t"}, "m")
    assert set(kept) == {"PATH", "HOME", "XILINXD_LICENSE_FILE", "XILINX_VITIS", "LC_ALL", "MILLRACE_RUN"}
    assert kept["PATH"] == "/t/bin:/bin"
