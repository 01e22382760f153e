"""`millrace simulate`: what it prints and writes, and how it ends."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_graphs import mlp
from through_memory import through_memory
from timed_designs import residual, to_json
from typer.testing import CliRunner

from cli.main import app
from cli.stalling import stalling_text
from cli.timeline import NOTHING, bar, chosen
from compiler.design_dir import digests
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.simulate import simulate_design
from compiler.simulator.timing.simulation import TaskTimeline
from compiler.toolchain.hls.csynth import CsynthReport

RUNNER = CliRunner()


def design_of(folder: Path, bypass: int, **description: Any) -> Path:
    (folder / "dataflow.json").write_text(json.dumps(to_json(residual(bypass))))
    described = {"platform": "u55c", "metrics": [], "digests": digests(folder), **description}
    (folder / "design.json").write_text(json.dumps(described))
    return folder


def test_latency_limits_and_timeline_are_printed(tmp_path: Path) -> None:
    metrics = [{"name": "cycles", "value": 33, "fidelity": "estimate"}]
    result = RUNNER.invoke(app, ["simulate", str(design_of(tmp_path, 8, metrics=metrics))])
    assert result.exit_code == 0, result.output
    cycles = json.loads((tmp_path / "simulation.json").read_text())["cycles"]
    assert f"({cycles} cycles at 250 MHz); the estimate is 33 cycles, {100 * (33 / cycles - 1):+.1f} %" in result.output
    assert "busiest: source" in result.output
    assert "bypass" in result.output
    assert "█" in result.output


def test_whether_it_ends_with_stalling_pipelines_is_printed(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["simulate", str(design_of(tmp_path, 8))])
    assert result.exit_code == 0, result.output
    said = "with stalling pipelines (stp) it would deadlock: simulated up to cycle 12, bypass is full"
    assert said in result.output.replace("\n", " ")
    assert json.loads((tmp_path / "simulation.json").read_text())["stalling"]["fifo"] == "bypass"


def test_what_is_said_of_stalling_pipelines() -> None:
    assert stalling_text(True, 1204, None) == "with stalling pipelines (stp) it ends, too: 1,204 simulated cycles"
    assert stalling_text(False, 12, None) == "with stalling pipelines (stp) it would deadlock: simulated up to cycle 12"
    assert stalling_text(None, None, None) == "with stalling pipelines (stp): simulating it took too long"


def test_a_deadlock_is_explained_and_is_a_no(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["simulate", str(design_of(tmp_path, 4))])
    assert result.exit_code == 1, result.output
    assert "DEADLOCK" in result.output
    assert "bypass at least 8 deep instead of 4" in result.output.replace("\n", " ")
    assert json.loads((tmp_path / "simulation.json").read_text())["deadlock"]["fifo"] == "bypass"


def test_a_load_that_asks_too_early_is_named_and_is_a_no(tmp_path: Path) -> None:
    (tmp_path / "dataflow.json").write_text(json.dumps(through_memory().to_json()))
    result = RUNNER.invoke(app, ["simulate", str(tmp_path)])
    assert result.exit_code == 1, result.output
    assert "HAZARD load_k may read what k was before store_k writes it" in result.output.replace("\n", " ")


def test_json_is_the_file(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["simulate", str(design_of(tmp_path, 8)), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads((tmp_path / "simulation.json").read_text())


def test_a_bare_dataflow_file_is_enough(tmp_path: Path) -> None:
    (tmp_path / "dataflow.json").write_text(json.dumps(to_json(residual(8))))
    result = RUNNER.invoke(app, ["simulate", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "estimate" not in result.output


def test_an_edited_design_is_simulated_only_on_request(tmp_path: Path) -> None:
    design_of(tmp_path, 4)
    (tmp_path / "dataflow.json").write_text(json.dumps(to_json(residual(8))))
    refused = RUNNER.invoke(app, ["simulate", str(tmp_path)])
    assert "dataflow.json was edited, removed or added" in str(refused.exception)
    allowed = RUNNER.invoke(app, ["simulate", str(tmp_path), "--allow-edited"])
    assert allowed.exit_code == 0, allowed.output
    assert "edited since: dataflow.json" in allowed.output.replace("\n", " ")


def test_simulating_twice_is_no_edit(tmp_path: Path) -> None:
    design_of(tmp_path, 8)
    assert [RUNNER.invoke(app, ["simulate", str(tmp_path)]).exit_code for _ in range(2)] == [0, 0]


def test_a_folder_without_a_design_is_refused(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["simulate", str(tmp_path)])
    assert "it has no dataflow.json" in str(result.exception)


def test_a_report_of_another_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import compiler.design_dir

    monkeypatch.setattr(compiler.design_dir, "stored_tasks", lambda *_: None)
    report = tmp_path / "report.xml"
    report.write_text("<html>")
    folder = tmp_path / "d"
    folder.mkdir()
    result = RUNNER.invoke(app, ["simulate", str(design_of(folder, 8)), "--csynth", str(report)])
    assert "report.xml is no report that can be read" in str(result.exception)


def test_reported_timing_replaces_the_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import compiler.design_dir

    planned = planned_tasks(mlp(), Knobs(default_tile_size=4, overall_unroll=8), load_platform("u55c"))

    def slower(tasks: TaskGraph, _report: CsynthReport, _names: Mapping[str, tuple[str, str]]) -> TaskGraph:
        return replace(tasks, tasks=tuple(replace(t, timing=replace(t.timing, ii=9)) for t in tasks.tasks))

    monkeypatch.setattr(compiler.design_dir, "stored_tasks", lambda *_: planned)
    monkeypatch.setattr(compiler.design_dir, "parse_report", lambda _: object.__new__(CsynthReport))
    monkeypatch.setattr(compiler.design_dir, "replace_timing", slower)
    design_of(tmp_path, 8)
    (tmp_path / "dataflow.json").write_text(json.dumps(planned.to_json()))
    arguments = ["simulate", str(tmp_path), "--json", "--allow-edited"]
    plain = RUNNER.invoke(app, arguments)
    reported = RUNNER.invoke(app, [*arguments, "--csynth", "csynth.xml"])
    assert plain.exit_code == reported.exit_code == 0, reported.output
    assert json.loads(reported.stdout)["cycles"] > 3 * json.loads(plain.stdout)["cycles"]


def test_a_bar_shows_what_a_task_does_most() -> None:
    row = TaskTimeline("t", (1.0, 0.2, 0.1, 0.0), (0.0, 0.8, 0.1, 0.0), (0.0, 0.0, 0.8, 0.0))
    assert bar(row, columns=4) == f"█░▒{NOTHING}"
    assert bar(row, columns=8) == f"██░░▒▒{NOTHING}{NOTHING}"
    assert len(bar(row, columns=3)) == 3


def test_a_bar_of_nothing_is_empty() -> None:
    assert bar(TaskTimeline("t", (), (), ()), columns=5) == NOTHING * 5


def test_the_busiest_tasks_are_shown_in_the_order_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    import cli.timeline

    found = simulate_design(residual(8), load_platform("u55c"))
    monkeypatch.setattr(cli.timeline, "ROWS", 2)
    names = [t.name for t in found.timeline.tasks]
    two = [t.name for t in chosen(found, every_task=False)]
    assert len(two) == 2
    assert two == sorted(two, key=names.index)
    assert [t.name for t in chosen(found, every_task=True)] == names
