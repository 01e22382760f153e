import os
from collections.abc import Generator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from backup_homes import Home, fill_home, new_home

from worker.backup.collecting import Garbage, collect
from worker.store.folder import FolderStore

GARBAGE = len(b"garbage")


@pytest.fixture
def home(tmp_path: Path) -> Generator[Home]:
    """All that it stores is two days old."""
    made = new_home(tmp_path)
    with closing(made.database):
        fill_home(made)
        for digest in made.store.digests():
            make_old(made, digest)
        yield made


def make_old(home: Home, digest: str) -> None:
    path = home.store.path(digest)
    then = path.stat().st_mtime - timedelta(days=2).total_seconds()
    os.utime(path, (then, then))


def test_nothing_is_deleted_unless_asked(home: Home) -> None:
    before = home.digests()
    assert collect(home.database, home.store, delete=False) == Garbage(1, GARBAGE, 0)
    assert home.digests() == before


def test_what_no_row_names_is_deleted_and_all_else_stays(home: Home) -> None:
    before = home.digests()
    assert collect(home.database, home.store, delete=True) == Garbage(1, GARBAGE, 0)
    assert len(before - home.digests()) == 1
    assert collect(home.database, home.store, delete=True) == Garbage(0, 0, 0)


def test_young_contents_stay(home: Home) -> None:
    home.store.put_bytes(b"garbage")  # young again
    home.store.put_bytes(b"its row is about to be written")
    assert collect(home.database, home.store, delete=True, age=timedelta(0)) == Garbage(0, 0, 0)


def test_content_that_is_stored_again_while_we_look_stays(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = next(d for d in home.digests() if home.store.read(d) == b"garbage")
    listed = list(home.store.contents())
    home.store.put_bytes(b"garbage")
    monkeypatch.setattr(FolderStore, "contents", lambda _self: iter(listed))
    collect(home.database, home.store, delete=True)
    assert home.store.exists(digest)


def test_half_files_of_dead_writers_are_deleted(home: Home, tmp_path: Path) -> None:
    half = tmp_path / "store" / "incoming" / "half"
    half.write_bytes(b"x")
    os.utime(half, (0, 0))
    assert collect(home.database, home.store, delete=False).unfinished == 0
    assert half.exists()
    assert collect(home.database, home.store, delete=True).unfinished == 1
    assert not half.exists()
