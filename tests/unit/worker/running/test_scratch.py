"""Scratch folders: gone with their build, or with the worker that was killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from processes import until

from worker.running.scratch import Scratch, remove_tree, scratch_folder
from worker.settings import Settings

WORKER = """
import sys, time
from pathlib import Path
from worker.running.scratch import Scratch
from worker.settings import Settings
folder = Scratch(Settings(home=Path(sys.argv[1]))).of("bld_1", 7)
folder.mkdir()
(folder / "file").write_text("of a killed executor")
print(folder, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def left(settings: Settings) -> list[str]:
    return [str(path) for path in (settings.run_dir / "scratch").rglob("*")]


def test_another_worker_removes_what_a_killed_one_left_and_no_other(settings: Settings) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(settings.home)], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    theirs = Path(worker.stdout.readline().strip())
    ours = Scratch(settings)
    ours.of("bld_2", 1).mkdir()
    ours.sweep()
    assert (theirs / "file").exists()
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    ours.sweep()
    assert not theirs.parent.exists()
    assert ours.of("bld_2", 1).exists()
    ours.close()
    assert left(settings) == []


def test_folders_without_a_lock_are_nobodys(settings: Settings) -> None:
    """As an earlier release made them."""
    old = settings.run_dir / "scratch" / "123-abc"
    (old / "out").mkdir(parents=True)
    made = Scratch(settings)
    made.sweep()
    assert not old.exists()
    made.close()


def test_temporary_files_of_a_build_lie_in_its_folder(tmp_path: Path) -> None:
    folder, before = tmp_path / "bld_1-1", (tempfile.gettempdir(), dict(os.environ))
    with scratch_folder(folder) as work:
        assert list(work.iterdir()) == []
        assert Path(tempfile.mkdtemp()).is_relative_to(folder)
        tool = subprocess.run(
            [sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp())"], stdout=-1, check=True
        )
        assert Path(tool.stdout.decode()).is_relative_to(folder)
    assert not folder.exists()
    assert (tempfile.gettempdir(), dict(os.environ)) == before


def test_it_goes_when_the_build_raises(tmp_path: Path) -> None:
    def build() -> None:
        with scratch_folder(tmp_path / "bld_1-1") as work:
            (work / "file").touch()
            raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        build()
    assert list(tmp_path.iterdir()) == []


def test_folders_that_may_not_be_read_are_removed() -> None:
    """By a user who is held to modes, as root is not."""
    code = """
import os, sys
from pathlib import Path
from worker.running.scratch import remove_tree
if os.getuid() == 0:
    os.setuid(65534)
folder = Path(sys.argv[1], "folder")
(folder / "a" / "b").mkdir(parents=True)
(folder / "a" / "b" / "file").touch()
for path in (folder / "a" / "b", folder / "a", folder):
    path.chmod(0)
remove_tree(folder)
raise SystemExit(folder.exists())
"""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o777)
        subprocess.run([sys.executable, "-c", code, above], check=True)


def test_what_is_not_there_is_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "nowhere")


def test_a_link_in_a_scratch_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "other")
    remove_tree(tmp_path / "folder")
    assert (tmp_path / "other" / "file").exists()
    until(lambda: not (tmp_path / "folder").exists())
