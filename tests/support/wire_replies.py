"""Replies of the service in tests, as the client reads them: what is not given is null, empty or 0."""

import json
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from types import NoneType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import httpx

from millrace.encoding import read, to_json

Made = TypeVar("Made")

MADE_AT = datetime(2026, 7, 1, tzinfo=UTC)


def reply(kind: type[Made], /, **values: Any) -> Made:
    """A reply of that kind with these values, which may be JSON."""
    hints = get_type_hints(kind)
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]  # pyright: ignore[reportArgumentType]
    given = {name: _nothing(hints[name]) for name in needed if name not in values} | values
    return read(kind, json.loads(json.dumps(to_json(given))))


def sent(body: Any, status: int = 200) -> httpx.Response:
    """The reply as a service sends it."""
    return httpx.Response(status, json=to_json(body))


def page(*items: Any, next_cursor: str | None = None) -> httpx.Response:
    """A page of a list as a service sends it."""
    return sent({"items": list(items), "next_cursor": next_cursor})


def _nothing(kind: Any) -> Any:
    if NoneType in get_args(kind):
        return None
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if kind is datetime:
        return MADE_AT
    kind = get_origin(kind) or kind
    return reply(cast(type[Any], kind)) if is_dataclass(kind) else kind()
