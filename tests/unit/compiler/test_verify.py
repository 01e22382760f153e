"""C simulation of a damaged design directory: the file is named, and what to do."""

import json
from pathlib import Path

import pytest
from small_graphs import mlp

from compiler.errors import InvalidInputError
from compiler.frontend.graph_json import graph_to_json
from compiler.verify import csim

DESCRIPTION = {"platform": "u55c", "workload": {"precision": "f32"}}


def design(folder: Path, description: object = DESCRIPTION, graph: str | None = None, ir: str = "module {") -> Path:
    (folder / "design.json").write_text(json.dumps(description))
    (folder / "tb").mkdir()
    if graph is not None:
        (folder / "tb" / "graph.json").write_text(graph)
    (folder / "ir").mkdir()
    (folder / "ir" / "10-size-fifos.mlir").write_text(ir)
    return folder


@pytest.mark.parametrize("description", [[], {}, {"platform": "u55c", "workload": {"precision": "w3"}}])
def test_a_description_without_its_parts(tmp_path: Path, description: object):
    with pytest.raises(InvalidInputError, match=r"design\.json is missing or damaged"):
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
