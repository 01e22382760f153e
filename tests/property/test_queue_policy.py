"""The queue takes builds as a slow and obvious reading of its policy does, and nobody waits for ever."""

from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queued_builds import announce, another, claimed_key, ensure, finish
from sqlalchemy import text

from db.engine import Database
from db.migrate import upgrade
from db.models import Exploration, Priority
from db.repositories import catalog, explorations, licences

STEPS = {"low": 1.0, "normal": 1 / 4, "high": 1 / 16}
OWNERS = ("ann", "bob", "cid")
TOKENS = 2


@dataclass
class Waiting:
    """One build of the reference."""

    key: str
    number: int
    owner: str
    flow: int
    licence: str | None
    tag: float = 0.0
    state: str = "queued"


@dataclass
class Reference:
    """The policy, looking at every build for every decision."""

    builds: list[Waiting] = field(default_factory=list[Waiting])
    served: dict[str, float] = field(default_factory=dict[str, float])

    def queue(self, new: Waiting, priority: Priority) -> None:
        taken = [b.tag for b in self.builds if b.owner == new.owner and b.state != "queued"]
        last = [b.tag for b in self.builds if b.flow == new.flow]
        new.tag = max([0.0, *taken, *last]) + STEPS[priority]
        self.builds.append(new)

    def claim(self) -> str | None:
        queued = [b for b in self.builds if b.state == "queued"]
        owners = {b.owner for b in queued}
        least = max(self.served.values(), default=0.0) - 1
        had = {owner: max(self.served.get(owner, 0.0), least) for owner in owners}
        used = sum(b.state == "running" and b.licence is not None for b in self.builds)
        able = [b for b in queued if b.licence is None or used < TOKENS]
        if not able:
            return None
        chosen = min(able, key=lambda b: (had[b.owner], b.owner, b.tag, b.number))
        chosen.state = "running"
        if len(owners) > 1:
            self.served[chosen.owner] = had[chosen.owner] + 1
        return chosen.key

    def finish(self, key: str) -> None:
        next(b for b in self.builds if b.key == key).state = "done"


@pytest.fixture(scope="module")
def place() -> Generator[tuple[Database, list[list[Exploration]]]]:
    """A database with three explorations (low, normal, high) of each owner."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder)}/test.db"
        upgrade(url)
        database = Database(url)
        announce(database)
        with database.write() as session:
            model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
            workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
            first = explorations.add(session, workload, "u55c", ["latency", "energy"], {"seed": 0}, 100)
            licences.put(session, "vitis_hls", TOKENS)
            made = [[another(session, first, p) for p in ("low", "normal", "high")] for _ in OWNERS]
        yield database, made
        database.close()


queued = st.tuples(st.just("queue"), st.integers(0, 2), st.integers(0, 2), st.booleans(), st.integers(1, 4))
actions = st.lists(st.one_of(queued, st.just(("claim",)), st.just(("claim",)), st.just(("finish",))), max_size=40)


@given(actions)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_queue_follows_its_policy(
    place: tuple[Database, list[list[Exploration]]], found: list[tuple[object, ...]]
) -> None:
    database, made = place
    reference, running, ids = Reference(), list[str](), dict[str, str]()
    with database.write() as session:
        session.execute(text("DELETE FROM builds"))
        session.execute(text("DELETE FROM queue_shares"))

    def claim() -> str | None:
        key = claimed_key(database)
        assert key == reference.claim()
        if key is not None:
            running.append(key)
        return key

    for action in found:
        if action[0] == "queue":
            _queue(database, reference, ids, made, action)
        elif action[0] == "claim":
            claim()
        elif running:
            reference.finish(running[0])
            finish(database, ids[running.pop(0)])
    for _ in range(2 * len(ids)):  # and all of them get their turn
        if claim() is None and running:
            reference.finish(running[0])
            finish(database, ids[running.pop(0)])
    assert all(b.state != "queued" for b in reference.builds)


def _queue(
    database: Database,
    reference: Reference,
    ids: dict[str, str],
    made: list[list[Exploration]],
    action: tuple[object, ...],
) -> None:
    _, owner, level, licensed, count = action
    assert isinstance(owner, int)
    assert isinstance(level, int)
    assert isinstance(count, int)
    exploration, licence = made[owner][level], "vitis_hls" if licensed else None
    for _ in range(count):
        key = f"k{len(ids)}"
        with database.write() as session:
            [build] = ensure(
                session, exploration, key, owner=OWNERS[owner], priority=exploration.priority, licence=licence
            )
        ids[key] = build.id
        reference.queue(Waiting(key, len(ids), OWNERS[owner], 3 * owner + level, licence), exploration.priority)
