"""Databases as earlier releases left them."""

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.orm import Session

from db import migrate
from db.engine import Database, make_engine
from db.migrations.env_filter import include_name
from db.models import OPEN_STATES, Artifact, Base, Build, Metric
from db.repositories import designs, events, explorations, leases, relations

_TIME = "2026-01-01 00:00:00+00:00"
_LEASE = {"lease_token": 3, "losses": 1, "lease_owner": "worker", "lease_expires": _TIME}
_FREE = {"lease_token": 1, "losses": 0}
_OPTIONS = json.dumps({"seed": 0, "sampler": "nsga2", "verify": 1})
_WHY = "a waits for b"
_TOLD = {"id": "dsg_2", "state": "deadlock", "latency_us": None, "deadlock": _WHY}
_ROWS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("models", {"id": "mdl_1", "name": "m", "kind": "builtin", "config": "{}", "digest": "m"}),
    (
        "workloads",
        {
            "id": "wkl_1",
            "model_id": "mdl_1",
            "phase": "decode",
            "length": 8,
            "batch": 1,
            "precision": "f32",
            "layers": 1,
        }
        | {"digest": "w"},
    ),
    *(
        (
            "explorations",
            {
                "id": key,
                "workload_id": "wkl_1",
                "platform": "u55c",
                "objectives": "[]",
                "options": _OPTIONS,
                "budget": 1,
            }
            | {"state": state, **lease},
        )
        for key, state, lease in (("exp_1", "done", _FREE), ("exp_2", "searching", _LEASE))
    ),
    *(
        (
            "designs",
            {"id": key, "exploration_id": exploration, "number": 0, "key": "k", "knobs": "{}", "feasible": True}
            | {"latency_us": 1.0, "energy_uj": 2.0, "violations": "[]", "on_front": True, "seconds": 0.1},
        )
        for key, exploration in (("dsg_1", "exp_1"), ("dsg_2", "exp_2"))
    ),
    *(
        ("builds", {"id": key, **of, "stage": stage, "key": digest, "state": state, "tool_versions": "{}", **lease})
        for key, of, stage, digest, state, lease in (
            ("bld_1", {"workload_id": "wkl_1"}, "lower", "l", "done", _FREE),
            ("bld_2", {"design_id": "dsg_1"}, "csim", "c", "running", _LEASE),
            ("bld_3", {"design_id": "dsg_2"}, "csim", "c", "running", _LEASE),  # nothing forbade that then
            ("bld_4", {"design_id": "dsg_2"}, "simulate", "s", "queued", _FREE),
        )
    ),
    (
        "metrics",
        {"id": 1, "design_id": "dsg_1", "name": "latency", "value": 1.0, "unit": "us", "fidelity": "simulate"}
        | {"tool": "millrace", "tool_version": "0", "build_id": "bld_2"},
    ),
    (
        "artifacts",
        {"id": 1, "build_id": "bld_2", "design_id": "dsg_1", "path": "a", "digest": "d", "size": 1, "media_type": "t"},
    ),
    ("events", {"id": 1, "exploration_id": "exp_1", "kind": "state", "data": "{}"}),
    ("events", {"id": 2, "exploration_id": "exp_2", "kind": "simulated", "data": json.dumps(_TOLD)}),
)


MANY = 10_000
RELEASES = {
    "0001 as it was first": ("0001", ("ALTER TABLE designs DROP COLUMN reason",)),
    "0001": ("0001", ()),
    "0002": ("0002", ()),
    "0003 as it was first": ("0003", ("UPDATE explorations SET state = 'searching' WHERE id = 'exp_2'",)),
    "0003": ("0003", ()),
    "0004": ("0004", ()),
    "0005": ("0005", ()),
    "0006": ("0006", ()),
    "0010": ("0010", (f"UPDATE designs SET deadlock = '{_WHY}' WHERE id = 'dsg_2'",)),
}
"""Revisions that a release or a commit of main had, and what stands there besides or is undone of today's scripts."""


def store_old_release(url: str, release: str, designs: int = 0) -> None:
    """Make the database at `url` one of RELEASES, with a row in every table, and so many designs more."""
    revision, undone = RELEASES[release]
    engine = make_engine(url)
    _upgrade(engine, min(revision, "0002"))
    with engine.begin() as connection:
        for table, values in _ROWS:
            stamped = values if table in ("metrics", "artifacts") else {**values, "created_at": _TIME}
            _insert(connection, table, [dict(stamped)])
        if designs:
            _insert_many(connection, designs)
    _upgrade(engine, revision)
    with engine.begin() as connection:
        for statement in undone:
            connection.execute(sa.text(statement))
    engine.dispose()


def _upgrade(engine: sa.Engine, revision: str) -> None:
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            migrate._suspend_references(connection)
        command.upgrade(migrate._config(connection), revision)
        connection.commit()


def _insert(connection: sa.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    places = ", ".join(f":{name}" for name in rows[0])
    connection.execute(sa.text(f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({places})"), rows)


def _insert_many(connection: sa.Connection, number: int) -> None:
    """Designs of an exploration that has ended, each with a metric, and one in ten with a build and a file."""
    design = {"exploration_id": "exp_1", "feasible": True, "violations": "[]", "seconds": 0.1, "created_at": _TIME}
    metric = {"name": "latency", "unit": "us", "fidelity": "estimate", "tool": "millrace", "tool_version": "0"}
    build = {"stage": "simulate", "state": "done", "tool_versions": "{}", "created_at": _TIME, **_FREE}
    numbers = range(1, number + 1)
    of_design = [
        {"id": f"dsg_m{n}", "number": n, "key": f"k{n}", "knobs": json.dumps({"n": n}), "latency_us": n / 7}
        | {"energy_uj": 1.0, "on_front": n % 500 == 0, **design}
        for n in numbers
    ]
    _insert(connection, "designs", of_design)
    _insert(connection, "metrics", [{"id": n + 1, "design_id": f"dsg_m{n}", "value": n / 7, **metric} for n in numbers])
    built = numbers[9::10]
    _insert(
        connection, "builds", [{"id": f"bld_m{n}", "design_id": f"dsg_m{n}", "key": f"b{n}", **build} for n in built]
    )
    file = {"path": "a", "digest": "d" * 64, "size": 1, "media_type": "t"}
    files = [{"id": n, "build_id": f"bld_m{n}", "design_id": f"dsg_m{n}", **file} for n in built]
    _insert(connection, "artifacts", files)


def check_upgraded(url: str, release: str) -> None:
    """Upgrade the database that `store_old_release` made, and see that everything is there."""
    migrate.upgrade(url)
    database = Database(url)
    with database.write() as session:
        design = designs.get(session, "dsg_1")
        assert (design.latency_us, design.simulated_us, design.refuted, design.flags) == (1.0, None, None, [])
        searching = explorations.get(session, "exp_2")
        assert (searching.state, searching.priority, searching.owner) == ("queued", "normal", None)
        assert [explorations.get(session, key).name for key in ("exp_1", "exp_2")] == [
            "m-decode-8-f32",
            "m-decode-8-f32-2",
        ]
        assert (searching.objectives, design.objectives) == (["latency", "energy"], [1.0, 2.0])
        assert (searching.tags, searching.notes, design.tags, design.notes) == ([], "", [], "")
        found = {b.id: b for b in session.scalars(sa.select(Build).where(Build.state.in_(OPEN_STATES)))}
        assert {key: (b.state, b.queue, b.exploration_id, b.owner) for key, b in found.items()} == {
            "bld_2": ("running", "csim", "exp_1", ""),
            "bld_3": ("queued", "csim", "exp_2", ""),  # of one key one runs
            "bld_4": ("queued", "simulate", "exp_2", ""),
        }
        assert leases.expired(session) == ["bld_2"]
        assert (found["bld_2"].lease_token, found["bld_2"].history, found["bld_2"].options) == (3, [], {})
        assert list(relations.files_of(session, "bld_2")) == ["a"]
        assert [m.build_id for m in designs.metrics_of(session, ["dsg_1"])["dsg_1"]] == ["bld_2"]
        assert session.scalars(sa.select(Build.state).where(Build.workload_id == "wkl_1")).all() == ["done"]
        assert designs.get(session, "dsg_2").refuted == (_WHY if release == "0010" else None)
        [event] = events.since(session, "exp_2", 0)
        assert event.data == {"id": "dsg_2", "state": "refuted", "latency_us": None, "refuted": _WHY}
        _check_many(session)
    database.close()


def check_downgraded(url: str) -> None:
    """Undo the revision that renamed deadlocks, and see that they are as they were."""
    engine = make_engine(url)
    with engine.connect() as connection:
        command.downgrade(migrate._config(connection), "0010")
        connection.commit()
        assert connection.execute(sa.text("SELECT deadlock FROM designs WHERE id = 'dsg_2'")).scalar_one() == _WHY
        told = connection.execute(sa.text("SELECT data FROM events WHERE kind = 'simulated'")).scalar_one()
    engine.dispose()
    told = json.loads(told) if isinstance(told, str) else told
    assert told == _TOLD


def _check_many(session: Session) -> None:
    """All designs that `_insert_many` has stored are there as they were, with what belongs to them."""
    found = {d.id: d for d in designs.stored(session, "exp_1") if d.id.startswith("dsg_m")}
    if not found:
        return
    assert len(found) == MANY
    for n in range(1, MANY + 1, 97):
        design = found[f"dsg_m{n}"]
        assert (design.number, design.knobs, design.latency_us, design.reason) == (n, {"n": n}, n / 7, None)
        assert design.objectives == [n / 7, 1.0]
        assert (design.archived, design.pinned, design.used_at) == (False, False, None)
    assert {d.number for d in designs.front(session, "exp_1")} == {0, *range(500, MANY + 1, 500)}
    assert session.scalar(sa.select(sa.func.count()).select_from(Metric)) == MANY + 1
    built = session.scalars(sa.select(Build.exploration_id).where(Build.id.startswith("bld_m"))).all()
    assert (len(built), set(built)) == (MANY // 10, {"exp_1"})
    assert session.scalar(sa.select(sa.func.count()).select_from(Artifact)) == MANY // 10 + 1
    assert explorations.counts(session, ["exp_1"])["exp_1"].evaluated == MANY + 1


def check_tables(url: str) -> None:
    """The tables are those of db/models.py, whatever the database began as."""
    engine = make_engine(url)
    with engine.connect() as connection:
        options = {"compare_type": True, "include_name": include_name}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata) == []
    engine.dispose()
