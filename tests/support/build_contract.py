"""What ends of builds do to others, and the cache, on any database: one shared class of tests."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from queued_builds import QUEUE, add_designs, announce, another, claim, claimed_key, ensure, finish
from sqlalchemy import update

from db.engine import Database
from db.models import Build, Exploration
from db.repositories import artifacts, attempts, builds, designs, explorations, queue, relations
from db.repositories.artifacts import NewArtifact
from db.repositories.builds import BuildFilter
from db.repositories.designs import NewDesign, NewMetric
from db.types import utcnow

VERDICT = {"passed": True}
METRIC = NewMetric("latency", 12.5, "us", "simulate", "millrace", "0")
FILE = NewArtifact("a.txt", "d" * 64, 3, "text/plain")


def design(number: int, key: str, accelerator: str | None, latency: float = 1.0) -> NewDesign:
    """As a search finds it."""
    metric = NewMetric("latency", latency, "us", "estimate", "millrace", "0")
    objectives = [latency, 1.0]
    return NewDesign(
        number, key, {"key": key}, True, latency, 1.0, objectives, [], None, 0.1, (metric,), accelerator=accelerator
    )


class BuildContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_a_build_is_made_once_per_key_and_subject(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            first, second = add_designs(session, exploration, 2)
            subjects = ({"design_id": first}, {"design_id": second}, {}, {"workload_id": exploration.workload_id})
            made = [ensure(session, exploration, "a", **subject)[0].id for subject in subjects]
            assert [ensure(session, exploration, "a", **subject)[0].id for subject in subjects] == made
            assert len(set(made)) == 4
            assert [builds.get(session, key).workload_id for key in made] == [None, None, None, exploration.workload_id]

    def test_a_ladder_goes_up_rung_by_rung(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            [bottom] = ensure(session, exploration, "a")
            [middle] = ensure(session, exploration, "b", after_id=bottom.id)
            [top] = ensure(session, exploration, "c", after_id=middle.id)
            assert (bottom.state, middle.state, top.state) == ("queued", "blocked", "blocked")
            assert queue.why_waiting(session, top) == f"waits for csynth {middle.id}, which is blocked"
        assert claimed_key(database) == "a"
        assert claim(database) is None
        assert [(b.id, b.state) for b in finish(database, bottom.id)] == [(middle.id, "queued")]
        assert claimed_key(database) == "b"
        finish(database, middle.id)
        with database.write() as session:
            [late] = ensure(session, exploration, "d", after_id=middle.id)
            assert late.state == "queued"

    def test_a_failure_for_good_cancels_what_waits(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            [bottom] = ensure(session, exploration, "a")
            [middle] = ensure(session, exploration, "b", after_id=bottom.id)
            [top] = ensure(session, exploration, "c", after_id=middle.id)
        claim(database)
        with database.write() as session:
            changed = builds.fail(session, bottom, "tool", "it broke", "l" * 64)
            assert [(b.id, b.state) for b in changed] == [(middle.id, "cancelled"), (top.id, "cancelled")]
            assert changed[1].error == f"csynth {bottom.id}, which it waited for, failed: it broke"
            row = builds.get(session, bottom.id)
            assert (row.state, row.failure, row.error, row.log_digest) == ("failed", "tool", "it broke", "l" * 64)
            assert not builds.has_open(session, exploration.id)
        with database.write() as session:
            assert builds.requeue(session, top.id)
            assert builds.get(session, top.id).error == f"csynth {middle.id}, which it waited for, was cancelled"
            assert [builds.requeue(session, b.id) for b in (bottom, middle, top)] == [True] * 3
            assert [builds.get(session, b.id).state for b in (middle, top)] == ["blocked", "blocked"]
            assert not builds.requeue(session, bottom.id)
            assert [h["error"] for h in builds.get(session, bottom.id).history] == ["it broke"]
        assert claimed_key(database) == "a"

    def test_nothing_is_made_behind_what_has_failed(self, database: Database, exploration: Exploration) -> None:
        """A twin of it has failed meanwhile, say, after whoever makes the next one has looked."""
        with database.write() as session:
            [bottom] = ensure(session, exploration, "a")
            builds.fail(session, bottom, "infeasible", "does not fit")
            [middle] = ensure(session, exploration, "b", after_id=bottom.id)
            [top] = ensure(session, exploration, "c", after_id=middle.id)
            assert [(b.state, b.error) for b in (middle, top)] == [
                ("cancelled", f"csynth {bottom.id}, which it waited for, failed: does not fit"),
                ("cancelled", f"csynth {middle.id}, which it waited for, was cancelled"),
            ]

    @pytest.mark.parametrize("how", ["fails", "is cancelled"])
    def test_what_waits_further_up_for_files_that_are_not_made_again_is_cancelled(
        self, database: Database, exploration: Exploration, how: str
    ) -> None:
        with database.write() as session:
            [bottom] = ensure(session, exploration, "a")
            [middle] = ensure(session, exploration, "b", after_id=bottom.id)
            [top] = ensure(session, exploration, "c", after_id=middle.id)
            for build in (bottom, middle):
                builds.finish(session, build, VERDICT, {})
            relations.run_again(session, bottom.id, top.id)
            assert (middle.state, top.state) == ("done", "blocked")
            if how == "fails":
                assert [b.id for b in builds.fail(session, bottom, "tool", "broke")] == [top.id]
            else:
                assert {b.id for b in builds.cancel(session, [bottom.id])} == {bottom.id, top.id}
            assert (middle.state, top.state) == ("done", "cancelled")

    def test_files_of_what_has_failed_meanwhile_are_not_waited_for(
        self, database: Database, exploration: Exploration
    ) -> None:
        with database.write() as session:
            [maker] = ensure(session, exploration, "a")
            twins = [ensure(session, another(session, exploration), "a")[0] for _ in range(2)]
            first, reader = ensure(session, exploration, "b", "c", after_id=maker.id)
            [behind] = ensure(session, exploration, "d", after_id=reader.id)
            builds.finish(session, maker, VERDICT, {})
            relations.run_again(session, maker.id, first.id)
            builds.fail(session, maker, "tool", "broke")
            assert [b.state for b in (first, reader, behind)] == ["cancelled", "queued", "blocked"]
            assert relations.run_again(session, maker.id, reader.id) == []
            assert [b.state for b in twins] == ["queued", "queued"]
            assert [b.state for b in (reader, behind)] == ["cancelled", "cancelled"]
            assert reader.error == f"csynth {maker.id}, which it waited for, failed: broke"

    def test_what_was_cancelled_meanwhile_is_not_released(
        self, database: Database, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with database.write() as session:
            [bottom] = ensure(session, exploration, "a")
            [middle] = ensure(session, exploration, "b", after_id=bottom.id)
            [top] = ensure(session, exploration, "c", after_id=middle.id)
            for build in (bottom, middle):
                builds.finish(session, build, VERDICT, {})
            relations.run_again(session, bottom.id, top.id)
            builds.finish(session, bottom, VERDICT, {})
            found = relations.behind(session, bottom.id)
            cancelled = update(Build).where(Build.id == top.id).values(state="cancelled")
            session.execute(cancelled, execution_options={"synchronize_session": False})
            monkeypatch.setattr(relations, "behind", lambda *_: found)
            assert relations.release(session, bottom.id) == []
            session.refresh(top)
            assert top.state == "cancelled"

    def test_a_build_more_of_a_finished_exploration_is_waited_for(
        self, database: Database, exploration: Exploration
    ) -> None:
        announce(database)
        with database.write() as session:
            [running] = ensure(session, exploration, "a")
            other = another(session, exploration)
            explorations.transition(session, other.id, ("queued",), "done")
            ensure(session, other, "a")
        claim(database)
        with database.write() as session:
            assert relations.waited_for(session, [running.id]) == {running.id}

    def test_what_is_tried_again_for_nobody(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            [kept] = ensure(session, exploration, "a")
        claim(database)
        with database.write() as session:
            other = another(session, exploration)
            [waiting] = ensure(session, other, "a")
            explorations.transition(session, exploration.id, ("queued",), "cancelled")
            builds.retry_later(session, kept, "licence", "none left", None)
            assert relations.running_for_nobody(session, [kept.key], [waiting.id]) == [kept.id]
            [third] = ensure(session, another(session, exploration), "a")
            assert relations.running_for_nobody(session, [kept.key], [waiting.id]) == []
            builds.cancel(session, [kept.id, third.id])
            builds.requeue(session, kept.id)  # a person wants it
            assert relations.running_for_nobody(session, [kept.key], [waiting.id]) == []

    def test_what_a_twin_has_done_is_not_run_again(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            first, second = add_designs(session, exploration, 2)
            [build] = ensure(session, exploration, "a", design_id=first)
            builds.cancel(session, [build.id])
            [twin] = ensure(session, exploration, "a", design_id=second)
            builds.finish(session, twin, VERDICT, {})
            assert builds.requeue(session, build.id)
            assert (build.state, build.adopted_from, build.verdict) == ("done", twin.id, VERDICT)

    def test_a_failure_that_is_shared_leaves_what_was_measured(
        self, database: Database, exploration: Exploration
    ) -> None:
        with database.write() as session:
            first, second = add_designs(session, exploration, 2)
            [older] = ensure(session, exploration, "a", design_id=second)
            designs.record_build(session, second, older.id, "csynth", [METRIC])
            builds.finish(session, older, VERDICT, {})
            [build] = ensure(session, exploration, "b", design_id=first)
            builds.fail(session, build, "infeasible", "does not fit")
            [twin] = ensure(session, exploration, "b", design_id=second)
            assert twin.state == "failed"
            assert [m.build_id for m in designs.metrics_of(session, [second])[second]] == [None, older.id]

    def test_cancelling_takes_descendants_along(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            ensure(session, exploration, "z")
            [bottom] = ensure(session, exploration, "a")
            [top] = ensure(session, exploration, "b", after_id=bottom.id)
        claim(database)
        claim(database)
        with database.write() as session:
            changed = builds.cancel(session, [bottom.id])
            assert {(b.id, b.state) for b in changed} == {(bottom.id, "cancelled"), (top.id, "cancelled")}
            assert builds.cancel(session, [bottom.id]) == []
            states = Counter(b.state for b in builds.of_exploration(session, exploration.id, "csynth"))
            assert states == {"running": 1, "cancelled": 2}
            assert builds.has_open(session, exploration.id, "csynth")
            assert not builds.has_open(session, exploration.id, "csim", "link")

    def test_what_is_tried_later_goes_behind_and_remembers(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            [first, *_] = ensure(session, exploration, "a", "b", "c")
        claim(database)
        with database.write() as session:
            later = utcnow() + timedelta(seconds=60)
            builds.retry_later(session, first, "licence", "no token\nat all", later, "1" * 64)
            row = builds.get(session, first.id)
            assert (row.state, row.attempt, row.failure, row.node) == ("queued", 1, None, None)
            [entry] = row.history
            assert (entry["attempt"], entry["failure"], entry["log_digest"]) == (1, "licence", "1" * 64)
            assert queue.why_waiting(session, row).endswith("UTC after a failure (licence): no token")
            row.not_before = utcnow()
        assert [claimed_key(database) for _ in range(3)] == ["b", "c", "a"]
        with database.write() as session:
            row = builds.get(session, first.id)
            assert attempts.failures(row) == {"licence": 1}
            builds.fail(session, row, "tool", "broke")
            builds.requeue(session, row.id)
            assert (row.attempt, attempts.failures(row)) == (0, {})
            assert [h["failure"] for h in row.history] == ["licence", "tool"]

    def test_what_is_done_is_adopted_whole(self, database: Database, exploration: Exploration) -> None:
        announce(database, "node-a", 1, 1, "simulate")
        with database.write() as session:
            first, second, third = add_designs(session, exploration, 3)
            [build] = ensure(session, exploration, "a", design_id=first, stage="simulate", queue="simulate")
            [waiting] = ensure(session, exploration, "a", design_id=second, stage="simulate", queue="simulate")
            [behind] = ensure(session, exploration, "b", design_id=second, after_id=waiting.id)
        claim(database, "simulate")
        with database.write() as session:
            artifacts.replace(session, build.id, first, [FILE])
            designs.record_build(session, first, build.id, "simulate", [METRIC])
            designs.set_simulated(session, first, 12.5, None, [{"metric": "latency"}])
            changed = builds.finish(session, build, VERDICT, {"millrace": "1"}, "l" * 64)
            assert [(b.id, b.state) for b in changed] == [(waiting.id, "done"), (behind.id, "queued")]
            [late] = ensure(session, exploration, "a", design_id=third, stage="simulate", queue="simulate")
        with database.read() as session:
            for build_id, design_id in ((waiting.id, second), (late.id, third)):
                twin = builds.get(session, build_id)
                assert (twin.state, twin.verdict, twin.tool_versions) == ("done", VERDICT, {"millrace": "1"})
                assert (twin.adopted_from, twin.log_digest, twin.seconds) == (build.id, "l" * 64, None)
                assert list(relations.files_of(session, build_id)) == ["a.txt"]
                assert designs.get(session, design_id).simulated_us == 12.5
                found = designs.metrics_of(session, [design_id])[design_id]
                assert [(m.fidelity, m.build_id) for m in found] == [("estimate", None), ("simulate", build_id)]

    def test_the_twin_that_still_has_its_metrics_is_adopted(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            ids = add_designs(session, exploration, 3)
            for design in ids[:2]:
                [build] = ensure(session, exploration, "a", design_id=design, stage="simulate")
                designs.record_build(session, design, build.id, "simulate", [METRIC])
                builds.finish(session, build, VERDICT, {})
            [newer] = ensure(session, exploration, "b", design_id=ids[1], stage="simulate")  # by another version
            designs.record_build(session, ids[1], newer.id, "simulate", [METRIC])
            builds.finish(session, newer, VERDICT, {})
            [late] = ensure(session, exploration, "a", design_id=ids[2], stage="simulate")
            assert [m.build_id for m in designs.metrics_of(session, [ids[2]])[ids[2]]] == [None, late.id]

    def test_a_failure_of_the_inputs_is_shared_and_others_are_not(
        self, database: Database, exploration: Exploration
    ) -> None:
        announce(database)
        with database.write() as session:
            ids = add_designs(session, exploration, 3)
            [first], [twin] = (ensure(session, exploration, "a", design_id=i) for i in ids[:2])
            [behind] = ensure(session, exploration, "b", design_id=ids[1], after_id=twin.id)
        claim(database)
        with database.write() as session:
            assert builds.fail(session, first, "tool", "broke") == []
            assert builds.get(session, twin.id).state == "queued"
        claim(database)
        with database.write() as session:
            builds.requeue(session, first.id)
            changed = builds.fail(session, builds.get(session, twin.id), "infeasible", "does not fit")
            assert [(b.id, b.state) for b in changed] == [(behind.id, "cancelled"), (first.id, "failed")]
            [late] = ensure(session, exploration, "a", design_id=ids[2])
            assert (late.state, late.failure, late.error) == ("failed", "infeasible", "does not fit")

    def test_a_search_is_adopted_with_its_designs(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            add_designs(session, exploration, 5)
            designs.set_front(session, exploration.id, {"k1", "k4"})
            whole: dict[str, Any] = {"stage": "search", "queue": "search", "options": {"first": 0, "count": 5}}
            [search] = ensure(session, exploration, "s", **whole)
            builds.finish(session, search, None, {})
            other = another(session, exploration)
            add_designs(session, other, 2)  # of a search that was interrupted
            [adopted] = ensure(session, other, "s", **whole)
            assert adopted.state == "done"
        with database.read() as session:
            found = designs.stored(session, other.id)
            assert [d.number for d in found] == [0, 1, 2, 3, 4]
            assert [d.key for d in designs.front(session, other.id)] == ["k4", "k1"]
            metrics = designs.metrics_of(session, [d.id for d in found])
            assert [[(m.name, m.value) for m in metrics[d.id]] for d in found] == [
                [("latency", 10.0 - n)] for n in range(5)
            ]

    def test_of_designs_that_are_alike_the_first_by_number_stays(
        self, database: Database, exploration: Exploration
    ) -> None:
        """By accelerator or by knobs, whichever was found first."""
        with database.write() as session:
            a, b, _ = designs.add_first(
                session, exploration.id, [design(64, "a", "A"), design(65, "b", None), design(66, "c", "C")]
            )
            ensure(session, exploration, "x", design_id=a)
            stored = designs.add_first(
                session, exploration.id, [design(0, "a0", "A", 2.0), design(1, "b", None), design(70, "c2", "C")]
            )
            assert stored == [a, b]
        with database.read() as session:
            found = designs.stored(session, exploration.id)
            assert [(d.number, d.key, d.knobs["key"]) for d in found] == [
                (0, "a0", "a0"),
                (1, "b", "b"),
                (66, "c", "c"),
            ]
            metrics = designs.metrics_of(session, [d.id for d in found])
            assert [[m.value for m in metrics[d.id]] for d in found] == [[2.0], [1.0], [1.0]]

    def test_a_number_that_is_taken_is_not_taken_again(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            designs.add(session, exploration.id, [design(1, "a", "A")])
            designs.add_first(session, exploration.id, [design(n, f"k{n}", f"K{n}") for n in range(3)])
            assert [(d.number, d.key) for d in designs.stored(session, exploration.id)] == [
                (0, "k0"),
                (1, "a"),
                (2, "k2"),
                (3, "k1"),
            ]

    def test_designs_that_have_builds_stay_when_others_are_copied(
        self, database: Database, exploration: Exploration
    ) -> None:
        with database.write() as session:
            add_designs(session, exploration, 4)
            other = another(session, exploration)
            kept, _ = add_designs(session, other, 2)
            ensure(session, other, "a", design_id=kept)
            assert designs.copy(session, exploration.id, other.id, 0, 4) == 3
            found = designs.stored(session, other.id)
            assert (found[0].id, [d.key for d in found], [d.number for d in found]) == (
                kept,
                ["k0", "k1", "k2", "k3"],
                [0, 1, 2, 3],
            )

    def test_what_was_never_taken_gives_its_turn_back(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            made = ensure(session, exploration, *(f"a{i:02}" for i in range(50)))
            builds.cancel(session, [b.id for b in made[10:]])
            ensure(session, another(session, exploration), *(f"b{i:02}" for i in range(10)))
            for build in made[10:20]:
                builds.requeue(session, build.id)
        order = [(claimed_key(database) or "")[0] for _ in range(20)]
        assert order.count("b") == 10

    def test_pages_are_filtered_and_newest_first(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            made = [b.id for b in ensure(session, exploration, "a", "b", "c", "d")]
        claim(database)
        with database.read() as session:
            first = builds.page(session, BuildFilter(state="queued", queue=QUEUE), None, 2)
            assert [b.id for b in first] == sorted(made[1:], reverse=True)[:2]
            rest = builds.page(session, BuildFilter(state="queued"), first[-1].id, 9)
            assert len(rest) == 1
            assert [b.state for b in builds.page(session, BuildFilter(node="node-a"), None, 9)] == ["running"]
            assert builds.page(session, BuildFilter(stage="link", exploration_id=exploration.id), None, 9) == []
