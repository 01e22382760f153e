"""Folders in which things are made that belong into a cache."""

import threading
from pathlib import Path

import pytest

from compiler.errors import ToolError
from compiler.frontend.cached import make_once, workplace


def test_a_workplace_is_empty_and_does_not_stay(tmp_path: Path) -> None:
    left = tmp_path / "cache" / ".a"
    left.mkdir(parents=True)
    (left / "of one that was killed").touch()
    with workplace(tmp_path / "cache", "a") as folder:
        assert folder == left
        assert list(folder.iterdir()) == []
        (folder / "half").touch()
    assert not left.exists()


def test_one_at_a_time_has_it(tmp_path: Path) -> None:
    inside, most = 0, 0
    counting = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with workplace(tmp_path, "a") as folder:
            with counting:
                inside += 1
                most = max(most, inside)
            (folder / "mine").touch(exist_ok=False)
            with counting:
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_workplace_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match="cannot write to the cache"), workplace(tmp_path / "file", "a"):
        pass


def test_what_is_made_in_a_workplace_comes_from_there(tmp_path: Path) -> None:
    seen: list[Path] = []

    def make(folder: Path) -> None:
        seen.append(folder)
        (folder / "file").touch()

    with workplace(tmp_path, "a") as scratch:
        made = make_once(tmp_path, "key", make, scratch)
        assert make_once(tmp_path, "key", make, scratch) == made
    assert [folder.parent for folder in seen] == [scratch]
    assert [path.name for path in made.iterdir()] == ["file"]
