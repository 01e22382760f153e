"""Benchmarks, each a program of its own: `python -m bench.NAME --help`. What they refuse they say in a line."""

import sys
from types import TracebackType

from compiler.errors import MillraceError


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, MillraceError):
        print(error, file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


if sys.argv[0] == "-m":  # while the program that is run is looked for
    sys.excepthook = _tell
