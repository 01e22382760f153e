"""C simulation of a damaged design directory: the file is named, and what to do."""

import json
from pathlib import Path

import pytest
from small_graphs import mlp

from compiler.design_dir import digests, edited_files
from compiler.errors import InvalidInputError
from compiler.frontend.graph_json import graph_to_json
from compiler.proof.csim import csim

DESCRIPTION = {"platform": "u55c", "workload": {"precision": "f32"}}


def design(folder: Path, description: object = DESCRIPTION, graph: str | None = None, ir: str = "module {") -> Path:
    """A directory with the files that are read before anything is built; `description` gets their digests."""
    (folder / "tb").mkdir()
    if graph is not None:
        (folder / "tb" / "graph.json").write_text(graph)
    (folder / "ir").mkdir()
    (folder / "ir" / "10-size-fifos.mlir").write_text(ir)
    if isinstance(description, dict):
        description = {**description, "digests": digests(folder)}
    (folder / "design.json").write_text(json.dumps(description))
    return folder


@pytest.mark.parametrize("description", [[], {}, {"platform": "u55c", "workload": {"precision": "w3"}}])
def test_a_description_without_its_parts(tmp_path: Path, description: object):
    with pytest.raises(InvalidInputError, match=r"design\.json is (missing or )?damaged"):
        csim(design(tmp_path, description))


@pytest.mark.parametrize("graph", [None, "{", "[]", "{}"])
def test_a_network_that_is_missing_or_cut_off(tmp_path: Path, graph: str | None):
    with pytest.raises(InvalidInputError, match=r"graph\.json is missing or damaged"):
        csim(design(tmp_path, graph=graph))


@pytest.mark.parametrize("ir", ["module {", "builtin.module {}", "%0 = tensor.empty() : tensor<1xf32>", ""])
def test_an_ir_that_is_cut_off_or_of_another_stage(tmp_path: Path, ir: str):
    with pytest.raises(
        InvalidInputError, match=r"10-size-fifos\.mlir is missing or damaged .*compile the design again"
    ):
        csim(design(tmp_path, graph=json.dumps(graph_to_json(mlp())), ir=ir))


@pytest.mark.parametrize("how", ["edited", "removed", "added", "added source"])
def test_a_design_that_is_not_as_it_was_compiled(tmp_path: Path, how: str):
    folder = design(tmp_path, graph=json.dumps(graph_to_json(mlp())))
    name = {"added": "ir/11-mine.mlir", "added source": "hls/mine.cpp"}.get(how, "tb/graph.json")
    if how == "removed":
        (folder / name).unlink()
    else:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    with pytest.raises(InvalidInputError, match=rf"{name} was edited, removed or added .* --allow-edited"):
        csim(folder)
    with pytest.raises(InvalidInputError, match="is missing or damaged"):  # taken as it is, which is worse still
        csim(folder, allow_edited=True)


def test_what_running_a_design_makes_does_not_count(tmp_path: Path):
    folder = design(tmp_path)
    for made in ("csim", "out", "hls"):
        (folder / made).mkdir()
        (folder / made / "log").write_text("")
    assert edited_files(folder) == ()
