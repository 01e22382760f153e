"""Which reports of Vitis a refit of the area model reads, on any database: one shared class of tests."""

from dataclasses import replace

from queued_builds import add_designs, another, finish, new_build
from sqlalchemy.orm import Session

from db.engine import Database
from db.models import Build, DesignStage, Exploration
from db.repositories import artifacts, builds, catalog, explorations, tool_reports
from db.repositories.artifacts import NewArtifact
from db.repositories.new_build import NewBuild

FILES: dict[str, tuple[str, ...]] = {
    "csim": ("design.json", "dataflow.json", "hls/tasks.h"),
    "csynth": ("reports/csynth.xml", "reports/csynth.rpt", "reports/load_csynth.rpt"),
    "link": ("reports/kernel_util_routed.rpt", "link.log"),
}
STAGES: tuple[DesignStage, ...] = ("csim", "csynth", "link")


def climb(database: Database, exploration: Exploration, design_id: str, key: str, top: DesignStage) -> list[Build]:
    """Builds of a design up to `top`, each done: run, or adopted from a design with the same key."""
    made: list[Build] = []
    for stage in STAGES[: STAGES.index(top) + 1]:
        with database.write() as session:
            new = new_build(exploration, f"{key}-{stage}", stage=stage, design_id=design_id)
            build = builds.ensure(session, new if not made else _after(new, made[-1]))
            if build.state != "done":
                files = [NewArtifact(path, f"{key}-{path}"[:64], 1, "text/plain") for path in FILES[stage]]
                artifacts.replace(session, build.id, design_id, files)
        if build.state != "done":
            finish(database, build.id)
        made.append(build)
    return made


def _after(new: NewBuild, before: Build) -> NewBuild:
    return replace(new, after_id=before.id)


def reported(session: Session, limit: int = 10, platform: str = "u55c") -> dict[str, list[str]]:
    """Names of the files by the key of the csynth."""
    found = tool_reports.newest(session, platform, limit)
    return {key.rstrip("_"): sorted(path.rpartition("/")[2] for path in files) for key, files in found.items()}


DESCRIPTION = ["dataflow.json", "design.json"]
SYNTHESISED = ["csynth.rpt", "csynth.xml", *DESCRIPTION]
LINKED = ["csynth.rpt", "csynth.xml", *DESCRIPTION, "kernel_util_routed.rpt"]


class ToolReportsContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_reports_of_what_passed_csynth(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            first, second, third = add_designs(session, exploration, 3)
            elsewhere = catalog.get_workload(session, exploration.workload_id)
            u280 = explorations.add(session, elsewhere, "u280", ["latency", "energy"], {}, 1)
            [foreign] = add_designs(session, u280, 1)
        climb(database, exploration, first, "a", "csynth")
        climb(database, exploration, second, "b", "link")
        climb(database, exploration, third, "c", "csim")
        climb(database, u280, foreign, "d", "csynth")
        with database.read() as session:
            assert reported(session) == {"a-csynth": SYNTHESISED, "b-csynth": LINKED}
            assert reported(session, limit=1) == {"b-csynth": LINKED}  # the newest
            assert reported(session, platform="u280") == {"d-csynth": SYNTHESISED}
            found = tool_reports.newest(session, "u55c", 1)["b-csynth".ljust(64, "_")]
            assert found["reports/csynth.xml"] == "b-reports/csynth.xml"

    def test_a_link_above_an_adopted_csynth_counts(self, database: Database, exploration: Exploration) -> None:
        """One exploration synthesised the design, another one, to which that was known, linked it."""
        with database.write() as session:
            later = another(session, exploration)
            [first], [second] = add_designs(session, exploration, 1), add_designs(session, later, 1)
        climb(database, exploration, first, "a", "csynth")
        linked = climb(database, later, second, "a", "link")
        assert [build.adopted_from is None for build in linked] == [False, False, True]
        with database.read() as session:
            assert reported(session) == {"a-csynth": LINKED}

    def test_nothing_was_synthesised(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            [design] = add_designs(session, exploration, 1)
        climb(database, exploration, design, "a", "csim")
        with database.read() as session:
            assert tool_reports.newest(session, "u55c", 10) == {}
