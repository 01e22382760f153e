"""Files converted in this process, without the walls of the importer's own: a subprocess each would take seconds."""

from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import ModelProto
from onnx_models import save

from compiler.frontend.bundle import Bundle, load_bundle
from compiler.frontend.inputs.source import FileSource, format_of, whole_network
from compiler.frontend.scan.scan import scan

ImportFile = Callable[[Path], Bundle]
ImportOnnx = Callable[[ModelProto], Bundle]


@pytest.fixture
def import_file(tmp_path: Path) -> ImportFile:
    """`import_file(path)`: the bundle of the network in a file."""
    from compiler.frontend.convert import convert

    def make(path: Path) -> Bundle:
        form = format_of(path.name)
        assert form is not None
        directory = tmp_path / f"bundle-{path.name}"
        directory.mkdir()
        with path.open("rb") as file:
            scan(file.fileno(), form, "net")
        convert(FileSource("net", path, form), whole_network("net"), directory, lambda _: None)
        return load_bundle(directory)

    return make


@pytest.fixture
def import_onnx(tmp_path: Path, import_file: ImportFile) -> ImportOnnx:
    """`import_onnx(model)`: the bundle of a network that was built in code."""
    return lambda model: import_file(save(model, tmp_path / "net.onnx"))
