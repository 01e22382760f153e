"""How builds hang together, on any database: one shared class of tests."""

from queued_builds import add_designs, announce, another, claim, ensure, finish
from sqlalchemy.orm import Session

from db.engine import Database
from db.models import Build, Exploration
from db.repositories import artifacts, builds, explorations, relations
from db.repositories.artifacts import NewArtifact


def chain(session: Session, exploration: Exploration, keys: str, **values: str) -> list[Build]:
    """Builds of which each waits for the one before."""
    made: list[Build] = []
    for key in keys:
        made += ensure(session, exploration, key, after_id=made[-1].id if made else None, **values)
    return made


def keys(found: list[Build]) -> str:
    return "".join(build.key.rstrip("_") for build in found)


def states(database: Database, *made: Build) -> list[str]:
    with database.read() as session:
        return [builds.get(session, build.id).state for build in made]


class RelationsContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_what_is_below_and_behind(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            a, b, c = chain(session, exploration, "abc")
            ensure(session, exploration, "d", after_id=a.id)
            assert [keys(relations.below(session, build.id)) for build in (a, b, c)] == ["", "a", "ab"]
            assert keys(relations.behind(session, a.id)) == "bdc"  # nearer ones first
            assert keys(relations.behind(session, c.id)) == ""
            assert relations.below(session, "bld_gone") == relations.behind(session, "bld_gone") == []

    def test_files_by_path(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            a, b = ensure(session, exploration, "a", "b")
            for build, digest in ((a, "1"), (b, "2")):
                files = [NewArtifact(path, digest * 64, 1, "text/plain") for path in ("z", "hls/a.cpp")]
                artifacts.replace(session, build.id, None, files)
            assert relations.files_of(session, a.id) == {"hls/a.cpp": "1" * 64, "z": "1" * 64}
            assert relations.files_of(session, "bld_gone") == {}

    def test_who_waits_for_a_running_build(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            other = another(session, exploration)
            running, alone = ensure(session, exploration, "a", "b")
            first, second = add_designs(session, exploration, 2)
            ensure(session, exploration, "a", design_id=first)  # of the same exploration
            ensure(session, exploration, "b", design_id=second)
        assert (claim(database), claim(database)) != (None, None)
        with database.write() as session:
            ids = [running.id, alone.id]
            assert relations.waited_for(session, ids) == set()
            [twin] = ensure(session, other, "a")
            assert relations.waited_for(session, ids) == {running.id}
            assert relations.waited_for(session, [alone.id]) == relations.waited_for(session, [twin.id]) == set()
            explorations.transition(session, other.id, ("queued",), "cancelled")
            assert relations.waited_for(session, ids) == set()

    def test_what_runs_for_nobody(self, database: Database, exploration: Exploration) -> None:
        """It was kept when its exploration was cancelled, for another one, which is cancelled now."""
        announce(database)
        with database.write() as session:
            [running] = ensure(session, exploration, "a")
        claim(database)
        with database.write() as session:
            [second] = ensure(session, another(session, exploration), "a")
            [third] = ensure(session, another(session, exploration), "a")
            assert relations.running_for_nobody(session, [running.key], [second.id, third.id]) == []  # its own
            explorations.transition(session, exploration.id, ("queued",), "cancelled")
            assert relations.running_for_nobody(session, [running.key], [second.id]) == []
            assert relations.running_for_nobody(session, [running.key], [second.id, third.id]) == [running.id]
            assert relations.running_for_nobody(session, ["b" * 64], []) == []

    def test_a_lost_result_is_made_again_for_all_that_share_it(
        self, database: Database, exploration: Exploration
    ) -> None:
        with database.write() as session:
            bottom, middle, top = chain(session, exploration, "abc")
            [twin] = ensure(session, another(session, exploration), "a")
        finish(database, bottom.id, {"passed": True})
        finish(database, middle.id)
        assert states(database, bottom, middle, top, twin) == ["done", "done", "queued", "done"]
        with database.write() as session:
            again = relations.run_again(session, bottom.id, top.id)
            assert [build.id for build in again] == [bottom.id, twin.id]
            assert {(b.attempt, b.verdict, b.finished_at, b.adopted_from) for b in again} == {(0, None, None, None)}
            assert relations.run_again(session, bottom.id, top.id) == []  # a second one that misses its files
        assert states(database, bottom, middle, top, twin) == ["queued", "done", "blocked", "queued"]
        changed = finish(database, bottom.id, {"passed": True})
        assert [build.id for build in changed] == [twin.id]
        with database.write() as session:
            assert [build.id for build in relations.release(session, bottom.id)] == [top.id]
            assert relations.release(session, bottom.id) == []
        assert states(database, bottom, middle, top, twin) == ["done", "done", "queued", "done"]
