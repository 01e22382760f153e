"""Statements of the queue find their rows by index, however many builds there are."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from queued_builds import QUEUE, announce, ensure, new_build
from sqlalchemy import Select, insert
from sqlalchemy.orm import Session

from db.engine import Database
from db.ids import new_id
from db.models import Build, Exploration
from db.repositories import builds, lanes, leases, queue, statistics, turns
from db.repositories.builds import BuildFilter
from db.types import utcnow

LANE = {"queue": QUEUE, "owner": "", "request": "/0/0", "exploration": "exp", "now": utcnow(), "most": "1"}
STATEMENTS: dict[str, tuple[Select[*tuple[Any, ...]], str]] = {
    "the first lane": (lanes.FIRST_OF_QUEUE, "ix_builds_queue (state=? AND queue=?)"),
    "the next lane": (lanes.NEXT_OF_OWNER, "ix_builds_queue (state=? AND queue=? AND owner=? AND request>?)"),
    "the next owner": (lanes.NEXT_OF_QUEUE, "ix_builds_queue (state=? AND queue=? AND owner>?)"),
    "the head": (lanes.LOCKED_FIRST_OF_LANE, "ix_builds_queue (state=? AND queue=? AND owner=? AND request=?)"),
    "the level": (turns.LEVEL, "COVERING INDEX ix_builds_taken (queue=? AND owner=? AND state=?)"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_claims_and_places_are_found_by_index(database: Database, name: str) -> None:
    statement, index = STATEMENTS[name]
    plan = explained(database, statement)
    assert any(index in step for step in plan), plan
    assert not any(re.search("SCAN (builds|designs)|TEMP B-TREE", step) for step in plan), plan


def explained(database: Database, statement: Select[*tuple[Any, ...]]) -> list[str]:
    with database.read() as session:
        compiled = statement.compile(session.get_bind())
        given = compiled.construct_params(LANE)
        values = tuple(str(given[name]) for name in compiled.positiontup or ())
        found = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", values)
        return [row[3] for row in found]


def fill(database: Database, exploration: Exploration, count: int) -> None:
    """Queue builds, as many as none but a test would at once."""
    rows = [{**new_build(exploration, new_id("key")).row(), "state": "queued", "fair_tag": n / 4} for n in range(count)]
    with database.write() as session:
        session.execute(insert(Build), rows)


ACTIONS: dict[str, Callable[[Session, Exploration, Build], object]] = {
    "ensure": lambda session, exploration, _: ensure(session, exploration, new_id("key")),
    "ensure behind": lambda session, exploration, build: ensure(session, exploration, new_id("k"), after_id=build.id),
    "claim": lambda session, _, __: queue.claim(session, [QUEUE], "node-a", "w", 60),
    "finish": lambda session, _, build: builds.finish(session, build, {"passed": True}, {}),
    "fail": lambda session, _, build: builds.fail(session, build, "tool", "broke"),
    "cancel": lambda session, _, build: builds.cancel(session, [build.id]),
    "later": lambda session, _, build: builds.retry_later(session, build, "tool", "broke", None),
    "has_open": lambda session, exploration, _: builds.has_open(session, exploration.id, "csynth", "link"),
    "page": lambda session, _, __: builds.page(session, BuildFilter(state="queued"), None, 20),
    "expired": lambda session, _, __: leases.expired(session),
    "why": lambda session, _, build: queue.why_waiting(session, build),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIONS)
def test_effort_does_not_grow_with_the_number_of_builds(
    database: Database, exploration: Exploration, name: str
) -> None:
    announce(database)
    fill(database, exploration, 300)
    few = effort(database, exploration, ACTIONS[name])
    fill(database, exploration, 10_000)
    assert effort(database, exploration, ACTIONS[name]) < 1.5 * few + 200


def effort(
    database: Database, exploration: Exploration, action: Callable[[Session, Exploration, Build], object]
) -> int:
    """Instructions of SQLite's virtual machine that the action takes, in tens."""
    ticks = 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    with database.write() as session:
        [build] = ensure(session, exploration, new_id("key"))
        driver: Any = session.connection().connection.driver_connection
        driver.set_progress_handler(tick, 10)
        action(session, exploration, build)
        session.flush()
        driver.set_progress_handler(None, 0)
    return ticks


def test_statistics_count_everything(database: Database, exploration: Exploration) -> None:
    fill(database, exploration, 50)
    announce(database)
    with database.write() as session:
        taken = queue.claim(session, [QUEUE], "node-a", "w", 60)
        assert taken is not None
        builds.finish(session, builds.get(session, taken.build_id), None, {})
        lost = queue.claim(session, [QUEUE], "node-a", "w", 60)
        assert lost is not None
        leases.count_loss(session, lost.build_id)
        queue.claim(session, [QUEUE], "node-a", "w", 60)
        stages = {(s.stage, s.state): s for s in statistics.by_stage(session)}
        assert (stages["csynth", "queued"].builds, stages["csynth", "queued"].losses) == (48, 0)
        assert (stages["csynth", "done"].runs, stages["csynth", "running"].losses) == (1, 1)
        assert stages["csynth", "done"].seconds > 0
        [waiting] = statistics.by_queue(session)
        assert (waiting.queue, waiting.builds) == (QUEUE, 48)
        assert abs((utcnow() - waiting.oldest).total_seconds()) < 60
        assert [(r.node, r.queue, r.builds) for r in statistics.running(session)] == [("node-a", QUEUE, 1)]
