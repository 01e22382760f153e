"""What the database promises about simulated designs, on every database; and designs of an older release."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import command

from db import migrate
from db.engine import Database, make_engine
from db.models import Exploration
from db.repositories import artifacts, builds, designs, explorations
from db.repositories.artifacts import NewArtifact
from db.repositories.designs import NewDesign, NewMetric

FLAG = {"metric": "latency", "text": "below the bound"}


def new_design(number: int) -> NewDesign:
    metric = NewMetric("latency", 10.0 - number, "us", "estimate", "millrace", "0")
    return NewDesign(number, f"k{number}", {}, True, 10.0 - number, 1.0 + number, [], None, 0.1, (metric,))


class SimulationContract:
    """Needs the fixtures `database` and `exploration`."""

    def test_simulated_designs(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            ids = designs.add(session, exploration.id, [new_design(n) for n in range(4)])
            build = builds.ensure(session, "simulate", "a" * 64, {}, design_id=ids[0]).id
            metric = NewMetric("latency", 12.5, "us", "simulate", "millrace", "0")
            designs.record_build(session, ids[0], build, "simulate", [metric, metric])
            designs.record_build(session, ids[0], build, "simulate", [metric])  # a second run of the stage
            designs.set_simulated(session, ids[0], 12.5, None, [FLAG])
            designs.set_simulated(session, ids[1], None, "a waits for b", [])
            builds.finish(session, build, {"passed": True}, {})
        with database.read() as session:
            found = designs.metrics_of(session, ids[:1])[ids[0]]
            assert [(m.fidelity, m.build_id) for m in found] == [("estimate", None), ("simulate", build)]
            assert [d.id for d in designs.simulated(session, [exploration.id, "exp_none"])] == [ids[0]]
            assert designs.get(session, ids[0]).flags == [FLAG]
            assert designs.get(session, ids[2]).flags == []
            assert [d.id for d in designs.candidates(session, exploration.id)] == [ids[0], *ids[2:]]
            estimates = designs.metrics_of_exploration(session, exploration.id, "estimate")
            assert [len(estimates[i]) for i in ids] == [1, 1, 1, 1]

    def test_progress_counts_each_design_once(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            ids = designs.add(session, exploration.id, [new_design(n) for n in range(3)])
            for i, key in ((0, "a"), (0, "b"), (1, "a"), (2, "a")):  # the first by two versions of the compiler
                builds.ensure(session, "simulate", key * 64, {}, design_id=ids[i])
            builds.ensure(session, "csim", "c" * 64, {}, design_id=ids[0])
            for build in builds.of_exploration(session, exploration.id, "simulate")[:2]:
                builds.fail(session, build.id, "infeasible", "a waits for b")
        with database.read() as session:
            counts = explorations.counts(session, [exploration.id])[exploration.id]
            assert (counts.promoted, counts.simulated) == (3, 1)
            assert len(builds.of_exploration(session, exploration.id, "simulate", "csim")) == 5
            assert [b.stage for b in builds.unfinished(session, "csim")] == ["csim"]

    def test_files_of_all_stages_are_one_directory(self, database: Database, exploration: Exploration) -> None:
        def files(*paths: str, digest: str) -> list[NewArtifact]:
            return [NewArtifact(path, digest * 64, 1, "text/plain") for path in paths]

        with database.write() as session:
            [design] = designs.add(session, exploration.id, [new_design(0)])
            stages = ("csim", "simulate", "simulate")  # the newest is not of the last stage
            csim, old, new = (
                builds.ensure(session, stage, key * 64, {}, design_id=design)
                for stage, key in zip(stages, "abc", strict=True)
            )
            artifacts.replace(session, old.id, design, files("gone", digest="0"))
            artifacts.replace(session, new.id, design, files("graph", "simulation", digest="1"))
            assert not artifacts.is_compiled(session, design)
            artifacts.replace(session, csim.id, design, files("code", "graph", digest="2"))
            assert artifacts.is_compiled(session, design)
            found = [(a.path, a.digest[0]) for a in artifacts.of_design(session, design)]
        assert found == [("code", "2"), ("graph", "2"), ("simulation", "1")]


def store_design_of_first_release(url: str) -> str:
    """Bring the database at `url` to revision 0001 with one design in it; the design's id."""
    engine = make_engine(url)
    with engine.connect() as connection:
        command.upgrade(migrate._config(connection), "0001")
        connection.commit()
    rows: dict[str, dict[str, Any]] = {
        "models": {"id": "mdl_1", "name": "m", "kind": "builtin", "config": "{}", "digest": "m"},
        "workloads": {"id": "wkl_1", "model_id": "mdl_1", "phase": "decode", "length": 8, "batch": 1}
        | {"precision": "f32", "layers": 1, "digest": "w"},
        "explorations": {"id": "exp_1", "workload_id": "wkl_1", "platform": "u55c", "objectives": "[]"}
        | {"options": json.dumps({"seed": 0, "sampler": "nsga2", "verify": 1}), "budget": 1, "state": "done"}
        | {"lease_token": 0, "losses": 0},
        "designs": {"id": "dsg_1", "exploration_id": "exp_1", "number": 0, "key": "k", "knobs": "{}", "feasible": True}
        | {"latency_us": 1.0, "energy_uj": 2.0, "violations": "[]", "on_front": True, "seconds": 0.1},
    }
    with engine.begin() as connection:
        for table, values in rows.items():
            names = [*values, "created_at"]
            places = ", ".join(f":{name}" for name in names)
            statement = sa.text(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})")
            connection.execute(statement, {**values, "created_at": "2026-01-01 00:00:00+00:00"})
    engine.dispose()
    return "dsg_1"
