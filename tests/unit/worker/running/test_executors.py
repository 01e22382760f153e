"""Executors in real processes: reused while clean, replaced when worn, ended with everything that they started."""

import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import psutil
import pytest
from executor_jobs import mark_of
from orders import LIMITS, environment, order
from processes import gone, until

from worker.limits.watched import WatchedBackend
from worker.running.executing import MOST_JOBS
from worker.running.executors import Executor, Executors
from worker.running.nursery import LOST, Nursery
from worker.running.orders import Reply

pytestmark = pytest.mark.slow

JOBS = "executor_jobs:open_jobs"


@pytest.fixture
def executors() -> Generator[Executors]:
    made = Executors(environment(), WatchedBackend(), JOBS)
    yield made
    made.close()


@pytest.fixture
def executor(executors: Executors) -> Generator[Executor]:
    taken = executors.take(LIMITS)
    yield taken
    taken.close()


@pytest.fixture
def do(executor: Executor, tmp_path: Path) -> Callable[[str], Reply | None]:
    return lambda what: executor.run(order(what, tmp_path))


def output(folder: Path) -> str:
    return (folder / "log").read_text()


def test_one_process_does_many_jobs_each_with_a_log_of_its_own(
    do: Callable[[str], Reply | None], tmp_path: Path
) -> None:
    assert do("a") == Reply(tickets=["lower"])
    first = output(tmp_path)
    assert do("tool output") == Reply(tickets=["lower"])
    assert output(tmp_path).splitlines() == ["of a tool", "of its errors", "of the job"]
    do("b")
    assert output(tmp_path) == first


def test_what_a_job_changes_of_its_process_is_put_back(do: Callable[[str], Reply | None], tmp_path: Path) -> None:
    assert do("disturb") == Reply(tickets=["lower"])
    assert do("look") == Reply(tickets=["lower"])
    assert output(tmp_path).split() == ["False"] * 5


@pytest.mark.parametrize(
    ("what", "why"),
    [("thread", "threads behind: straggler"), ("grow", "it has grown by"), ("tools", "left processes behind")],
)
def test_worn_processes_are_followed_by_fresh_ones(
    do: Callable[[str], Reply | None], executor: Executor, tmp_path: Path, what: str, why: str
) -> None:
    do("a")
    worn = int(output(tmp_path))
    reply = do(what)
    assert reply is not None
    assert why in str(reply.retire)
    assert do("a") == Reply(tickets=["lower"])
    assert int(output(tmp_path)) != worn
    assert gone(worn)
    assert not executor.closed


def test_processes_end_after_many_jobs(do: Callable[[str], Reply | None]) -> None:
    for _ in range(MOST_JOBS - 1):
        assert do("a") == Reply(tickets=["lower"])
    assert do("a") == Reply(tickets=["lower"], retire=f"it has done {MOST_JOBS} jobs")
    assert do("a") == Reply(tickets=["lower"])


def test_processes_that_a_job_leaves_are_killed_before_the_reply(
    do: Callable[[str], Reply | None], executor: Executor, tmp_path: Path
) -> None:
    assert do("tools") is not None
    tool = int(output(tmp_path))
    assert gone(tool)
    mark = mark_of(str(tmp_path / "log"))  # other tests' processes are none of ours
    assert not [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ()) and not gone(p.pid)]


@pytest.mark.parametrize(("what", "status", "last"), [("crash", 42, "the last words"), ("segfault", 128 + 11, "")])
def test_crash_is_no_reply_but_an_exit_status(
    do: Callable[[str], Reply | None], executor: Executor, tmp_path: Path, what: str, status: int, last: str
) -> None:
    assert do(what) is None
    assert executor.closed
    assert executor.exit_status == status
    assert output(tmp_path).strip() == last


def test_unforeseen_exceptions_are_crashes_with_a_traceback(
    do: Callable[[str], Reply | None], executor: Executor, tmp_path: Path
) -> None:
    assert do("raise") is None
    assert executor.exit_status == 1
    assert output(tmp_path).splitlines()[-1] == "RuntimeError: not foreseen"


def test_kill_ends_the_job_and_its_tools_at_once(executor: Executor, tmp_path: Path) -> None:
    mine = order("hang", tmp_path)
    thread = threading.Thread(target=executor.run, args=(mine,))
    thread.start()
    until(lambda: (tmp_path / "log").exists() and output(tmp_path).strip())
    tool = int(output(tmp_path))
    executor.kill(mine)
    thread.join(60)
    assert not thread.is_alive()
    assert executor.closed
    assert gone(tool)


def test_kill_of_a_job_that_has_ended_leaves_the_next_one_alone(executor: Executor, tmp_path: Path) -> None:
    old = order("a", tmp_path)
    executor.run(old)
    executor.kill(old)
    assert executor.run(order("b", tmp_path)) == Reply(tickets=["lower"])


def test_an_executor_is_reused_and_a_closed_one_is_not(executors: Executors, tmp_path: Path) -> None:
    first = executors.take(LIMITS)
    first.run(order("a", tmp_path))
    executors.give_back(first)
    assert executors.take(LIMITS) is first
    first.run(order("crash", tmp_path))
    executors.give_back(first)
    assert executors.take(LIMITS) is not first


def test_an_executor_that_died_while_it_waited_is_not_used(executors: Executors, tmp_path: Path) -> None:
    first = executors.take(LIMITS)
    first.run(order("a", tmp_path))
    executors.give_back(first)
    psutil.Process(int(output(tmp_path))).kill()
    until(lambda: first.closed)
    second = executors.take(LIMITS)
    assert second.run(order("a", tmp_path)) == Reply(tickets=["lower"])


def test_one_spare_is_kept_warm_and_idle_ones_are_ended(executors: Executors, tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    executors.warm()
    executors.warm()
    taken = [executors.take(LIMITS), executors.take(LIMITS)]
    [nursery] = set(psutil.Process().children()) - before
    assert len(nursery.children()) == 2
    for executor in taken:
        executor.run(order("a", tmp_path))
        executors.give_back(executor)
    executors.trim(3600)
    assert not any(e.closed for e in taken)
    executors.trim(0)
    assert [e.closed for e in taken] == [True, False]


def test_what_forks_them_is_started_again_where_it_ended_and_ends_with_all_at_the_end(
    executors: Executors, tmp_path: Path
) -> None:
    before = set(psutil.Process().children())
    first, other = executors.take(LIMITS), executors.take(LIMITS)
    [nursery] = set(psutil.Process().children()) - before
    first.run(order("a", tmp_path))
    job = int(output(tmp_path))
    nursery.kill()
    until(lambda: first.closed and other.closed and gone(job))
    assert first.exit_status == LOST
    second = executors.take(LIMITS)
    assert second.run(order("b", tmp_path)) == Reply(tickets=["lower"])
    [nursery] = set(psutil.Process().children()) - before
    executors.close()
    until(lambda: gone(nursery.pid) and second.closed)


def test_what_forks_them_ends_with_the_last_of_them(tmp_path: Path) -> None:
    nursery = Nursery(JOBS, environment())
    executor = Executor(nursery, WatchedBackend())
    parent = psutil.Process(executor.pid).parent()
    assert parent is not None
    nursery.close()
    executor.hold(LIMITS)
    assert executor.run(order("a", tmp_path)) == Reply(tickets=["lower"])
    executor.close()
    until(lambda: gone(parent.pid))


def test_where_none_can_be_started_it_is_said(tmp_path: Path) -> None:
    nursery = Nursery(JOBS, {"PYTHONHOME": "/nowhere"})
    with pytest.raises(ChildProcessError, match="log of the worker"):
        Executor(nursery, WatchedBackend())


WORKER = """
import os, sys, threading
from pathlib import Path
from worker.running.executors import Executors
from orders import LIMITS, order
from worker.limits.watched import WatchedBackend
executors = Executors(os.environ, WatchedBackend(), "executor_jobs:open_jobs")
executors.warm()
executors.take(LIMITS).run(order("hang", Path(sys.argv[1])))
"""


def test_nothing_outlives_a_killed_worker(tmp_path: Path) -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path)], env=environment())
    until(lambda: (tmp_path / "log").exists() and output(tmp_path).strip())
    tool = int(output(tmp_path))
    until(
        lambda: len(psutil.Process(worker.pid).children(recursive=True)) >= 5
    )  # what forks, guard and job of two executors
    tree = [p.pid for p in psutil.Process(worker.pid).children(recursive=True)]
    worker.kill()
    worker.wait()
    until(lambda: all(gone(pid) for pid in (tool, *tree)))
