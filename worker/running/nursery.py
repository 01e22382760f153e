"""The worker's side of the process that forks its executors: see `worker.running.job`."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from queue import SimpleQueue
from struct import Struct

MESSAGE = Struct("ii")
"""What a nursery says: the PID of a process that it has forked, and `STARTED` or the status that it has ended with."""
STARTED = -1000
LOST = 77
"""The status of a process whose nursery has ended, which then ends too, whatever it was at."""


class Child:
    """A process that a nursery has forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def end(self, returncode: int) -> None:
        """It has ended, with an exit status or minus a signal."""
        self.returncode = returncode
        self._ended.set()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within so many seconds."""
        return self._ended.wait(seconds)

    def send_signal(self, number: int) -> None:
        """Nothing where it has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Nursery:
    """A process that has loaded what does jobs, and forks one that does them when asked to.

    It is started for the first that is asked for, and again where it has ended. All that it has forked ends with it,
    and it ends with the thread that has asked for the first.
    """

    def __init__(self, target: str, environment: Mapping[str, str]) -> None:
        self._target = target
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._started: SimpleQueue[Child | None] = SimpleQueue()

    def fork(self, channel: socket.socket) -> Child:
        """A process that does the jobs of `channel`. Raises OSError where there can be none."""
        with self._lock:
            for _ in range(2):  # one may have ended since
                if self._socket is None:
                    self._start()
                assert self._socket is not None
                with suppress(OSError):
                    socket.send_fds(self._socket, [b"f"], [channel.fileno()])
                    child = self._started.get()
                    if child is not None:
                        return child
                self._let_go()
            raise ChildProcessError("no process that does jobs could be started; the log of the worker says why")

    def close(self) -> None:
        """Have it end as soon as all that it has forked have ended."""
        with self._lock:
            self._let_go()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            arguments = (str(os.getpid()), str(theirs.fileno()), self._target)
            process = subprocess.Popen(
                [sys.executable, "-m", "worker.running.job", *arguments],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=[theirs.fileno()],
                env=self._environment,
            )
        self._socket = ours
        self._started = SimpleQueue()
        threading.Thread(target=_listen, args=(ours.dup(), process, self._started), daemon=True).start()

    def _let_go(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            self._socket.close()
            self._socket = None


def _listen(said: socket.socket, process: subprocess.Popen[bytes], started: "SimpleQueue[Child | None]") -> None:
    """Note which processes have started and ended, until the nursery has ended."""
    children: dict[int, Child] = {}
    with said:
        while message := _received(said):
            pid, status = MESSAGE.unpack(message)
            if status == STARTED:
                children[pid] = Child(pid)
                started.put(children[pid])
            else:
                children.pop(pid).end(status)
    process.wait()
    started.put(None)
    for child in children.values():
        child.end(LOST)


def _received(said: socket.socket) -> bytes:
    try:
        return said.recv(MESSAGE.size)
    except OSError:
        return b""
