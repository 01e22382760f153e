"""JSON of the tools, read key by key: values are numbers in one version and strings in the next."""

import json
from dataclasses import dataclass
from typing import TypeAlias

from compiler.toolchain.numbers import damaged, number
from compiler.toolchain.source import Source

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document. `path` is where it stands ("devices[0].thermals"), for error messages."""

    source: Source
    path: str
    value: Json

    def _entries(self) -> dict[str, Json]:
        return self.value if isinstance(self.value, dict) else {}

    def has(self, key: str) -> bool:
        return key in self._entries()

    def get(self, key: str) -> "Node":
        """The value of `key`. Raises ReportError where this is no object or has no such key."""
        if not self.has(key):
            raise self.source.truncated(f"{self.path or 'the document'} has no {key!r}")
        return Node(self.source, f"{self.path}.{key}".removeprefix("."), self._entries()[key])

    def names(self) -> tuple[str, ...]:
        """Keys of an object; none of anything else."""
        return tuple(self._entries())

    @property
    def plain(self) -> bool:
        """Whether this is a text, a number or a flag."""
        return isinstance(self.value, str | int | float)

    def each(self) -> tuple["Node", ...]:
        """Elements of a list; XRT writes an empty list as an empty string."""
        if self.value == "":
            return ()
        if not isinstance(self.value, list):
            raise damaged(self.source, repr(self.value), self.path, "a list")
        return tuple(Node(self.source, f"{self.path}[{i}]", item) for i, item in enumerate(self.value))

    def text(self) -> str:
        if not self.plain:
            raise damaged(self.source, repr(self.value), self.path, "a text")
        return str(self.value)

    def number(self) -> float:
        """A finite number, written as one or as a string. Raises ReportError for anything else, "unknown" included."""
        value = None if isinstance(self.value, bool) else number(self.source, self.text(), self.path)
        if value is None:
            raise damaged(self.source, str(self.value), self.path, "a number")
        return value

    def flag(self) -> bool | None:
        """True or false, None where the tool wrote something else (XRT 2.17 writes a number of watts)."""
        return {"true": True, "false": False}.get(str(self.value).lower())


def json_root(source: Source) -> Node:
    """The document. Raises ReportError where it is not whole, well-formed JSON."""
    try:
        value: Json = json.loads(source.text)
    except json.JSONDecodeError as error:
        raise source.truncated(f"the JSON ends or breaks at line {error.lineno}") from None
    except (ValueError, RecursionError):
        raise source.foreign("a report", "the JSON file as the tool wrote it") from None
    return Node(source, "", value)


def looks_like_json(source: Source) -> bool:
    return source.text.lstrip().startswith("{")
