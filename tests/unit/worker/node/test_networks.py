"""Which imported networks a node keeps."""

import os
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from api.services import catalog as builtins
from compiler.frontend import cached
from compiler.frontend.cached import drop_unused, make_once
from db.repositories import catalog
from db.types import utcnow
from worker.farm import Farm
from worker.node import networks
from worker.node.networks import NAMED, UNNAMED, Networks, tidy

SECOND = timedelta(seconds=1)


def write(folder: Path) -> None:
    folder.joinpath("graph.json").write_text("{}")


def imported(cache: Path, key: str, age: timedelta = timedelta(0)) -> Path:
    made = make_once(cache, key, write)
    used = (utcnow() - age).timestamp()
    os.utime(made, (used, used))
    return made


@pytest.mark.parametrize(("key", "stays"), [("known", NAMED), ("stranger", UNNAMED)])
def test_one_stays_for_so_long_after_its_last_use(farm: Farm, key: str, stays: timedelta) -> None:
    made = imported(farm.settings.bundle_dir, key)
    assert tidy(farm.settings, {"known"}, utcnow() + stays - 60 * SECOND) == 0
    assert made.joinpath("graph.json").is_file()
    assert tidy(farm.settings, {"known"}, utcnow() + stays + SECOND) == 1
    assert not made.exists()


def test_an_import_is_a_use(farm: Farm) -> None:
    imported(farm.settings.bundle_dir, "a", 2 * NAMED)
    make_once(farm.settings.bundle_dir, "a", lambda _: pytest.fail("it is there"))
    assert tidy(farm.settings, set()) == 0


def test_models_in_files_of_their_own_go_too(farm: Farm) -> None:
    imported(farm.settings.model_dir, "aa-net", 2 * UNNAMED)
    assert tidy(farm.settings, set()) == 1
    assert not (farm.settings.model_dir / "aa-net").exists()


def test_what_was_used_while_it_was_to_go_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is looked at under the lock that its users take, whatever was seen before."""
    made = imported(tmp_path, "a", NAMED)
    held = cached.locked

    def used_just_before(path: Path) -> AbstractContextManager[None]:
        os.utime(made)
        return held(path)

    monkeypatch.setattr(cached, "locked", used_just_before)
    assert not drop_unused(tmp_path, "a", utcnow().timestamp() - 60)
    assert made.joinpath("graph.json").is_file()


def test_a_cut_off_removal_leaves_nothing_that_looks_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(tmp_path, "a", NAMED).joinpath("old").touch()
    with monkeypatch.context() as patch:
        patch.setattr(cached.shutil, "rmtree", lambda *_, **__: None)  # as if it were killed there
        assert drop_unused(tmp_path, "a", utcnow().timestamp())
    assert [p.name for p in imported(tmp_path, "a").iterdir()] == ["graph.json"]


def test_a_worker_looks_once_an_hour(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    with farm.database.write() as session:
        builtins.put_builtins(session)
        model = catalog.find_model(session, "gpt2")
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        catalog.set_bundle(session, workload.id, "known")
    asked: list[set[str]] = []
    monkeypatch.setattr(networks, "tidy", lambda _, named: asked.append(named) or 0)
    now = 1e6
    monkeypatch.setattr(networks.time, "monotonic", lambda: now)
    looks = Networks(farm)
    looks.tick()
    looks.tick()
    assert asked == [{"known"}]
    now += 3601
    looks.tick()
    assert len(asked) == 2
