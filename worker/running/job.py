"""One executor: `python -m worker.running.job PARENT CHANNEL TARGET` does the jobs that come through CHANNEL.

TARGET names a function `module:attribute` that makes the function which does a job. It ends when the worker closes the
channel; a job that raises ends it with a traceback in the job's log. A process that had better not be used again is
followed by a fresh one on the same channel, which its guard forks: the imports are done by then.
"""

import os
import sys
from contextlib import suppress
from functools import partial
from pkgutil import resolve_name

from compiler.collection import collect_rarely, rare_collection
from worker.running.guard import RETIRED, adopt_orphans, fork_under_guard


def main(parent: int, channel: int, target: str) -> int:
    """Run jobs under a guard; the exit status."""
    fork_under_guard(parent, partial(_load, target))
    adopt_orphans()
    from worker.running.executing import serve  # noqa: PLC0415  # not before the guard guards

    return RETIRED if serve(channel, target) else 0


def _load(target: str) -> None:
    with rare_collection(), suppress(Exception):  # a child finds out again, and says so in the log of a job
        resolve_name(target)
    collect_rarely()  # each child shares what is loaded here, as long as none of them walks it


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
