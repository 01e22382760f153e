"""Event streams (text/event-stream), line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from millrace.encoding import parse


@dataclass(frozen=True)
class Event:
    """One event of a stream. Of an exploration the kind is `state`, `designs`, `front`, `promoted`, `simulated` or
    `build`; of a log it is `log`, with text, or `end`.
    """

    id: str
    kind: str
    data: Any


class EventParser:
    """Takes lines, gives events. Comments and unknown fields are passed over, and so is an event that is cut off."""

    def __init__(self) -> None:
        self._fields: dict[str, list[str]] = {}

    def take(self, line: str) -> Event | None:
        """The event that this line ends, if it ends one. Raises UnreadableError for data that is not JSON."""
        if line:
            name, _, value = line.partition(":")
            self._fields.setdefault(name, []).append(value.removeprefix(" "))
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        kind = fields.get("event", ["message"])[-1]
        return Event(fields.get("id", [""])[-1], kind, parse("\n".join(fields["data"])))
