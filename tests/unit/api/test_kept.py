"""What is made once is not made again."""

from collections.abc import Callable
from itertools import count

import pytest
from fastapi.testclient import TestClient

from api.services.kept import Kept
from db.repositories import overview


def test_it_is_made_anew_for_another_tag_and_forgotten_when_others_came() -> None:
    kept: Kept[int] = Kept(2)
    numbers = count()
    make: Callable[[], int] = lambda: next(numbers)  # noqa: E731
    assert [kept.get("a", 1, make), kept.get("a", 1, make), kept.get("a", 2, make)] == [0, 0, 1]
    assert [kept.get("b", 1, make), kept.get("c", 1, make), kept.get("c", 1, make)] == [2, 3, 3]
    assert kept.get("a", 2, make) == 4


def test_the_designs_of_an_exploration_are_compared_once(
    client: TestClient, exploration: dict[str, str], design_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/v1/explorations/{exploration['id']}"
    found = client.get(path).json()["distinct"]
    monkeypatch.setattr(overview, "distinct", lambda *_: pytest.fail("counted again"))
    assert client.get(path).json()["distinct"] == found == 4
