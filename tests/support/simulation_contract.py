"""What the database promises about simulated designs and their files, on every database."""

from datetime import timedelta

from queued_builds import add_designs, ensure
from sqlalchemy.orm import Session

from db.engine import Database
from db.models import Exploration, Stage
from db.repositories import artifacts, builds, designs, explorations, relations
from db.repositories.artifacts import NewArtifact
from db.repositories.designs import NewMetric
from db.types import utcnow

FLAG = {"metric": "latency", "text": "below the bound"}


def files(*paths: str, digest: str) -> list[NewArtifact]:
    return [NewArtifact(path, digest * 64, 1, "text/plain") for path in paths]


class SimulationContract:
    """Needs the fixtures `database` and `exploration`."""

    def test_simulated_designs(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            ids = add_designs(session, exploration, 4)
            [old, new] = ensure(session, exploration, "a", "b", design_id=ids[0], stage="simulate")
            [other] = ensure(session, exploration, "c", design_id=ids[0])
            metric = NewMetric("latency", 12.5, "us", "simulate", "millrace", "0")
            designs.record_build(session, ids[0], other.id, "csynth", [metric])
            designs.record_build(session, ids[0], old.id, "simulate", [metric, metric])
            designs.record_build(session, ids[0], new.id, "simulate", [metric])  # another run of the stage
            designs.set_simulated(session, ids[0], 12.5, None, [FLAG])
            designs.set_simulated(session, ids[1], None, "a waits for b", [])
        with database.read() as session:
            found = designs.metrics_of(session, ids[:1])[ids[0]]
            assert [(m.fidelity, m.build_id) for m in found] == [
                ("estimate", None),
                ("simulate", other.id),
                ("simulate", new.id),
            ]
            assert [d.id for d in designs.simulated(session, [exploration.id, "exp_none"])] == [ids[0]]
            assert designs.get(session, ids[0]).flags == [FLAG]
            assert designs.get(session, ids[2]).flags == []
            assert [d.id for d in designs.candidates(session, exploration.id)] == [ids[0], *ids[2:]]
            estimates = designs.metrics_of_exploration(session, exploration.id, "estimate")
            assert [len(estimates[i]) for i in ids] == [1, 1, 1, 1]

    def test_progress_counts_each_design_once(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            ids = add_designs(session, exploration, 3)
            for i, key in ((0, "a"), (0, "b"), (1, "c"), (2, "d")):  # the first by two versions of the compiler
                ensure(session, exploration, key, design_id=ids[i], stage="simulate")
            ensure(session, exploration, "e", design_id=ids[0], stage="csim")
            for build in builds.of_exploration(session, exploration.id, "simulate")[:2]:
                builds.fail(session, build, "infeasible", "a waits for b")
        with database.read() as session:
            counts = explorations.counts(session, [exploration.id])[exploration.id]
            assert (counts.promoted, counts.simulated) == (3, 1)
            assert len(builds.of_exploration(session, exploration.id, "simulate", "csim")) == 5
            assert builds.has_open(session, exploration.id, "csim")

    def test_files_of_all_stages_are_one_directory(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            [design] = add_designs(session, exploration, 1)
            old = self._ended(session, exploration, design, "simulate", "a", 0)
            new = self._ended(session, exploration, design, "simulate", "b", 1)
            csim = self._ended(session, exploration, design, "csim", "c", 2)
            failed = self._ended(session, exploration, design, "csim", "d", 3)
            builds.get(session, failed).state = "failed"
            artifacts.replace(session, old, design, files("gone", digest="0"))
            artifacts.replace(session, new, design, files("log", "figure", digest="1"))
            assert not artifacts.is_compiled(session, design)
            artifacts.replace(session, csim, design, files("code", "log", digest="2"))
            assert artifacts.is_compiled(session, design)
            artifacts.replace(session, failed, design, files("code", "half", digest="3"))
            found = [(a.path, a.digest[0]) for a in artifacts.of_design(session, design)]
            assert found == [("code", "2"), ("figure", "1"), ("log", "2")]
            assert artifacts.find(session, design, "figure").build_id == new
            assert relations.files_of(session, failed)["half"] == "3" * 64
            assert list(relations.files_of(session, new)) == ["figure", "log"]

    def test_files_are_of_one_compile(self, database: Database, exploration: Exploration) -> None:
        """A simulation by another version of the compiler is left out; what it has made of the design decides if it is
        newer, and the design is then not stored whole any more.
        """
        with database.write() as session:
            [design] = add_designs(session, exploration, 1)
            simulate = self._ended(session, exploration, design, "simulate", "a", 1)
            csim = self._ended(session, exploration, design, "csim", "b", 2)
            report = self._ended(session, exploration, design, "csynth", "c", 3)
            simulation = ("dataflow.json", "design.json", "simulation.json")
            artifacts.replace(session, csim, design, files("code", "dataflow.json", "design.json", digest="2"))
            artifacts.replace(session, report, design, files("csynth.xml", digest="3"))
            artifacts.replace(session, simulate, design, files(*simulation, digest="1"))
            whole = [("code", "2"), ("csynth.xml", "3"), ("dataflow.json", "2"), ("design.json", "2")]
            assert self._found(session, design) == whole
            assert artifacts.is_compiled(session, design)
            artifacts.replace(session, simulate, design, files(*simulation, digest="2"))
            assert self._found(session, design) == [*whole, ("simulation.json", "2")]
            artifacts.replace(session, simulate, design, files(*simulation, digest="1"))
            builds.get(session, simulate).finished_at = utcnow() + timedelta(minutes=4)
            assert self._found(session, design) == [("csynth.xml", "3"), *((path, "1") for path in simulation)]
            assert not artifacts.is_compiled(session, design)

    def _found(self, session: Session, design: str) -> list[tuple[str, str]]:
        return [(a.path, a.digest[0]) for a in artifacts.of_design(session, design)]

    def _ended(
        self, session: Session, exploration: Exploration, design: str, stage: Stage, key: str, minute: int
    ) -> str:
        [build] = ensure(session, exploration, key, design_id=design, stage=stage)
        builds.finish(session, build, None, {})
        build.finished_at = utcnow() + timedelta(minutes=minute)
        return build.id
