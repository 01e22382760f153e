"""What the queue promises about who is next, on any database: one shared class of tests."""

from datetime import timedelta

import pytest
from queued_builds import NODE, QUEUE, announce, another, claim, claimed_hand, claimed_key, ensure, expire, finish
from sqlalchemy import select

from db.engine import Database
from db.models import Exploration, QueueShare
from db.repositories import builds, leases, licences, nodes, queue
from db.types import utcnow


class QueueContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_a_build_is_taken_once_under_a_lease(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            [build] = ensure(session, exploration, "a")
            assert (build.state, queue.lengths(session)) == ("queued", {QUEUE: 1})
        taken = claim(database, owner="worker 1")
        assert taken is not None
        assert (taken.build_id, taken.token, taken.stage, taken.queue) == (build.id, 1, "csynth", QUEUE)
        assert claim(database) is None
        with database.read() as session:
            row = builds.get(session, build.id)
            assert (row.state, row.node, row.lease_owner, row.attempt) == ("running", NODE, "worker 1", 1)
            assert row.started_at is not None
            assert leases.holds(session, build.id, 1)
            assert queue.lengths(session) == {}

    def test_queues_are_taken_in_the_order_asked_for(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            ensure(session, exploration, "a", queue="link")
            ensure(session, exploration, "b", queue="cosim")
        assert claimed_key(database, "csim", "cosim", "link") == "b"
        assert claimed_key(database, "csim", "cosim", "link") == "a"

    def test_nobody_else_takes_anything(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            ensure(session, exploration, "a")
        assert claim(database) is None  # not announced
        announce(database)
        for state in ("draining", "paused"):
            with database.write() as session:
                nodes.set_state(session, NODE, state)
            announce(database)  # the operator's word stays
            assert claim(database) is None
        with database.write() as session:
            nodes.set_state(session, NODE, "active")
        assert claim(database) is not None

    def test_explorations_take_turns_and_priority_gives_four(
        self, database: Database, exploration: Exploration
    ) -> None:
        announce(database)
        with database.write() as session:
            high, late = another(session, exploration, "high"), another(session, exploration)
            ensure(session, exploration, *(f"n{i:02}" for i in range(20)), priority="normal")
            ensure(session, high, *(f"h{i:02}" for i in range(20)), priority="high")
        order = [claimed_key(database) or "" for _ in range(10)]
        assert [key[0] for key in order].count("h") == 8
        assert sorted(order) == ["h00", "h01", "h02", "h03", "h04", "h05", "h06", "h07", "n00", "n01"]
        with database.write() as session:
            ensure(session, late, "late")  # level with the others: neither first of all nor behind them all
        following = [claimed_key(database) or "" for _ in range(6)]
        assert "late" in following
        assert following[0] != "late"

    def test_owners_take_turns_whatever_they_queue(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            ensure(session, exploration, *(f"a{i:03}" for i in range(100)), owner="ann", priority="high")
        assert [claimed_key(database) for _ in range(30)][-1] == "a029"
        with database.read() as session:
            assert session.scalars(select(QueueShare)).all() == []  # nobody to share with
        with database.write() as session:
            ensure(session, exploration, *(f"b{i:03}" for i in range(10)), owner="bob", priority="low")
        order = [claimed_key(database) or "" for _ in range(21)]
        assert [key[0] for key in order].count("b") == 10

    def test_who_was_away_gets_no_more_than_their_turn(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            ensure(session, exploration, *(f"a{i:03}" for i in range(60)), owner="ann")
            ensure(session, exploration, *(f"b{i:03}" for i in range(20)), owner="bob")
        for _ in range(45):
            claimed_key(database)
        with database.write() as session:
            ensure(session, exploration, *(f"c{i:03}" for i in range(20)), owner="cid")
        order = [(claimed_key(database) or "")[0] for _ in range(10)]
        assert order.count("c") in (5, 6)

    def test_a_build_whose_time_has_not_come_is_passed_over(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            first, _second = ensure(session, exploration, "a", "b")
            first.not_before = utcnow() + timedelta(hours=1)
            session.flush()
            assert queue.lengths(session) == {QUEUE: 1}
            assert queue.why_waiting(session, first).startswith("is tried again at ")
        assert claimed_key(database) == "b"
        assert claim(database) is None
        with database.write() as session:
            builds.get(session, first.id).not_before = utcnow()
        assert claimed_key(database) == "a"

    def test_a_licence_is_a_token_that_a_crash_frees(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            licences.put(session, "vitis_hls", 2)
            licences.ensure_defaults(session, {"vitis_hls": 9, "vivado": 1})
            ensure(session, exploration, "a", "b", "c", licence="vitis_hls")
            ensure(session, exploration, "d", "e", licence="not counted")
        assert [claimed_key(database) for _ in range(5)] == ["a", "b", "d", "e", None]
        with database.write() as session:
            [waiting] = [b for b in builds.of_exploration(session, exploration.id) if b.state == "queued"]
            assert queue.why_waiting(session, waiting) == "waits for licence vitis_hls: 2 of 2 tokens in use"
            first = builds.of_exploration(session, exploration.id)[0]
            assert {k: (u.tokens, u.used) for k, u in licences.usage(session).items()} == {
                "vitis_hls": (2, 2),
                "vivado": (1, 0),
            }
        expire(database, first.id)
        with database.write() as session:
            assert leases.expired(session) == [first.id]
            leases.count_loss(session, first.id)
        assert claimed_key(database) in ("a", "c")
        assert claim(database) is None

    def test_a_node_runs_no_more_than_it_has_room_for(self, database: Database, exploration: Exploration) -> None:
        announce(database, NODE, 16, 64)
        announce(database, "node-b", 8, 16)
        with database.write() as session:
            first, second, huge = ensure(session, exploration, "a", "b", "c", cpus=8, memory_gb=40)
            huge.memory_gb, huge.request = 100, "/8/100"
        assert claimed_key(database, node="node-b") is None
        assert claimed_key(database) == "a"
        assert claimed_key(database) is None
        with database.read() as session:
            assert queue.why_waiting(session, builds.get(session, second.id)) == (
                "waits for room: it asks for 8 CPUs and 40 GB; node-a has 8 CPUs and 24 GB left"
            )
            assert queue.why_waiting(session, builds.get(session, huge.id)) == (
                f"asks for 8 CPUs and 100 GB, more than any node that offers {QUEUE} has: "
                "node-a has 16 CPUs and 64 GB, node-b has 8 CPUs and 16 GB"
            )
        finish(database, first.id)
        assert claimed_key(database) == "b"

    def test_no_room_is_kept_for_what_may_not_run_yet(self, database: Database, exploration: Exploration) -> None:
        announce(database, NODE, 4, 64)
        with database.write() as session:
            small = ensure(session, exploration, *"abc", queue="small", cpus=1, memory_gb=30)
            [large] = ensure(session, exploration, "large", queue="large", cpus=1, memory_gb=40)
            large.not_before = utcnow() + timedelta(hours=1)
        assert [claimed_key(database, "large", "small") for _ in range(2)] == ["a", "b"]
        with database.write() as session:
            assert nodes.get(session, NODE).waiting == []
            builds.get(session, large.id).not_before = None
        finish(database, small[0].id)
        assert claimed_key(database, "large", "small") == "c"
        with database.read() as session:
            assert [entry["queue"] for entry in nodes.get(session, NODE).waiting] == ["large"]

    def test_a_licence_may_be_forgotten_at_any_time(
        self, database: Database, exploration: Exploration, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        announce(database)
        with database.write() as session:
            [build] = ensure(session, exploration, "a", licence="vitis_hls")
        monkeypatch.setattr(licences, "has_token", lambda *_: False)  # what it was when it was asked for
        with database.read() as session:
            assert queue.why_waiting(session, build).startswith("waits for its turn")

    def test_a_slot_takes_several_in_their_order_and_each_key_once(
        self, database: Database, exploration: Exploration
    ) -> None:
        announce(database)
        with database.write() as session:
            ensure(session, exploration, "a", "b")
            ensure(session, another(session, exploration), "a", "c", "d")
            last = ensure(session, exploration, "e")[0]
            last.not_before = utcnow() + timedelta(hours=1)
        assert claimed_hand(database, 4) == ["a", "b", "c"]
        assert claimed_hand(database, 9) == ["d"]  # a runs, and the time of e has not come

    def test_what_a_slot_takes_at_once_takes_the_room_of_one(
        self, database: Database, exploration: Exploration
    ) -> None:
        announce(database, NODE, 2, 64)
        with database.write() as session:
            ensure(session, exploration, *"abcdefg", cpus=1, memory_gb=1)
            ensure(session, exploration, "x", cpus=2, memory_gb=1)
        assert claimed_hand(database, 3) == ["a", "b", "c"]
        assert claimed_hand(database, 3) == ["d", "e", "f"]
        assert claimed_hand(database, 3) == []

    def test_builds_that_need_a_licence_are_taken_singly(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            licences.ensure_defaults(session, {"vitis": 9})
            ensure(session, exploration, "a", "b", licence="vitis")
        assert claimed_hand(database, 3) == ["a"]

    def test_owners_take_turns_with_several_at_once_too(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            ensure(session, exploration, *"abcdef", owner="ann")
            ensure(session, exploration, *"uvwxyz", owner="bob")
        assert [claimed_hand(database, 3) for _ in range(4)] == [list(text) for text in ("abc", "uvw", "def", "xyz")]
        with database.read() as session:
            assert session.scalars(select(QueueShare.served).order_by(QueueShare.owner)).all() == [7, 5]

    def test_small_builds_do_not_starve_a_large_one(self, database: Database, exploration: Exploration) -> None:
        announce(database, NODE, 16, 64, "simulate", "link")
        with database.write() as session:
            ensure(session, exploration, *(f"s{i:02}" for i in range(40)), queue="simulate", cpus=1, memory_gb=8)
            ensure(session, exploration, "l0", "l1", queue="link", cpus=4, memory_gb=48)
        running = [found.build_id for found in (claim(database, "simulate") for _ in range(8)) if found is not None]
        assert len(running) == 8
        assert claim(database, "simulate") is None
        assert claim(database, "link") is None
        finish(database, running.pop())
        assert claimed_key(database, "simulate") == "s08"  # it waited first; from now on room is kept for the large one
        for done in running[:6]:
            assert claim(database, "simulate") is None
            finish(database, done)
        assert claimed_key(database, "link") == "l0"
        assert claim(database, "link") is None
        finish(database, running[6])
        assert claimed_key(database, "simulate") == "s09"  # they had waited before the second large one
        assert claimed_key(database, "simulate") is None

    def test_the_same_work_does_not_run_twice_at_once(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            other = another(session, exploration)
            [first], [twin], [third] = (
                ensure(session, e, k) for e, k in ((exploration, "a"), (other, "a"), (other, "b"))
            )
        assert claimed_key(database) == "a"
        assert claimed_key(database) == "b"
        assert claim(database) is None
        with database.read() as session:
            waits = builds.get(session, twin.id)
            assert (
                queue.why_waiting(session, waits)
                == f"takes over the result of {first.id}, which does the same work now"
            )
        changed = finish(database, first.id, {"passed": True})
        assert [(b.id, b.state, b.verdict) for b in changed] == [(twin.id, "done", {"passed": True})]
        assert third.id != twin.id

    def test_words_for_what_no_node_can_do(self, database: Database, exploration: Exploration) -> None:
        with database.write() as session:
            [build] = ensure(session, exploration, "a")
            assert queue.why_waiting(session, build).startswith(f"no node offers {QUEUE};")
            nodes.announce(session, "x", {}, {"csynth": "no vitis_hls on PATH"}, 1, 1, "0")
            assert queue.why_waiting(session, build) == f"no node offers {QUEUE} (x: no vitis_hls on PATH)"
        announce(database)
        with database.write() as session:
            assert queue.why_waiting(session, build).startswith("waits for its turn")
            nodes.set_state(session, NODE, "draining")
            assert "node-a (draining)" in queue.why_waiting(session, build)
            nodes.set_state(session, NODE, "active")
            nodes.get(session, NODE).last_seen = utcnow() - timedelta(hours=1)
            session.flush()
            assert "is gone: node-a" in queue.why_waiting(session, build)
