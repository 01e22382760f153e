"""Sources: which file is what, what may not be opened, and the one workload of a network from a file."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.inputs import source
from compiler.frontend.inputs.source import (
    FileSource,
    format_of,
    model_name,
    resolve_source,
    source_from_json,
    source_to_json,
    whole_network,
    workload_of,
)
from compiler.frontend.models.config import ModelSource, resolve_model
from compiler.options import Workload


@pytest.mark.parametrize("name", ["net.onnx", "Net.ONNX", "net.mlir"])
def test_files_are_told_apart_by_suffix(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"content")
    made = resolve_source(path)
    assert made == FileSource(Path(name).stem, path, format_of(name) or "onnx")
    assert source_from_json(source_to_json(made)) == made


def test_families_are_what_they_were() -> None:
    made = resolve_source("gpt2")
    assert made == resolve_model("gpt2")
    assert source_from_json(source_to_json(made)) == made


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no file"):
        resolve_source(tmp_path / "net.onnx")
    (tmp_path / "folder.onnx").mkdir()
    with pytest.raises(InvalidInputError, match="there is no file"):
        resolve_source(tmp_path / "folder.onnx")


def test_pt2_needs_permission(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(b"")
    with pytest.raises(UnsupportedError, match="runs whatever code they name"):
        resolve_source(path)
    assert isinstance(resolve_source(path, allow_pt2=True), FileSource)


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(source.MAX_FILE_BYTES, "onnx", 100)
    (tmp_path / "net.onnx").write_bytes(bytes(101))
    with pytest.raises(InvalidInputError, match=r"net.onnx has .* an .onnx file may have"):
        resolve_source(tmp_path / "net.onnx")


@pytest.mark.parametrize(
    ("name", "made"), [("vit block.onnx", "vit_block"), ("..onnx", "model"), ("é.mlir", "model"), ("a.b.onnx", "a.b")]
)
def test_model_names(name: str, made: str) -> None:
    assert model_name(Path(name)) == made


def test_an_index_behind_a_link_keeps_its_name(tmp_path: Path) -> None:
    """Hubs keep files under their digests: the name of the link says what the file is, and where its shards lie."""
    (tmp_path / "blob").write_text("{}")
    index = tmp_path / "model.safetensors.index.json"
    index.symlink_to("blob")
    source = ModelSource("gpt2", resolve_model("gpt2").config, index)
    assert source_from_json(source_to_json(source)) == source


def test_a_file_has_one_workload() -> None:
    file = FileSource("net", Path("net.onnx"), "onnx")
    whole = whole_network("net")
    assert workload_of(file, Workload("x", "decode", 77, "f32")) == whole
    assert whole.rows == 1
    in_integers = replace(whole, precision="w8a8")
    assert workload_of(file, in_integers) == in_integers
    with pytest.raises(InvalidInputError, match="layers must be 1"):
        workload_of(file, replace(whole, layers=2))
    in_a_row = replace(whole, batch=8)
    assert workload_of(file, in_a_row) == in_a_row
    with pytest.raises(InvalidInputError, match="whose attention is not known"):
        workload_of(file, replace(whole, precision="w8a8kv8"))
    family = ModelSource("gpt2", resolve_model("gpt2").config)
    asked = Workload("gpt2", "decode", 77)
    assert workload_of(family, asked) == asked
    with pytest.raises(InvalidInputError, match="only files take several"):
        workload_of(family, replace(asked, batch=2))
