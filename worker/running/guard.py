"""An executor runs under a guard, so that nothing of it outlives its worker, its cancellation or its own crash.

The guard is a process above the executor that only waits. It adopts every descendant that loses its parent
(subreaper), and kills them all when the executor ends, when it is told to stop (SIGTERM), or when the worker dies,
whatever of. Process groups alone do not do: a tool that opens its own session leaves the group.
"""

import ctypes
import os
import signal
import sys
import time
from typing import Any, NoReturn

from worker.process_tree import descendants, kill_all

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)
STOPPED = 128 + signal.SIGTERM
"""Exit status of a guard that was told to stop."""
RETIRED = 79
"""Exit status of a child that wants to be followed by a fresh one."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def fork_under_guard(parent: int) -> None:
    """Fork: the caller goes on in the child; the guard stays behind and never returns. It must have no threads.

    `parent` is the process that started this one. A child that exits with RETIRED is followed by another one.
    """
    adopt_orphans()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(STOPPED)
    while job := os.fork():
        _watch(job)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _watch(job: int) -> None:
    """Wait for the job's end; return where another one is to follow."""
    pid, status = os.waitpid(-1, 0)
    while pid != job:
        pid, status = os.waitpid(-1, 0)
    kill_descendants()
    code = os.waitstatus_to_exitcode(status)
    if code != RETIRED:
        os._exit(code if code >= 0 else 128 - code)


def _stop(_signal: int, _frame: Any) -> NoReturn:
    kill_descendants()
    os._exit(STOPPED)


def kill_descendants() -> None:
    """Kill everything below this process, and whatever that still starts meanwhile."""
    while pids := descendants(os.getpid()):
        kill_all(pids)
        _reap()
        time.sleep(0.01)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
