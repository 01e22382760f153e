"""Rows of a chunk side by side: which streams have copies."""

from typing import NamedTuple

from compiler.graph.abreast import Abreast
from compiler.graph.task_graph import Control


class Stream(NamedTuple):
    name: str
    source: str
    target: str


def test_what_carries_tokens_behind_layers_is_there_once() -> None:
    """The first copy alone makes them; what carries those of layers is there as often as the engine."""
    streams = [
        Stream("given", "before", "engine"),
        Stream("made", "engine", "relay"),
        Stream("on", "relay", "after"),
        Stream("last", "engine", "last_relay"),
        Stream("last_on", "last_relay", "last_after"),
    ]
    control = Control("token", "position", "store", (), abreast=2, copied=("engine",), behind=("last",))
    found = Abreast.of(control, streams, (), ("relay", "last_relay"))
    assert {name: found.copies(name) for name in ("given", "made", "on", "relay")} == dict.fromkeys(
        ("given", "made", "on", "relay"), 2
    )
    assert [found.copies(name) for name in ("last", "last_on", "last_relay")] == [1, 1, 1]
