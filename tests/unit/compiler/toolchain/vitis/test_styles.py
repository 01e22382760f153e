"""A task whose pipeline has another style than its pragma names fails csynth; what HLS does not say is unknown."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from vitis_standin.bench import VERSIONS, Bench
from vitis_standin.designs import KERNELS

from compiler.targets.functions import plan_functions
from compiler.toolchain.hls.csynth import CsynthReport, style_of
from compiler.toolchain.report import Failure
from compiler.toolchain.reports import parse_report
from compiler.toolchain.vitis.result import ToolResult
from compiler.toolchain.vitis.styles import TaskStyle, achieved_styles, named_styles, unknown

SAYS_STYLES = ("2024.2", "2025.1")  # of the stand-in, as published reports do
ENABLING = "INFO: [HLS 200-1552] Enabling free running pipeline (frp) architecture on pipeline 'L' in module '{}'."
DISABLING = ENABLING.replace("1552] Enabling", "1553] Disabling")


def renamed(bench: Bench, folder: Path, function: str, style: str) -> Bench:
    """The design with another style in the pragma of one function."""
    design = folder / "renamed"
    shutil.copytree(bench.design, design)
    for file in (design / "hls").glob("*.cpp"):
        before, found, after = file.read_text().partition(f"\nvoid {function}(")
        if found:
            file.write_text(before + found + after.replace("style=flp", f"style={style}", 1))
    return replace(bench, design=design)


def rows(result: ToolResult) -> set[tuple[str, str | None]]:
    return {(row["named"], row["achieved"]) for row in result.verdict["pipelines"]}


def test_the_pragma_of_every_task_is_found(bench: Bench) -> None:
    named = named_styles(bench.design / "hls")
    assert set(named) == {function.name for function in plan_functions(bench.tasks)}
    assert set(named.values()) == {"flp"}


@pytest.mark.parametrize("version", VERSIONS)
def test_kept_where_the_tool_says_it_unknown_where_not(bench: Bench, version: str) -> None:
    result = bench.csynth(version)
    assert result.passed, result.failures
    functions = plan_functions(bench.tasks)
    named = [(bench.tasks.task[task].kernel, f.name) for f in functions for task in f.members]
    assert {row["task"] for row in result.verdict["pipelines"]} == {name for _, name in named}
    if version in SAYS_STYLES:
        assert rows(result) == {("flp", "flp")}
        assert result.notes == ()
    else:
        assert rows(result) == {("flp", None)}
        count = len(set(named))  # in each kernel
        text = f"HLS does not say which style {count} of {count} pipelines have; the design names flp"
        assert text in result.notes


def test_a_flushable_pipeline_that_comes_out_free_running(bench: Bench) -> None:
    bench.tell(FAIL="csynth:other_style")
    result = bench.csynth(kernels=KERNELS[:1])
    assert (result.passed, result.metrics) == (False, ())
    (failure,) = result.failures
    assert failure.kind == "pipeline"
    assert failure.where == "[HLS 200-1552]"
    assert "names style=flp, but the pipeline that HLS built is frp" in failure.message
    assert "name the style that it has" in failure.lever


def test_a_report_says_it_too(bench: Bench) -> None:
    bench.tell(FAIL="csynth:other_style")
    (failure,) = bench.csynth("2024.2", kernels=KERNELS[:1]).failures
    assert failure.kind == "pipeline"


def test_a_free_running_pipeline_with_a_memory_port_is_dropped(bench: Bench, tmp_path: Path) -> None:
    load = next(function.name for function in plan_functions(bench.tasks) if function.task.kind == "load")
    result = renamed(bench, tmp_path, load, "frp").csynth()
    (failure,) = result.failures
    assert failure.kind == "pipeline"
    assert failure.where == "[HLS 200-1972]"
    assert f"task {load} names style=frp, but the pipeline that HLS built is not frp, because it has M_AXI" in (
        failure.message
    )
    assert "a task of its own" in failure.lever


def test_a_free_running_pipeline_that_holds(bench: Bench, tmp_path: Path) -> None:
    compute = next(function.name for function in plan_functions(bench.tasks) if function.task.kind == "compute")
    result = renamed(bench, tmp_path, compute, "frp").csynth()
    assert result.passed, result.failures
    assert TaskStyle(compute, "frp", "frp", "[HLS 200-1552]").to_json() in result.verdict["pipelines"]


def of_log(tmp_path: Path, named: dict[str, str], *lines: str) -> tuple[tuple[TaskStyle, ...], tuple[Failure, ...]]:
    log = tmp_path / "csynth.log"
    log.write_text("".join(f"{line}\n" for line in lines))
    return achieved_styles(named, log, ())


def test_modules_of_the_same_beginning_are_not_mixed_up(tmp_path: Path) -> None:
    named = {"copy": "frp", "copy_s": "flp", "copy_1": "frp", "process": "frp"}
    modules = ("copy", "copy_1_Pipeline_L", "process_r")
    styles, failures = of_log(tmp_path, named, *(ENABLING.format(module) for module in modules))
    assert [(s.task, s.achieved) for s in styles] == [("copy", "frp"), ("copy_1", "frp"), ("process", "frp")]
    assert failures == ()
    _, failures = of_log(tmp_path, named, ENABLING.format("copy_s"), ENABLING.format("other"))
    assert ["copy_s" in f.message for f in failures] == [True]


def test_that_frp_was_dropped_says_nothing_of_the_other_styles(tmp_path: Path) -> None:
    styles, failures = of_log(tmp_path, {"a": "flp", "b": "stp"}, DISABLING.format("a"), DISABLING.format("b"))
    assert styles == (TaskStyle("a", "flp"), TaskStyle("b", "stp"))
    assert failures == ()
    assert unknown(styles) == "HLS does not say which style 2 of 2 pipelines have; the design names flp, stp"
    assert unknown([TaskStyle("a", "flp", "flp", "csynth report")]) is None


def test_a_task_fails_once_however_often_it_is_said(tmp_path: Path) -> None:
    _, failures = of_log(tmp_path, {"a": "frp"}, DISABLING.format("a"), DISABLING.format("a"))
    assert len(failures) == 1


def test_the_word_of_a_report() -> None:
    assert [style_of(word) for word in ("yes(flp)", "yes(frp)", "yes", "no", "rewind", "dataflow", "")] == (
        ["flp", "frp", None, None, None, None, None]
    )


def test_a_log_that_can_not_be_read_says_nothing(tmp_path: Path) -> None:
    assert achieved_styles({"a": "flp"}, tmp_path / "absent.log", ()) == ((), ())


def test_a_report_in_text_has_the_style_where_the_xml_has_none(bench: Bench) -> None:
    result = bench.csynth("2023.2", kernels=KERNELS[:1])
    xml = next(file for file in result.files if file.name == "csynth.xml")
    report = parse_report(bench.out / "csynth" / xml)
    assert isinstance(report, CsynthReport)
    task = next(task.name for task in bench.tasks.tasks if task.name in report.module and task.timing.iterations > 1)
    module = report.module[task]
    said = replace(module, loops=tuple(replace(loop, style="stp") for loop in module.loops))
    styles, failures = achieved_styles({task: "flp"}, Path("absent"), [report, replace(report, modules=(said,))])
    assert styles == (TaskStyle(task, "flp", "stp", "csynth report"),)
    assert [f.message for f in failures] == [f"task {task} names style=flp, but the pipeline that HLS built is stp"]
