"""One job in a process of its own: `python -m worker.job STAGE ID TOKEN PARENT`.

Exit status 0: the result, good or bad, is recorded. `LEASE_LOST`: nothing was recorded, by intent. Else: it crashed.
"""

import os
import sys
from contextlib import suppress

from worker.guard import fork_under_guard

LEASE_LOST = 75
DISK_FULL = 76


def main(stage: str, key: str, token: int, parent: int) -> int:
    """Run the job under a guard."""
    fork_under_guard(parent)
    # After the fork: the guard stays as small as the interpreter.
    from worker.jobs import run  # noqa: PLC0415

    return run(stage, key, token)


if __name__ == "__main__":
    code = main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    with suppress(OSError):  # the log may be on a full disk
        sys.stdout.flush()
        sys.stderr.flush()
    # At once, whatever threads and exit handlers a library has left.
    os._exit(code)
