"""What every backend promises that holds builds to their limits: one test class, run on each of them.

A subclass gives `backend`. Every attack runs beside a neighbour, which must not notice.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hostile_jobs import DISK, FILES, MEMORY, PROCESSES, SECONDS
from orders import LIMITS, environment
from processes import gone, until

from worker.limits.disk import beyond
from worker.limits.group import Backend, Exceeded
from worker.limits.table import GB, Limits
from worker.running.executors import Executor
from worker.running.nursery import Nursery
from worker.running.orders import Order, Reply

JOBS = "hostile_jobs:open_jobs"
SMALL = replace(
    LIMITS, memory_gb=MEMORY / GB, processes=PROCESSES, files=FILES, disk_gb=DISK / GB, cpu_s=60.0, timeout_s=60.0
)

MAY = "from worker.limits.shared_memory import take_private; raise SystemExit(not take_private())"


def need_private_memory() -> None:
    """Skip where executors can have no /dev/shm of their own: what is in the machine's is nobody's."""
    if subprocess.run([sys.executable, "-c", MAY], check=False).returncode:
        pytest.skip("no mount namespace: this user may not make one")


class LimitsContract:
    """Run on every backend that this machine has."""

    @pytest.fixture(scope="class")
    @classmethod
    def nursery(cls) -> Generator[Nursery]:
        made = Nursery(JOBS, environment())
        yield made
        made.close()

    @pytest.fixture(scope="class")
    @classmethod
    def neighbour(cls, nursery: Nursery, backend: Backend) -> Generator["Neighbour"]:
        made = Neighbour(nursery, backend)
        yield made
        made.close()

    @pytest.fixture
    def executor(self, nursery: Nursery, backend: Backend) -> Generator[Executor]:
        made = Executor(nursery, backend)
        yield made
        made.close()

    @pytest.mark.parametrize(
        ("attack", "resource"),
        [
            ("memory", "memory"),
            ("memory_of_50", "memory"),
            ("shm", "memory"),
            ("escape", "memory"),
            ("bomb", "processes"),
            ("files", "files"),
            ("disk", "disk"),
        ],
    )
    def test_each_way_round_a_limit_ends_at_it_and_the_neighbour_goes_on(
        self,
        backend: Backend,
        executor: Executor,
        neighbour: "Neighbour",
        tmp_path: Path,
        attack: str,
        resource: str,
    ) -> None:
        if attack == "shm" and not backend.is_exact:
            need_private_memory()
        with neighbour.beside(tmp_path) as replies:
            reached = attacked(executor, backend, attack, SMALL, tmp_path)
        assert reached.resource == resource
        assert reached.used >= 0.95 * reached.limit
        assert replies == [Reply()]
        assert executor.closed

    def test_threads_that_compute_end_at_their_processor_time(
        self, backend: Backend, executor: Executor, neighbour: "Neighbour", tmp_path: Path
    ) -> None:
        with neighbour.beside(tmp_path) as replies:
            reached = attacked(executor, backend, "threads", replace(SMALL, cpu_s=SECONDS), tmp_path)
        assert (reached.resource, reached.limit) == ("processor time", SECONDS)
        assert SECONDS < reached.used < 20 * SECONDS
        assert replies == [Reply()]

    @pytest.mark.parametrize("attack", ["stopped", "deaf"])
    def test_what_does_not_hear_signals_ends_when_its_job_is_killed(
        self, executor: Executor, tmp_path: Path, attack: str
    ) -> None:
        order = order_of(attack, SMALL, tmp_path)
        running = started(executor, order)
        log = Path(order.log)
        until(lambda: log.exists() and log.read_text().strip())
        executor.kill(order)
        running.join(60)
        assert not running.is_alive()
        assert executor.closed
        assert gone(int(log.read_text()))

    def test_processes_that_a_job_leaves_are_gone_before_the_next(self, executor: Executor, tmp_path: Path) -> None:
        order = order_of("leave", SMALL, tmp_path)
        executor.hold(SMALL)
        reply = executor.run(order)
        assert reply is not None
        assert "left processes behind" in str(reply.retire)
        assert gone(int(Path(order.log).read_text()))
        executor.hold(SMALL)
        assert executor.run(order_of("neighbour", SMALL, tmp_path / "next")) == Reply()

    def test_limits_are_those_of_the_job_that_runs(self, executor: Executor, tmp_path: Path) -> None:
        for limits in (SMALL, replace(SMALL, memory_gb=1.0, processes=500), SMALL):
            executor.hold(limits)
            assert executor.run(order_of("neighbour", limits, tmp_path / str(time.monotonic_ns()))) == Reply()
            assert executor.exceeded() is None


def attacked(executor: Executor, backend: Backend, attack: str, limits: Limits, folder: Path) -> Exceeded:
    """Run the attack, look at it as a worker does, and end it; which limit it reached."""
    order = order_of(attack, limits, folder)
    running = started(executor, order)
    until(Path(order.log).exists)  # a busy machine starts processes in many seconds
    last = time.monotonic() + 60
    while time.monotonic() < last:
        reached = executor.exceeded() or beyond(Path(order.scratch), limits) or executor.reached
        if reached is not None:
            executor.kill(order)
            running.join(60)
            assert not running.is_alive()
            assert not psutil.pid_exists(executor.pid)
            return reached
        assert running.is_alive(), f"{attack} ended with {executor.exit_status}"
        time.sleep(backend.look_seconds)
    executor.kill(order)
    pytest.fail(f"nothing stops {attack}")


def started(executor: Executor, order: Order) -> threading.Thread:
    executor.hold(order.limits)
    thread = threading.Thread(target=executor.run, args=(order,), daemon=True)
    thread.start()
    return thread


class Neighbour:
    """An executor that does builds which keep to their limits."""

    def __init__(self, nursery: Nursery, backend: Backend) -> None:
        self._executor = Executor(nursery, backend)

    @contextmanager
    def beside(self, folder: Path) -> Generator[list[Reply | None]]:
        """Inside the block a build runs; the list has its reply at the end, which comes within a minute."""
        order, replies = order_of("neighbour", SMALL, folder / "neighbour"), list[Reply | None]()
        self._executor.hold(SMALL)
        thread = threading.Thread(target=lambda: replies.append(self._executor.run(order)), daemon=True)
        thread.start()
        yield replies
        thread.join(60)
        assert self._executor.exceeded() is None

    def close(self) -> None:
        self._executor.close()


def order_of(name: str, limits: Limits, folder: Path) -> Order:
    folder.mkdir(exist_ok=True)
    return Order(name, 1, "csim", str(folder / "log"), str(folder / "scratch"), limits)
