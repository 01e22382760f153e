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


def test_who_takes_one_row_after_the_other_chooses_among_fifos() -> None:
    """Of two copies, and of each of the rows that these take in turns."""
    streams = [Stream("given", "before", "engine"), Stream("made", "engine", "after")]
    control = Control("token", "position", "store", (), abreast=4, copied=("engine",))
    assert [Abreast.of(control, streams, (), ()).choices(t, "made") for t in ("engine", "after")] == [1, 4]
    turns = control._replace(each=2, interleaved=("engine",))
    assert [Abreast.of(turns, streams, (), ()).choices(t, "made") for t in ("engine", "after")] == [2, 4]
    alone = control._replace(each=4, interleaved=("engine",))
    assert [Abreast.of(alone, streams, (), ()).choices(t, "made") for t in ("engine", "after")] == [4, 4]
