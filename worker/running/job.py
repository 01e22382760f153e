"""What forks executors: `python -m worker.running.job PARENT CHANNEL TARGET` forks one for each socket that comes
through CHANNEL, which does the jobs that come through it.

TARGET names a function `module:attribute` that makes the function which does a job. It is loaded once, so that an
executor starts in milliseconds and shares what is loaded with all others. An executor ends when the worker closes its
socket; a job that raises ends it with a traceback in the job's log. One that had better not be used again is followed
by a fresh one on the same socket, which its guard forks.
"""

import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from pkgutil import resolve_name

from compiler.collection import collect_rarely, rare_collection
from worker.processes import die_with
from worker.running.executing import serve
from worker.running.guard import RETIRED, adopt_orphans, fork_under_guard
from worker.running.nursery import MESSAGE, STARTED


def main(parent: int, channel: int, target: str) -> int:
    """Fork executors until the worker closes the channel and all have ended; in each of them, run jobs. The exit
    status.
    """
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _load(target)
    nursery = os.getpid()
    jobs = _fork_each(socket.socket(fileno=channel))
    if jobs is None:
        return 0
    fork_under_guard(nursery)
    adopt_orphans()
    return RETIRED if serve(jobs, target) else 0


def _load(target: str) -> None:
    with rare_collection(), suppress(Exception):  # an executor finds out again, and says so in the log of a job
        resolve_name(target)
    collect_rarely()  # each executor shares what is loaded here, as long as none of them walks it


def _fork_each(worker: socket.socket) -> int | None:
    """In each executor the descriptor of its jobs; None at the end."""
    alive: set[int] = set()
    ours, wake = socket.socketpair()
    wake.setblocking(False)
    with worker, ours, wake, selectors.DefaultSelector() as waiting:
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, _wake)
        waiting.register(worker, selectors.EVENT_READ)
        waiting.register(ours, selectors.EVENT_READ)
        is_open = True
        while is_open or alive:
            ready = {key.fileobj for key, _ in waiting.select()}
            if ours in ready:
                ours.recv(4096)
                _tell_ended(worker, alive)
            if worker not in ready:
                continue
            asked, descriptors, *_ = socket.recv_fds(worker, 1, 1)
            if not asked:
                waiting.unregister(worker)
                is_open = False
                continue
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.setsid()
                return descriptors[0]
            os.close(descriptors[0])
            alive.add(pid)
            worker.send(MESSAGE.pack(pid, STARTED))
    return None


def _wake(_signal: int, _frame: object) -> None:
    """Without a handler nothing is written to the descriptor that wakes."""


def _tell_ended(worker: socket.socket, alive: set[int]) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            alive.discard(pid)
            with suppress(OSError):  # nobody may want to know any more
                worker.send(MESSAGE.pack(pid, os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    status = 1
    try:
        status = main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001  # printed as at the end of any program
        sys.excepthook(*sys.exc_info())  # pyright: ignore[reportArgumentType]
    with suppress(OSError):  # the log may be on a full disk
        sys.stdout.flush()
        sys.stderr.flush()
    # At once, whatever threads and exit handlers a library has left.
    os._exit(status)
