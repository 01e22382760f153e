"""The guard, in real processes: whichever way a job ends, nothing of it stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from processes import gone, until

from worker.running.guard import STOPPED

JOB = """
import os, subprocess, sys, time
from worker.running.guard import fork_under_guard
fork_under_guard(int(sys.argv[1]))
# A tool in a session of its own, whose parent is gone: no group, no parent to find it by.
subprocess.run(["sh", "-c", "setsid sleep 1000 & echo $! > " + sys.argv[2]])
while not os.path.getsize(sys.argv[2]): time.sleep(0.01)
{rest}
"""


def start(tmp_path: Path, rest: str) -> tuple[subprocess.Popen[bytes], int]:
    """The guard's process, and the PID of the tool that its job started."""
    file = tmp_path / "pid"
    process = subprocess.Popen([sys.executable, "-c", JOB.format(rest=rest), str(os.getpid()), str(file)])
    until(lambda: file.exists() and file.read_text().strip())
    return process, int(file.read_text())


@pytest.mark.parametrize(("rest", "status"), [("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", 128 + 9), ("", 0)])
def test_end_of_the_job_ends_its_tools(tmp_path: Path, rest: str, status: int) -> None:
    process, tool = start(tmp_path, rest)
    assert process.wait(60) == status
    until(lambda: gone(tool))


def test_stopping_the_guard_kills_job_and_tools(tmp_path: Path) -> None:
    process, tool = start(tmp_path, "time.sleep(1000)")
    process.terminate()
    assert process.wait(60) == STOPPED
    assert gone(tool)


def test_death_of_the_worker_kills_job_and_tools(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    code = JOB.format(rest="time.sleep(1000)")
    worker = (
        "import os, subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1], str(os.getpid()), sys.argv[2]])"
    )
    process = subprocess.Popen([sys.executable, "-c", worker, code, str(file)])
    until(lambda: file.exists() and file.read_text().strip())
    tool = int(file.read_text())
    tree = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until(lambda: gone(tool) and all(gone(p.pid) for p in tree))


def test_job_whose_worker_is_gone_does_not_start(tmp_path: Path) -> None:
    code = "from worker.running.guard import fork_under_guard; fork_under_guard(1); open('started', 'w')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=False, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    assert done.returncode == STOPPED
    assert not (tmp_path / "started").exists()
