"""What a person or a program reads: tables and notes on a terminal, one JSON document with `--json`.

Results go to stdout; progress, notes and errors to stderr, so that `--json` can be piped.
"""

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from rich.console import Console
from rich.table import Table

from compiler.errors import InvalidInputError
from millrace.encoding import to_json

_PIPED_WIDTH = 130  # a row of a front fits on a line
_VISIBLE = {c: f"^{chr(c ^ 64)}" for c in (*range(32), 127) if chr(c) not in "\n\r\t"} | dict.fromkeys(
    range(128, 160), "?"
)


def _make_console(stderr: bool) -> Console:
    made = Console(stderr=stderr, highlight=False, soft_wrap=True, emoji=False)
    if not made.is_terminal:
        made.width = _PIPED_WIDTH
    return made


console = _make_console(stderr=False)
errors = _make_console(stderr=True)


def emit_json(data: Any) -> None:
    """Write one JSON document to stdout; dataclasses of millrace.wire in it as a service sends them."""
    json.dump(data, sys.stdout, indent=2, default=to_json)
    sys.stdout.write("\n")
    sys.stdout.flush()  # a pipe is read while the command goes on, as that of `up`


def emit_list(items: Sequence[Any], as_json: bool, as_csv: bool) -> bool:
    """Write a list as one JSON document or as CSV, as was asked for; whether anything was. Raises InvalidInputError
    where both were.
    """
    if as_json and as_csv:
        raise InvalidInputError("--json and --csv are two forms of one list: choose one")
    if as_json:
        emit_json(items)
    elif as_csv:
        _emit_csv([_flat(to_json(item)) for item in items])
    return as_json or as_csv


def _emit_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """A line a row, under the names of all their columns; nothing for no rows."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if columns:
        writer.writerow(columns)
    writer.writerows([row.get(name, "") for name in columns] for row in rows)


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Objects inside as columns `outer.inner`; lists as JSON, null as nothing."""
    found: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            found |= _flat(cast("dict[str, Any]", inner), f"{prefix}{name}.")
        elif isinstance(inner, list):
            found[prefix + name] = json.dumps(inner)
        else:
            found[prefix + name] = "" if inner is None else inner
    return found


def write_log(text: str) -> None:
    """Write what tools have printed to stdout. What was uploaded may be quoted in it, so that a terminal is not told to
    do what it says: control characters are shown there, and kept elsewhere.
    """
    sys.stdout.write(text.translate(_VISIBLE) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose columns named with a leading `>` are right-aligned.

    On a narrow terminal texts wrap; the first column, an id that people copy, gives way last.
    """
    result = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        justify = "right" if column.startswith(">") else "left"
        result.add_column(column.removeprefix(">"), justify=justify, overflow="fold", no_wrap=column == columns[0])
    for row in rows:
        result.add_row(*row)
    return result


def share(value: float, *, signed: bool = False) -> str:
    """A share as percent."""
    return f"{100 * value:+.1f} %" if signed else f"{100 * value:.1f} %"


def verdict_word(passed: bool | None) -> str:
    """The coloured word for a C simulation verdict; None where there was none."""
    if passed is None:
        return "[dim]not run[/]"
    return "[green]passed[/]" if passed else "[red]FAILED[/]"
