"""Databases as earlier releases left them."""

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import command

from db import migrate
from db.engine import Database, make_engine
from db.models import OPEN_STATES, Build
from db.repositories import designs, explorations, leases, relations

_TIME = "2026-01-01 00:00:00+00:00"
_LEASE = {"lease_token": 3, "losses": 1, "lease_owner": "worker", "lease_expires": _TIME}
_FREE = {"lease_token": 1, "losses": 0}
_OPTIONS = json.dumps({"seed": 0, "sampler": "nsga2", "verify": 1})
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
)


def store_old_release(url: str, revision: str) -> None:
    """Bring the database at `url` to an old revision, with a row in every table."""
    engine = make_engine(url)
    with engine.connect() as connection:
        command.upgrade(migrate._config(connection), revision)
        connection.commit()
    with engine.begin() as connection:
        for table, values in _ROWS:
            stamped = values if table in ("metrics", "artifacts") else {**values, "created_at": _TIME}
            places = ", ".join(f":{name}" for name in stamped)
            connection.execute(sa.text(f"INSERT INTO {table} ({', '.join(stamped)}) VALUES ({places})"), stamped)
    engine.dispose()


def check_upgraded(url: str) -> None:
    """Upgrade the database that `store_old_release` made, and see that everything is there."""
    migrate.upgrade(url)
    database = Database(url)
    with database.write() as session:
        design = designs.get(session, "dsg_1")
        assert (design.latency_us, design.simulated_us, design.deadlock, design.flags) == (1.0, None, None, [])
        searching = explorations.get(session, "exp_2")
        assert (searching.state, searching.priority, searching.owner) == ("queued", "normal", None)
        assert [explorations.get(session, key).name for key in ("exp_1", "exp_2")] == [
            "m-decode-8-f32",
            "m-decode-8-f32-2",
        ]
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
    database.close()
