"""Shared memory that builds leave, in real executors: the next build and the machine find none of it."""

import ctypes
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from limits_contract import JOBS, SMALL, need_private_memory, order_of
from orders import environment

from worker.limits.watched import WatchedBackend
from worker.running.executors import Executor
from worker.running.nursery import Nursery


@pytest.fixture
def executor() -> Generator[Executor]:
    need_private_memory()
    nursery = Nursery(JOBS, environment())
    made = Executor(nursery, WatchedBackend())
    made.hold(SMALL)
    yield made
    made.close()
    nursery.close()


def test_files_and_segments_go_with_the_build(executor: Executor, tmp_path: Path) -> None:
    share, look = order_of("share", SMALL, tmp_path / "a"), order_of("look", SMALL, tmp_path / "b")
    reply = executor.run(share)
    assert reply is not None
    assert reply.retire == "the job left shared memory behind"
    job = Path(share.log).read_text().strip()
    assert executor.run(look) is not None
    assert Path(look.log).read_text().split() == []
    assert not Path(f"/dev/shm/left-{job}").exists()
    assert job not in [line.split()[4] for line in Path("/proc/sysvipc/shm").read_text().splitlines()]


def test_a_file_alone_does_not_cost_the_process(executor: Executor, tmp_path: Path) -> None:
    """The memory limit is not reached by what earlier builds left."""
    pids: set[str] = set()
    for number in range(3):
        order = order_of("file", SMALL, tmp_path / str(number))
        reply = executor.run(order)
        assert reply is not None
        assert reply.retire is None
        pids.add(Path(order.log).read_text())
    assert len(pids) == 1


def test_what_others_share_is_not_seen(executor: Executor, tmp_path: Path) -> None:
    name = f"/millrace-test-{os.getpid()}".encode()
    libc = ctypes.CDLL(None)
    assert libc.shm_open(name, os.O_CREAT | os.O_RDWR, 0o600) >= 0
    try:
        order = order_of("look", SMALL, tmp_path)
        assert executor.run(order) is not None
        assert Path(order.log).read_text().split() == []
    finally:
        libc.shm_unlink(name)
