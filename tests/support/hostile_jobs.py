"""Jobs for executors that go round a limit, each in its way: the build's id says which. None takes much by itself, so
that the machine of the tests survives a limit that does not hold.
"""

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from processes import until

from worker.running.executing import Perform
from worker.running.orders import Order, Reply

MEMORY = 128 << 20
"""Bytes that a job of these tests may have; each that wants more takes twice as much."""
PROCESSES = 40
FILES = 2000
DISK = 16 << 20
SECONDS = 1.0
_FOR_EVER = 600
_MIB = 1 << 20


def _fill(size: int) -> bytearray:
    """So many bytes, each page written to."""
    taken = bytearray()
    for _ in range(0, size, _MIB):
        taken += os.urandom(1) * _MIB
    return taken


def _hold(size: int) -> None:
    taken = _fill(size)
    time.sleep(_FOR_EVER)
    del taken


def _child(do: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        do()
        os._exit(0)
    return pid


def _memory(_: Order) -> None:
    _hold(2 * MEMORY)


def _memory_of_50(_: Order) -> None:
    for _n in range(PROCESSES - 10):
        _child(lambda: _hold(2 * MEMORY // (PROCESSES - 10)))
    time.sleep(_FOR_EVER)


def _shm(order: Order) -> None:
    with Path("/dev/shm", f"hostile-{os.getpid()}").open("wb") as file:
        print(file.name, flush=True)
        file.writelines(bytes(_MIB) for _ in range(0, 2 * MEMORY, _MIB))
    time.sleep(_FOR_EVER)


def _bomb(_: Order) -> None:
    """Three generations of five: 156 processes."""

    def spread(depth: int) -> None:
        for _n in range(5 if depth else 0):
            try:
                _child(lambda: spread(depth - 1))
            except OSError:
                time.sleep(0.01)
        time.sleep(_FOR_EVER)

    spread(3)


def _escaped(then: Callable[[], None]) -> None:
    """Have a process do it that is nobody's child, in a session of its own."""

    def leave() -> None:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _child(then)

    os.waitpid(_child(leave), 0)


def _escape(_: Order) -> None:
    _escaped(lambda: _hold(2 * MEMORY))
    time.sleep(_FOR_EVER)


def _leave(order: Order) -> None:
    """End well, with a process that goes on and has said who it is."""

    def stay() -> None:
        print(os.getpid(), flush=True)
        time.sleep(_FOR_EVER)

    _escaped(stay)
    until(Path(order.log).read_text)


def _share(_: Order) -> None:
    """End well, with memory that belongs to nobody: a file in /dev/shm, and a segment of System V. Says by whom."""
    Path("/dev/shm", f"left-{os.getpid()}").write_bytes(bytes(_MIB))
    assert ctypes.CDLL(None).shmget(0, ctypes.c_size_t(_MIB), 0o1600) >= 0
    print(os.getpid())


def _file(_: Order) -> None:
    Path("/dev/shm", "left").write_bytes(bytes(MEMORY // 2))
    print(os.getpid())


def _look(_: Order) -> None:
    """Say what shared memory there is."""
    print(*(path.name for path in Path("/dev/shm").iterdir()))
    print(*(line.split()[4] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]))


def _stopped(_: Order) -> None:
    print(_child(lambda: os.kill(os.getpid(), signal.SIGSTOP)), flush=True)
    time.sleep(_FOR_EVER)


def _deaf(_: Order) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    tool = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 600; done"])
    print(tool.pid, flush=True)
    time.sleep(_FOR_EVER)


def _files(order: Order) -> None:
    folder = Path(order.scratch)
    for number in range(2 * FILES):
        if number % 100 == 0:
            folder = Path(order.scratch, str(number))
            folder.mkdir(parents=True)
        (folder / str(number)).touch()
    time.sleep(_FOR_EVER)


def _disk(order: Order) -> None:
    Path(order.scratch).mkdir()
    for number in range(8):
        Path(order.scratch, str(number)).write_bytes(os.urandom(DISK // 4))
    time.sleep(_FOR_EVER)


def _threads(_: Order) -> None:
    data = bytes(_MIB)

    def compute() -> None:
        while True:
            hashlib.sha256(data)

    for _n in range(8):
        threading.Thread(target=compute, daemon=True).start()
    time.sleep(_FOR_EVER)


def _neighbour(order: Order) -> None:
    """A build that keeps to its limits: it computes a little, with a tool and a file."""
    data = _fill(16 << 20)
    Path(order.scratch).mkdir()
    Path(order.scratch, "file").write_bytes(data)
    for _n in range(5):
        hashlib.sha256(data)
    subprocess.run([sys.executable, "-S", "-c", "print('neighbour')"], check=True)


_JOBS: Mapping[str, Callable[[Order], None]] = {
    job.__name__.removeprefix("_"): job
    for job in (
        _memory, _memory_of_50, _shm, _bomb, _escape, _leave, _share, _file, _look, _stopped, _deaf, _files, _disk,
        _threads, _neighbour,
    )
}  # fmt: skip


def perform(order: Order) -> Reply:
    _JOBS[order.build_id](order)
    return Reply()


def open_jobs() -> Perform:
    return perform
