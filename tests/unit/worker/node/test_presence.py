import pytest

from db.models import NodeState
from db.repositories import nodes
from worker.farm import Farm
from worker.node import presence
from worker.node.presence import Presence


@pytest.fixture(autouse=True)
def ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_ASK_SECONDS", 0)


@pytest.fixture
def consumed() -> list[frozenset[str]]:
    return []


@pytest.fixture
def here(farm: Farm, consumed: list[frozenset[str]]) -> Presence:
    made = Presence(farm, consumed.append)
    made.announce()
    return made


def set_state(farm: Farm, state: NodeState) -> None:
    with farm.database.write() as session:
        nodes.set_state(session, farm.settings.node, state)


def test_nothing_is_taken_before_the_node_is_announced(farm: Farm) -> None:
    assert Presence(farm).queues() == ()


def test_an_active_node_takes_what_it_can(here: Presence, consumed: list[frozenset[str]]) -> None:
    assert "search" in here.queues()
    assert consumed == [frozenset(here.queues())]
    assert not here.gives_back()


@pytest.mark.parametrize(("state", "gives_back"), [("draining", False), ("paused", True)])
def test_the_operator_s_word_counts_at_once(
    here: Presence, farm: Farm, consumed: list[frozenset[str]], state: NodeState, gives_back: bool
) -> None:
    set_state(farm, state)
    assert here.queues() == ()
    assert here.gives_back() == gives_back
    here.announce()
    assert consumed[-1] == frozenset()
    set_state(farm, "active")
    assert here.queues()


def test_a_worker_that_drains_takes_nothing_whatever_the_node_s_state(here: Presence) -> None:
    here.drain()
    assert here.drains
    assert here.queues() == ()
    assert not here.gives_back()


def test_a_full_disk_is_said_and_waited_for(here: Presence, farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "has_room", lambda _: False)
    assert here.queues() == ()
    here.announce()
    with farm.database.read() as session:
        assert "is full" in nodes.get(session, here.name).missing["disk"]
    monkeypatch.setattr(presence, "has_room", lambda _: True)
    assert here.queues()
    here.announce()
    with farm.database.read() as session:
        assert "disk" not in nodes.get(session, here.name).missing


def test_tools_are_looked_for_again_when_asked(here: Presence, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    describe = presence.describe
    monkeypatch.setattr(presence, "describe", lambda settings: found.append("looked") or describe(settings))
    here.announce()
    assert found == []
    here.look_again()
    here.announce()
    assert found == ["looked"]
