"""The process that looks at uploads: `python -m compiler.frontend.scan.process SOCKET`, one file after the other.

Each message is JSON with the file's descriptor beside it; the answer is JSON. It can read that file and nothing of
others, and write nothing; a file that takes more than 512 MB or 2 s of processor time ends it. It ends by itself when
the other end of the socket closes, whatever became of that process.
"""

import json
import os
import resource
import signal
import socket
import sys

from compiler.errors import InvalidInputError, MillraceError, UnsupportedError
from compiler.frontend.confine import confine
from compiler.frontend.scan.bounds import SCAN_MEMORY_BYTES, SCAN_SECONDS
from compiler.frontend.scan.scan import scan

MESSAGE_BYTES = 1 << 16
ERRORS: dict[str, type[MillraceError]] = {e.__name__: e for e in (InvalidInputError, UnsupportedError)}
_NICENESS = 5  # the service's answers come first
_LIMITS = (
    (resource.RLIMIT_AS, SCAN_MEMORY_BYTES),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_NOFILE, 64),
    (resource.RLIMIT_CORE, 0),
)


def main() -> None:
    """Look at files until the socket closes."""
    channel = socket.socket(fileno=int(sys.argv[1]))  # before the walls, which refuse sockets
    os.nice(_NICENESS)
    for kind, value in _LIMITS:
        resource.setrlimit(kind, (value, value))
    confine(())
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, MESSAGE_BYTES, 1)
        if not message:
            return
        channel.send(json.dumps(_answer(json.loads(message), descriptors[0])).encode())
        os.close(descriptors[0])


def _answer(request: dict[str, str], descriptor: int) -> dict[str, str]:
    """What is wrong with the file: empty where nothing is."""
    signal.setitimer(signal.ITIMER_PROF, SCAN_SECONDS)  # of processor time: a busy machine refuses no honest file
    try:
        scan(descriptor, request["form"], request["name"])
    except (InvalidInputError, UnsupportedError) as error:
        return {"error": type(error).__name__, "message": str(error)}
    except MemoryError:  # nothing more is looked at in what is left of this one
        os.abort()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {}


if __name__ == "__main__":
    main()
