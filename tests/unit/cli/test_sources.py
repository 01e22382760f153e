"""MODEL on the command line: files, stored files, what does not apply to them."""

from dataclasses import replace
from pathlib import Path

import onnx_models
import pytest
from migrated import migrated
from wire_replies import reply

from cli.commands.explore import model_reference
from cli.commands.model import default_name
from cli.options import Network, PhaseName, PrecisionName
from cli.sources import any_source_of, source_of
from compiler.errors import InvalidInputError, UnsupportedError
from compiler.frontend.inputs.source import FileSource, whole_network
from db.engine import Database
from db.repositories import catalog
from millrace.wire import Model
from worker.settings import Settings
from worker.store.opening import open_store

NET = FileSource("net", Path("net.onnx"), "onnx")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def store(settings: Settings, kind: str, content: bytes) -> None:
    migrated(settings.database)
    digest = open_store(settings).put_bytes(content)
    database = Database(settings.database)
    with database.write() as session:
        catalog.put_model(session, "stored", kind, {"digest": digest, "size": len(content)}, "d")
    database.close()


def test_files(tmp_path: Path, settings: Settings) -> None:
    path = onnx_models.save(onnx_models.mlp(), tmp_path / "net.onnx")
    with any_source_of(str(path), settings, allow_pt2=False) as source:
        assert source == FileSource("net", path, "onnx")
    with pytest.raises(InvalidInputError, match="there is no file"), any_source_of("no.mlir", settings, False):
        pass
    with any_source_of("gpt2", settings, allow_pt2=False) as source:
        assert source == "gpt2"


def test_stored_files(settings: Settings) -> None:
    store(settings, "mlir", b"module {}")
    with any_source_of("stored", settings, allow_pt2=False) as source:
        assert isinstance(source, FileSource)
        assert (source.name, source.format) == ("stored", "mlir")
        assert source.path.read_bytes() == b"module {}"
    with pytest.raises(InvalidInputError, match="needs a language model"), source_of("stored", settings):
        pass
    with pytest.raises(InvalidInputError, match="needs a language model"), source_of("net.onnx", settings):
        pass


def test_pt2_is_announced_and_allowed_by_flag_or_settings(
    tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.pt2"
    path.write_bytes(b"PK")
    with pytest.raises(UnsupportedError, match="--allow-pt2"), any_source_of(str(path), settings, False):
        pass
    allowing = Settings(home=settings.home, allow_pt2=True)
    for given, allow in ((settings, True), (allowing, False)):
        with any_source_of(str(path), given, allow) as source:
            assert isinstance(source, FileSource)
        assert "runs whatever code" in " ".join(capsys.readouterr().err.split())
    store(settings, "pt2", b"PK")
    with pytest.raises(UnsupportedError, match="--allow-pt2"), any_source_of("stored", settings, False):
        pass


def test_the_workload_of_a_file() -> None:
    assert Network().workload_of_file(NET) == whole_network("net")
    assert Network(precision=PrecisionName.F32).workload_of_file(NET) == whole_network("net")
    for phase, seq, context, option in (
        (PhaseName.PREFILL, None, None, "--phase"),
        (None, 4, None, "--seq"),
        (None, None, 4, "--context"),
    ):
        with pytest.raises(InvalidInputError, match=f"{option} does not apply to net.onnx"):
            Network(phase, seq, context).workload_of_file(NET)
    quantised = Network(precision=PrecisionName.W4A8).workload_of_file(NET)
    assert quantised == replace(whole_network("net"), precision="w4a8")
    assert Network(batch=8).workload_of_file(NET) == replace(whole_network("net"), batch=8)
    with pytest.raises(InvalidInputError, match="layers must be 1"):
        Network(layers=2).workload_of_file(NET)


def test_only_what_was_chosen_is_sent() -> None:
    assert Network().request() == {}
    assert Network(PhaseName.PREFILL).request() == {"phase": "prefill", "length": 32}
    assert Network(context=99, precision=PrecisionName.F32, layers=2).request() == {
        "length": 99,
        "precision": "f32",
        "layers": 2,
    }
    assert Network(batch=8).request() == {"batch": 8}
    assert Network(precision=PrecisionName.W8A8, ports="i8").request() == {"precision": "w8a8", "ports": "i8"}
    with pytest.raises(InvalidInputError, match="--seq belongs to"):
        Network(seq=4).request()


def test_names_of_uploads(tmp_path: Path) -> None:
    assert default_name(tmp_path / "my net.onnx") == "my_net"
    assert default_name(tmp_path / "config.json") == tmp_path.name


class _Client:
    """Remembers what was uploaded."""

    def __init__(self) -> None:
        self.added: list[str] = []

    def add_model(self, path: Path, name: str, samples: Path | None) -> Model:
        self.added.append(f"{path.name} as {name}" + (f" with {samples.name}" if samples else ""))
        return reply(Model, id="mdl_1")


def test_explore_uploads_files(tmp_path: Path) -> None:
    client = _Client()
    path = onnx_models.save(onnx_models.mlp(), tmp_path / "net.onnx")
    assert model_reference(client, str(path)) == "mdl_1"  # pyright: ignore[reportArgumentType]
    assert model_reference(client, "gpt2") == "gpt2"  # pyright: ignore[reportArgumentType]
    given = tmp_path / "inputs.npz"
    assert model_reference(client, str(path), given) == "mdl_1"  # pyright: ignore[reportArgumentType]
    assert client.added == ["net.onnx as net", "net.onnx as net with inputs.npz"]
    with pytest.raises(InvalidInputError, match="comes with a network's file"):
        model_reference(client, "gpt2", given)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInputError, match="is not a file"):
        model_reference(client, "missing.onnx")  # pyright: ignore[reportArgumentType]
