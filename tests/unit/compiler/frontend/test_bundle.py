"""Bundles: the real subprocess, the cache, damage, limits, interruption."""

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from processes import gone, until

from compiler.errors import InvalidInputError, MillraceError, ToolError
from compiler.frontend.bundle import bundle_key, import_model, load_bundle
from compiler.frontend.models.config import ModelSource, resolve_model
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.process import _environment, importing, run_worker
from compiler.options import Workload

WORKLOAD = Workload("tiny", "decode", 4, "f32")
CONFIG: dict[str, Any] = {"model_type": "gpt2", "n_embd": 32, "n_head": 2, "n_layer": 2, "n_positions": 16}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "bundles"


def workers() -> list[psutil.Process]:
    return [p for p in psutil.Process().children(recursive=True) if "compiler.frontend.worker" in " ".join(p.cmdline())]


def test_import_leaves_torch_alone() -> None:
    code = (
        "import sys, compiler.frontend.bundle, compiler.frontend.interpret; "
        "sys.exit(any(name.split('.')[0] in {'torch', 'torch_mlir', 'transformers'} for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_the_real_process_makes_a_bundle(model: Path, cache: Path) -> None:
    progress: list[str] = []
    bundle = import_model(model, WORKLOAD, cache, progress.append)
    assert progress[-1] == "writing the bundle"
    assert set(bundle.expected()) == {"hidden_out", "h0.k", "h0.v"}
    assert import_model(str(model), WORKLOAD, cache, progress.append).graph == bundle.graph
    assert progress.count("writing the bundle") == 1
    assert workers() == []


@pytest.mark.slow
def test_one_process_makes_several(model: Path, cache: Path) -> None:
    """As each would by itself, in folders of which none is left; the next command starts another."""
    source, wanted = resolve_model(model), [WORKLOAD, Workload("tiny", "prefill", 3, "w4a8")]
    alone = import_model(model, WORKLOAD, cache)
    with importing(source, cache.parent / "together") as importer:
        made = [import_model(model, one, cache.parent / "together", importer=importer) for one in wanted]
        [worker] = workers()
        with pytest.raises(ToolError, match="cannot write the bundle"):
            importer.run(Workload("tiny", "decode", 4, "f32"), importer.folder / "missing")
        assert gone(worker.pid)
    assert [bundle.workload for bundle in made] == wanted
    assert made[0].meta == alone.meta
    assert {p.name for p in (cache.parent / "together").iterdir() if p.is_dir()} == {b.directory.name for b in made}


@pytest.fixture
def counted(make_bundle: Any, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Instead of the process: copy a bundle that is there, and note it."""
    made: list[Path] = []
    source = make_bundle("decode", "f32").directory

    def copy(_source: ModelSource, _workload: Workload, directory: Path, _progress: object) -> None:
        made.append(directory)
        for file in source.iterdir():
            shutil.copy(file, directory)
        time.sleep(0.05)

    monkeypatch.setattr("compiler.frontend.bundle.run_worker", copy)
    return made


def test_two_at_once_build_once(model: Path, tmp_path: Path, counted: list[Path]) -> None:
    bundles: list[Any] = []
    threads = [
        threading.Thread(target=lambda: bundles.append(import_model(model, WORKLOAD, tmp_path))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counted) == 1
    assert len({b.directory for b in bundles}) == 1
    assert {p.name for p in tmp_path.iterdir() if not p.name.endswith(".lock")} == {bundles[0].directory.name}


@pytest.mark.parametrize("name", ["graph.json", "linalg.mlir", "tensors.npz", "expected.npz", "meta.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_damage_is_repaired(model: Path, tmp_path: Path, counted: list[Path], name: str, damage: str) -> None:
    first = import_model(model, WORKLOAD, tmp_path)
    file = first.directory / name
    content = bytearray(file.read_bytes())
    match damage:
        case "flip" if name != "meta.json":
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
        case "gone":
            file.unlink()
        case _:
            file.write_bytes(content[: len(content) // 2])
    assert import_model(model, WORKLOAD, tmp_path).graph == first.graph
    assert len(counted) == 2


@pytest.mark.slow
def test_interruption_leaves_no_process_and_no_rubbish(model: Path, cache: Path) -> None:
    def interrupt(_text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_model(model, Workload("tiny", "prefill", 4, "f32"), cache, interrupt)
    assert workers() == []
    assert not list(cache.glob(".*.building"))


@pytest.mark.slow
def test_parent_killed_takes_the_worker_along(model: Path, tmp_path: Path) -> None:
    code = f"""
import os, psutil, signal
from pathlib import Path
from compiler.frontend.bundle import import_model
from compiler.options import Workload

def die(_text):
    print(*(p.pid for p in psutil.Process().children()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

import_model({str(model)!r}, Workload("tiny", "decode", 4, "f32"), Path({str(tmp_path)!r}), die)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    pids = [int(pid) for pid in done.stdout.split()]
    assert pids, done.stderr
    until(lambda: all(gone(pid) for pid in pids))


def test_timeout(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"took longer than 0\.2 s; use fewer layers"):
        run_worker(resolve_model(model), WORKLOAD, tmp_path, timeout=0.2)
    assert workers() == []


@pytest.mark.parametrize(("given", "passed_on"), [(None, "passive"), ("active", "active")])
def test_threads_of_the_worker_sleep_while_they_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, passed_on: str
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_WAIT_POLICY", given)
    assert _environment(str(tmp_path))["OMP_WAIT_POLICY"] == passed_on


def test_worker_that_cannot_write_says_so(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"cannot write the bundle: .*free space"):
        run_worker(resolve_model(model), WORKLOAD, tmp_path / "missing")


def test_cache_that_cannot_be_written(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match="cannot write to the cache"):
        import_model(model, WORKLOAD, tmp_path / "file")


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        (Workload("tiny", layers=3, length=4), "layers is 3; .* has 2"),
        (Workload("tiny", length=17), "length is 17; .* has 16 positions"),
        (Workload("tiny", "step", length=32), "length is 32; .* has 16 positions"),  # one of 31 has whole tiles of rows
    ],
)
def test_workload_beyond_the_model(model: Path, cache: Path, workload: Workload, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        import_model(model, workload, cache)


def test_huge_model_is_refused_before_anything_is_allocated(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "n_embd": 16384, "n_inner": 65536, "n_layer": 2}))
    with pytest.raises(InvalidInputError, match=r"1 layers of .* have 12288 MiB of weights; at most 8192 MiB"):
        import_model(tmp_path, WORKLOAD, tmp_path / "cache")


def test_key_depends_on_what_matters(model: Path) -> None:
    source = resolve_model(model)
    keys = {
        bundle_key(source, WORKLOAD),
        bundle_key(source, Workload("tiny", "decode", 5, "f32")),
        bundle_key(source, Workload("tiny", "decode", 4, "w4a8")),
        bundle_key(ModelSource(source.name, Gpt2Config(**{k: CONFIG[k] for k in ("n_embd", "n_head")})), WORKLOAD),
    }
    assert len(keys) == 4
    assert bundle_key(source, WORKLOAD) in keys


@pytest.mark.parametrize("damage", ["missing", "meta", "graph", "cycle"])
def test_load_refuses_what_is_no_bundle(make_bundle: Any, tmp_path: Path, damage: str) -> None:
    source = make_bundle("decode", "f32").directory
    for name in ("meta.json", "graph.json"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    graph = json.loads((tmp_path / "graph.json").read_text())
    match damage:
        case "missing":
            (tmp_path / "graph.json").unlink()
        case "meta":
            (tmp_path / "meta.json").write_text("{}")
        case "graph":
            del graph["ops"][0]["loops"]
        case _:
            graph["ops"].reverse()
    if (tmp_path / "graph.json").exists():
        (tmp_path / "graph.json").write_text(json.dumps(graph))
    with pytest.raises(InvalidInputError, match="is not a bundle"):
        load_bundle(tmp_path)


def test_every_error_of_the_worker_is_ours() -> None:
    from compiler.frontend.worker import ERRORS

    assert all(issubclass(kind, MillraceError) for kind in ERRORS.values())


def test_tensors_are_plain_arrays(make_bundle: Any) -> None:
    bundle = make_bundle("prefill", "w4a8")
    tensors = bundle.tensors()
    assert {v.source for v in bundle.graph.values if v.source} == set(tensors)
    assert {str(a.dtype) for a in tensors.values()} == {"float32", "int8"}
    mask = tensors["mask"]
    assert mask.shape == (8, 8)
    assert mask[3, 3] == 0.0
    assert mask[3, 4] == np.finfo(np.float32).min / 2
    assert (bundle.directory / "graph.json").stat().st_size < 200_000
