"""Logs of the processes: lines to read, or JSON with fields to search by; which build they are about is in either."""

import logging
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from worker.settings import Settings

FIELDS = ("build", "exploration", "stage", "node", "attempt")
_TEXT = "%(asctime)s %(levelname)s %(name)s: %(about)s%(message)s"
_JSON = ("asctime", "levelname", "name", "message", *FIELDS)
_RENAMED = {"asctime": "time", "levelname": "level", "name": "logger"}
_EMPTY: Mapping[str, Any] = {}

_about: ContextVar[Mapping[str, Any]] = ContextVar("about", default=_EMPTY)


def configure_logging(settings: Settings, level: int = logging.INFO) -> None:
    """Have this process log to standard error as `settings.log_format` says."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Fields(settings.node))
    handler.setFormatter(_json() if settings.log_format == "json" else logging.Formatter(_TEXT))
    logging.basicConfig(level=level, handlers=[handler], force=True)


@contextmanager
def fields(**values: Any) -> Generator[None]:
    """What is logged by this thread inside the block is about these (of FIELDS)."""
    token = _about.set({**_about.get(), **values})
    try:
        yield
    finally:
        _about.reset(token)


def _json() -> logging.Formatter:
    return JsonFormatter(" ".join(f"%({name})s" for name in _JSON), rename_fields=_RENAMED)


class _Fields(logging.Filter):
    """Puts the fields into each record."""

    def __init__(self, node: str) -> None:
        super().__init__()
        self._node = node

    def filter(self, record: logging.LogRecord) -> bool:
        about = {"node": self._node, **_about.get()}
        for name in FIELDS:
            setattr(record, name, about.get(name))
        build = about.get("build")
        record.about = f"{about.get('stage')} {build}: " if build else ""
        return True
