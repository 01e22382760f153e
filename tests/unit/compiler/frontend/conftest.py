"""Networks converted in this process, without the walls of the importer's own: a subprocess each would take seconds."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from onnx import ModelProto
from onnx_models import save

from compiler.frontend.bundle import Bundle, load_bundle
from compiler.frontend.inputs.source import FileSource, format_of, whole_network
from compiler.frontend.models.config import ModelConfig, ModelSource
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.scan.scan import scan
from compiler.options import Phase, Precision, Workload

MakeBundle = Callable[..., Bundle]
ImportFile = Callable[..., Bundle]
ImportOnnx = Callable[[ModelProto], Bundle]
TINY = Gpt2Config(n_embd=64, n_head=4, n_layer=2, n_inner=256, n_positions=64)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What converts a network is slow: loading torch alone takes seconds."""
    for item in items:
        if {"make_bundle", "import_file"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def make_bundle(tmp_path_factory: pytest.TempPathFactory) -> MakeBundle:
    """`make_bundle(phase, precision, length=8, layers=1, config=TINY)`, each made once a session."""
    from compiler.frontend.convert import convert

    @cache
    def make(
        phase: Phase, precision: Precision, length: int = 8, layers: int = 1, config: ModelConfig = TINY
    ) -> Bundle:
        directory: Path = tmp_path_factory.mktemp("bundle")
        workload = Workload("tiny", phase, length, precision, layers=layers)
        convert(ModelSource("tiny", config), workload, directory, lambda _: None)
        return load_bundle(directory)

    return make


@pytest.fixture
def import_file(tmp_path: Path) -> ImportFile:
    """`import_file(path, batch=1)`: the bundle of the network in a file, with so many inputs."""
    from compiler.frontend.convert import convert

    def make(path: Path, batch: int = 1) -> Bundle:
        form = format_of(path.name)
        assert form is not None
        directory = tmp_path / f"bundle-{path.name}"
        directory.mkdir()
        with path.open("rb") as file:
            scan(file.fileno(), form, "net")
        convert(FileSource("net", path, form), replace(whole_network("net"), batch=batch), directory, lambda _: None)
        return load_bundle(directory)

    return make


@pytest.fixture
def import_onnx(tmp_path: Path, import_file: ImportFile) -> ImportOnnx:
    """`import_onnx(model)`: the bundle of a network that was built in code."""
    return lambda model: import_file(save(model, tmp_path / "net.onnx"))
