"""What the shell offers when a person presses Tab: names of explorations, models, sweeps and boards.

It answers in a moment or not at all: the service's code is not imported, the database of this machine is read as a file
and a service elsewhere is asked once. What goes wrong offers nothing.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from compiler.frontend.models.config import BUILT_IN

_TIMEOUT_S = 1.0
_MOST = 200
_LATEST = "latest"


def explorations(incomplete: str) -> list[str]:
    """Names of explorations, the newest first, and `latest`."""
    sql = "SELECT name FROM explorations ORDER BY id DESC LIMIT ?"
    return _that_begin(incomplete, [_LATEST, *_names(sql, "/v1/explorations")])


def designs(incomplete: str) -> list[str]:
    """Names of explorations with the # behind which a design's number stands."""
    return [f"{name}#" for name in explorations(incomplete)]


def models(incomplete: str) -> list[str]:
    """Built-in and stored models; paths of files are the shell's own."""
    found = _names("SELECT name FROM models ORDER BY id DESC LIMIT ?", "/v1/models")
    return _that_begin(incomplete, [*BUILT_IN, *found])


def sweeps(incomplete: str) -> list[str]:
    """Names of sweeps."""
    return _that_begin(incomplete, _names("SELECT name FROM sweeps ORDER BY id DESC LIMIT ?", "/v1/sweeps"))


def _that_begin(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _names(sql: str, path: str) -> list[str]:
    server = os.environ.get("MILLRACE_SERVER")
    return _quietly(lambda: _asked(server, path) if server else _stored(sql))


def _quietly(read: Callable[[], list[str]]) -> list[str]:
    try:
        return read()
    except (OSError, URLError, sqlite3.Error, ValueError, KeyError, TypeError):
        return []


def _stored(sql: str) -> list[str]:
    """From the SQLite file of this machine; a farm on Postgres is asked through its service."""
    home = os.environ.get("MILLRACE_HOME") or _default_home()
    address = f"file:{quote(str(Path(home).absolute() / 'millrace.db'))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=_TIMEOUT_S)) as database:
        return [str(row[0]) for row in database.execute(sql, (_MOST,))]


def _default_home() -> Path:
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "millrace"  # as worker.settings has it


def _asked(server: str, path: str) -> list[str]:
    request = Request(f"{server.rstrip('/')}{path}?limit={_MOST}")
    if not request.full_url.startswith(("http://", "https://")):
        return []
    if key := os.environ.get("MILLRACE_API_KEY", "").strip():
        request.add_header("Authorization", f"Bearer {key}")
    with urlopen(request, timeout=_TIMEOUT_S) as reply:
        return [str(item["name"]) for item in json.load(reply)["items"]]
