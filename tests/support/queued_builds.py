"""Builds to queue, and workers that take them."""

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from db.engine import Database
from db.models import Build, Exploration, Priority
from db.repositories import builds, catalog, designs, explorations, nodes, queue
from db.repositories.designs import NewDesign, NewMetric
from db.repositories.new_build import NewBuild
from db.repositories.queue import Claimed
from db.types import utcnow

QUEUE = "csynth@2023.2"
NODE = "node-a"
_SLOTS = count()


def new_design(number: int, **values: Any) -> NewDesign:
    """One whose objectives follow from its number."""
    defaults: dict[str, Any] = {
        "key": f"k{number}",
        "knobs": {"n": number},
        "feasible": True,
        "latency_us": 10.0 - number,
        "energy_uj": 1.0 + number,
        "objectives": [10.0 - number, 1.0 + number],
        "violations": [],
        "reason": None,
        "seconds": 0.1,
        "metrics": (NewMetric("latency", 10.0 - number, "us", "estimate", "millrace", "0"),),
    }
    return NewDesign(number=number, **(defaults | values))


def add_designs(session: Session, exploration: Exploration, count: int) -> list[str]:
    return designs.add(session, exploration.id, [new_design(n) for n in range(count)])


def another(session: Session, exploration: Exploration, priority: Priority = "normal") -> Exploration:
    """A second exploration of the same workload."""
    workload = catalog.get_workload(session, exploration.workload_id)
    return explorations.add(session, workload, "u55c", ["latency", "energy"], {"seed": 1}, 100, priority=priority)


def new_build(exploration: Exploration | None, key: str, **values: Any) -> NewBuild:
    """A csynth of no design in particular; `key` is any text."""
    made = NewBuild("csynth", f"{key:_<64}", {"vitis": "2023.2"}, QUEUE)
    made = replace(made, exploration_id=None if exploration is None else exploration.id)
    return replace(made, **values)


def ensure(session: Session, exploration: Exploration | None, *keys: str, **values: Any) -> list[Build]:
    return [builds.ensure(session, new_build(exploration, key, **values)) for key in keys]


def announce(database: Database, name: str = NODE, cpus: float = 16, memory_gb: float = 64, *queues: str) -> None:
    with database.write() as session:
        offered = {queue: {"vitis": "2023.2"} for queue in (queues or (QUEUE,))}
        nodes.announce(session, name, offered, {}, cpus, memory_gb, "0")


def claim(
    database: Database, *queues: str, node: str = NODE, owner: str | None = None, seconds: float = 60
) -> Claimed | None:
    """Take a build, for a slot of its own unless told otherwise."""
    with database.write() as session:
        return queue.claim(session, queues or (QUEUE,), node, owner or f"slot {next(_SLOTS)}", seconds)


def claimed_hand(database: Database, most: int, *queues: str, node: str = NODE) -> list[str]:
    """Take several builds for one slot; the texts of their keys."""
    with database.write() as session:
        names = queues or (QUEUE,)
        hand = queue.claim_hand(session, names, node, f"slot {next(_SLOTS)}", 60, dict.fromkeys(names, most))
        return [builds.get(session, found.build_id).key.rstrip("_") for found in hand]


def claimed_key(database: Database, *queues: str, node: str = NODE) -> str | None:
    """Take a build; the text of its key."""
    found = claim(database, *queues, node=node)
    if found is None:
        return None
    with database.read() as session:
        return builds.get(session, found.build_id).key.rstrip("_")


def finish(database: Database, build_id: str, verdict: dict[str, Any] | None = None) -> list[Build]:
    with database.write() as session:
        return builds.finish(session, builds.get(session, build_id), verdict, {})


def expire(database: Database, build_id: str) -> None:
    with database.write() as session:
        past = utcnow() - timedelta(seconds=1)
        session.execute(update(Build).where(Build.id == build_id).values(lease_expires=past))
