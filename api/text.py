"""What no text of a request may hold, wherever it stands: characters that no database takes.

Postgres stores no NUL, and a lone surrogate is half a character, which is no UTF-8.
"""

import re
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote_to_bytes

from starlette.types import Scope

_BAD = re.compile("[\0\ud800-\udfff]")
WHAT = "a NUL, or half of a character (a lone surrogate, bytes that are no UTF-8), which no text here may"


def head_flaw(scope: Scope) -> str | None:
    """Which part of the head holds one; the path, whose texts are ids and names, also other control characters."""
    if not scope["path"].isprintable() or _is_bad(scope.get("raw_path") or b""):
        return "path"
    if _is_bad(scope["query_string"]):
        return "query"
    return next((f"header {name.decode('latin-1')}" for name, value in scope["headers"] if b"\0" in value), None)


def _is_bad(quoted: bytes) -> bool:
    try:
        return "\0" in unquote_to_bytes(quoted).decode()
    except UnicodeDecodeError:
        return True


def body_flaw(value: Any) -> str | None:
    """Where in a value that was JSON such a text stands, as a JSON pointer; None for nowhere."""
    return next((where for where, text in _texts(value) if _BAD.search(text)), None)


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """All texts in it, names of fields included, with where they stand. Not recursive: it may be deep."""
    left: list[tuple[str, Any]] = [("#", value)]
    while left:
        where, found = left.pop()
        if isinstance(found, str):
            yield where, found
        elif isinstance(found, dict):
            for name, inner in cast(dict[Any, Any], found).items():
                yield where, str(name)
                left.append((f"{where}/{name}", inner))
        elif isinstance(found, list):
            left += [(f"{where}/{index}", inner) for index, inner in enumerate(cast(list[Any], found))]
