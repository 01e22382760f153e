import subprocess
import sys
from pathlib import Path

from worker.logs import rotate


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_log_keeps_its_size_and_so_many_older_ones(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    for number in range(5):
        log.write_text(f"{number}" * 11)
        assert rotate(log, 10, 3)
    assert texts(tmp_path) == {"api.log": "", "api.log.1": "4" * 11, "api.log.2": "3" * 11}


def test_a_small_or_absent_log_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "api.log").write_text("x" * 10)
    assert not rotate(tmp_path / "api.log", 10, 3)
    assert not rotate(tmp_path / "worker.log", 10, 3)
    assert texts(tmp_path) == {"api.log": "x" * 10}


def test_fewer_files_than_before(tmp_path: Path) -> None:
    for name in ("api.log.1", "api.log.2", "api.log.7", "api.log.notes"):
        (tmp_path / name).write_text(name)
    (tmp_path / "api.log").write_text("x" * 11)
    assert rotate(tmp_path / "api.log", 10, 1)
    assert texts(tmp_path) == {"api.log": "", "api.log.notes": "api.log.notes"}


def test_who_writes_goes_on_at_the_beginning(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    program = "import sys\nprint('x' * 50, flush=True)\nsys.stdin.readline()\nprint('after', flush=True)"
    with log.open("ab") as output:
        child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=output)
    assert child.stdin is not None
    while log.stat().st_size < 51:
        pass
    assert rotate(log, 10, 3)
    child.stdin.write(b"\n")
    child.stdin.close()
    child.wait(60)
    assert log.read_text() == "after\n"
    assert (tmp_path / "api.log.1").read_text() == "x" * 50 + "\n"
