"""dataflow.json is what compiler/dataflow.schema.json says."""

import json
from pathlib import Path
from typing import Any

from dataflow_schema import complaints
from random_turns import turning_graph
from small_graphs import ALL, chain
from stepping_networks import replying, stepping
from window_networks import greatest

from compiler.graph.layers import folded, of_inputs
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

SMALL = Knobs(default_tile_size=4, overall_unroll=8)


def designs() -> dict[str, dict[str, Any]]:
    platform = load_platform("u55c")
    return {name: planned_tasks(make(), SMALL, platform).to_json() for name, make in ALL.items()}


def written(folder: Path, contents: dict[str, dict[str, Any]]) -> list[Path]:
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return sorted(folder.iterdir())


def test_designs_fit_the_schema(tmp_path: Path) -> None:
    assert complaints(written(tmp_path, designs())) == ""


def test_designs_that_go_round_fit_the_schema(tmp_path: Path) -> None:
    assert complaints(written(tmp_path, {str(seed): turning_graph(seed).to_json() for seed in range(30)})) == ""


def test_designs_with_rows_fit_the_schema(tmp_path: Path) -> None:
    graph = folded(stepping())
    assert graph is not None
    document = planned_tasks(graph, SMALL, load_platform("u55c")).to_json()
    places = {place for task in document["tasks"] if task["dma"] for place in ("at", "below") if place in task["dma"]}
    assert places == {"at", "below"}
    assert complaints(written(tmp_path, {"stepping": document})) == ""


def test_a_design_that_makes_a_reply_fits_the_schema_if_it_says_who_answers(tmp_path: Path) -> None:
    graph = folded(replying())
    assert graph is not None
    document = planned_tasks(graph, SMALL, load_platform("u55c")).to_json()
    control = {name: value for name, value in document["control"].items() if name != "made"}
    said = complaints(written(tmp_path, {"right": document, "wrong": document | {"control": control}}))
    assert "'made' is a required property" in said
    assert "right.json" not in said


def test_designs_with_windows_fit_the_schema(tmp_path: Path) -> None:
    network, u55c = greatest(8, 4, kernel=3, stride=2, padding=1), load_platform("u55c")
    document, several = (planned_tasks(of_inputs(network, count), SMALL, u55c).to_json() for count in (1, 3))
    assert several["inputs"] == 3
    walks = [task["window"] for task in document["tasks"] if task["kind"] == "window"]
    assert walks == 2 * [{"lines": 8, "windows": 4, "kernel": 3, "stride": 2, "dilation": 1, "padding": 1, "repeat": 1}]
    assert complaints(written(tmp_path, {"windows": document, "several": several})) == ""


def test_designs_whose_tokens_cross_in_words_fit_the_schema(tmp_path: Path) -> None:
    lanes = tuple(TaskOverride(op, unroll=64) for op in ("m1", "m2"))
    knobs = Knobs(default_tile_size=64, engines="shared", loads="joint", stream_width=2048, overrides=lanes)
    document = planned_tasks(chain(64, 128, 64), knobs, load_platform("u55c")).to_json()
    assert [task["pieces"] for task in document["tasks"] if "pieces" in task] == [2]
    assert complaints(written(tmp_path, {"words": document})) == ""


def test_a_converter_without_its_exact_requirement_does_not(tmp_path: Path) -> None:
    design = next(iter(designs().values()))
    converter = next(task["converter"] for task in design["tasks"] if task["converter"] is not None)
    assert converter["exact_bytes"] <= converter["bytes"] <= converter["paper_bytes"]
    del converter["exact_bytes"]
    assert "'exact_bytes' is a required property" in complaints(written(tmp_path, {"design": design}))
