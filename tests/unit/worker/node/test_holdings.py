"""What a node holds, compared with what `du` says."""

import os
import subprocess
from pathlib import Path

import pytest
from processes import until

from worker.node.holdings import Holdings, held_by
from worker.settings import Settings

FILES = {
    "millrace.db": 300_000,
    "millrace.db-wal": 100_000,
    "store/sha256/ab/cdef": 500_000,
    "cache/x": 70_000,
    "bundles/k/graph.json": 40_000,
    "models/m/config.json": 900,
    "run/scratch/w/bld_1-1/work/out": 200_000,
    "run/logs/api.log": 30_000,
    "run/redis.rdb": 10_000,
    "ballast": 20_000,
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(home=tmp_path / "home")
    for name, size in FILES.items():
        path = made.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
    (made.store_dir / "second").hardlink_to(made.store_dir / "sha256/ab/cdef")
    return made


def du(folder: Path) -> int:
    return int(subprocess.check_output(["du", "--summarize", "--block-size=1", folder]).split()[0])


def test_all_of_it_is_what_du_says(settings: Settings) -> None:
    held, said = sum(held_by(settings).values()), du(settings.home)
    assert abs(held - said) <= 0.01 * said


def test_each_part_is_what_du_says(settings: Settings) -> None:
    held = held_by(settings)
    folders = {"store": "store", "cache": "cache", "bundles": "bundles", "models": "models"}
    folders |= {"scratch": "run/scratch", "logs": "run/logs"}
    assert {what: held[what] for what in folders} == {what: du(settings.home / path) for what, path in folders.items()}
    assert set(held) == {*folders, "database", "other"}
    assert 400_000 <= held["database"] < 420_000


def test_a_home_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert held_by(Settings(home=tmp_path / "home")) == {}


def test_counting_goes_on_beside_and_is_not_done_again_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    holdings = Holdings(settings)
    until(holdings.latest)
    before = holdings.latest()
    assert before["store"] > 500_000
    (settings.store_dir / "more").write_bytes(os.urandom(300_000))
    assert holdings.latest() is before
