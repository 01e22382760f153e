"""Whole replies, where what launches take is given."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from compiler import replies
from compiler.simulator.timing.simulate import StoredDesign
from compiler.whole_token import Lengths


def test_a_chunk_and_a_token_are_told_apart_where_no_loop_follows_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token behind the prompt takes a launch of one row, however like a chunk's tiles its own are."""
    design = SimpleNamespace(arguments={}, control=SimpleNamespace(rows=4), kernels=1, task={})
    stored = cast("StoredDesign", SimpleNamespace(design=design))
    asked: list[int] = []

    def simulated(_: StoredDesign, values: dict[str, int]) -> float:
        asked.append(values.get(replies.ROWS, 1))
        return 100.0 * asked[-1]

    monkeypatch.setattr(replies, "_simulated", simulated)
    monkeypatch.setattr(replies, "_estimated", lambda _: dict.fromkeys(("energy", "energy_with_idle", "latency"), 1.0))
    found = replies.whole_reply(Path(), Lengths(8, 3), 1.0, stored)
    assert found.prompt_us == (400.0, 400.0)
    assert found.later_us == (100.0, 100.0, 100.0)
    assert asked == [4, 1]  # each once
