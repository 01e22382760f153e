"""What the farm's smaller tables promise, on any database: one shared class of tests."""

from datetime import timedelta

import pytest

from db.engine import Database
from db.errors import ConflictError, NotFoundError
from db.models import ApiKey, Exploration, Sweep
from db.repositories import api_keys, audit, calibrations, comparisons, explorations, leaders, nodes, sweeps
from db.types import utcnow


class FarmTablesContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_one_leads_at_a_time(self, database: Database) -> None:
        def lead(holder: str, seconds: float = 60) -> bool:
            with database.write() as session:
                return leaders.lead(session, "sweeps", holder, seconds)

        assert lead("a")
        assert not lead("b")
        assert lead("a", -1)  # still the leader, but only until a second ago
        assert lead("b")
        assert not lead("a")
        with database.write() as session:
            leaders.resign(session, "sweeps", "a")
            assert leaders.lead(session, "other task", "a", 60)
        assert not lead("a")
        with database.write() as session:
            leaders.resign(session, "sweeps", "b")
        assert lead("a")

    def test_sweeps_and_their_runs(self, database: Database, exploration: Exploration) -> None:
        now = utcnow()
        with database.write() as session:
            sweep = sweeps.add(session, "nightly", "0 3 * * *", "UTC", "skip", {}, {}, next_at=now)
            sweeps.add(session, "off", "0 3 * * *", "UTC", "skip", {}, {})
            with pytest.raises(ConflictError, match="another name"):
                sweeps.add(session, "nightly", "* * * * *", "UTC", "skip", {}, {})
            assert [s.name for s in sweeps.due(session, now)] == ["nightly"]
            assert sweeps.due(session, now - timedelta(seconds=1)) == []
            assert sweeps.get(session, "nightly").id == sweeps.lock(session, sweep.id).id
            run = sweeps.start(session, sweep.id, "schedule", now, None)
            assert [r.id for r in sweeps.all_running(session)] == [run.id]
            assert sweeps.last_good(session, sweep.id) is None
            sweeps.finish(session, run, "changed", {"a": 1}, {"v": "2"}, None)
            bad = sweeps.start(session, sweep.id, "schedule", now, run.id)
            sweeps.finish(session, bad, "regressed", None, {}, None)
            sweeps.note_skipped(session, sweep.id, now, "the run before is still under way")
            assert sweeps.running(session, sweep.id) is None
            assert sweeps.last_good(session, sweep.id) is run
            assert [r.state for r in sweeps.runs_page(session, sweep.id, None, 9)].count("cancelled") == 1
            explorations.get(session, exploration.id).sweep_run_id = run.id
            sweeps.set_next(session, sweep.id, None)
            assert sweeps.due(session, now) == []
        with database.write() as session:
            sweeps.remove(session, sweep.id)
            assert [s.name for s in sweeps.page(session, None, 9)] == ["off"]
            assert explorations.get(session, exploration.id).sweep_run_id is None
            with pytest.raises(NotFoundError):
                sweeps.get_run(session, run.id)

    def test_an_id_is_not_mistaken_for_a_name(self, database: Database) -> None:
        """Names may look like ids; whichever of the two rows is stored first."""
        row = {"cron": "0 3 * * *", "zone": "UTC", "misfire": "skip", "matrix": {}, "options": {}}
        key = {"role": "user", "prefix": "p", "hash": "h" * 64, "quotas": {}}
        with database.write() as session:
            for number, name in (("3", "1"), ("1", "a"), ("2", "b"), ("4", "2")):
                session.add(Sweep(id=f"swp_{number}", name=name if name.isalpha() else f"swp_{name}", **row))
                session.add(ApiKey(id=f"key_{number}", name=name if name.isalpha() else f"key_{name}", **key))
                session.flush()
            assert [sweeps.get(session, f"swp_{n}").name for n in "12"] == ["a", "b"]
            assert [sweeps.lock(session, f"swp_{n}").name for n in "12"] == ["a", "b"]
            assert [api_keys.find(session, f"key_{n}").name for n in "12"] == ["a", "b"]
            sweeps.remove(session, "swp_1")
            assert sweeps.get(session, "swp_1").id == "swp_3"

    def test_webhooks_of_many_runs(self, database: Database) -> None:
        """Many runs that ended, or that were not started, do not hide the one whose webhook waits."""
        begun = utcnow()
        with database.write() as session:
            sweep = sweeps.add(session, "busy", "* * * * *", "UTC", "skip", {}, {}, webhook="https://example.org/")
            for n in range(1002):
                run = sweeps.start(session, sweep.id, "schedule", None, None)
                called = None if n % 2 else {"webhook": {"state": "sent"}}
                sweeps.finish(session, run, "changed", called, {}, None)
            waiting = sweeps.start(session, sweep.id, "schedule", None, None)
            sweeps.finish(session, waiting, "changed", {"webhook": {"state": "waiting"}}, {}, None)
            assert [run.id for run in comparisons.unsent(session, begun)] == [waiting.id]
            assert comparisons.unsent(session, utcnow()) == []

    def test_api_keys(self, database: Database) -> None:
        with database.write() as session:
            key = api_keys.add(session, "ann", "user", "mr_abc", "h" * 64)
            with pytest.raises(ConflictError, match="another name"):
                api_keys.add(session, "ann", "admin", "mr_xyz", "i" * 64)
            assert [k.id for k in api_keys.with_prefix(session, "mr_abc")] == [key.id]
            assert api_keys.count(session) == 1
            assert api_keys.is_stale(key)
            api_keys.touch(session, key.id)
        with database.write() as session:
            first = api_keys.find(session, "ann").last_used_at
            api_keys.touch(session, key.id)
            used = api_keys.find(session, key.id)
            session.refresh(used)
            assert (used.last_used_at, api_keys.is_stale(used)) == (first, False)
            assert api_keys.revoke(session, "ann").revoked_at is not None
            assert api_keys.count(session) == 0
            assert [k.name for k in api_keys.page(session, None, 9)] == ["ann"]

    def test_audit_and_calibrations(self, database: Database) -> None:
        with database.write() as session:
            for n, who in enumerate(("ann", None, "ann")):
                audit.append(session, who, "127.0.0.1", "exploration.start", f"exp_{n}", {})
            newest, *_ = audit.page(session, "ann", None, 9)
            assert newest.target == "exp_2"
            assert [e.target for e in audit.page(session, None, newest.id, 9)] == ["exp_1", "exp_0"]
            assert calibrations.latest(session, "u55c") is None
            for digest in "ab":
                calibrations.add(session, "u55c", digest * 64, {}, None)
            calibrations.add(session, "u280", "c" * 64, {}, None)
            latest = calibrations.latest(session, "u55c")
            assert latest is not None
            assert latest.platform == "u55c"

    def test_nodes(self, database: Database) -> None:
        with database.write() as session:
            nodes.announce(session, "a", {"csim": {"g++": "12"}}, {"csynth": "no Vitis"}, 4, 16, "1")
            seen = nodes.get(session, "a").first_seen
            nodes.set_state(session, "a", "paused")
        with database.write() as session:
            again = nodes.announce(session, "a", {}, {}, 8, 32, "2")
            assert (again.state, again.first_seen, again.cpus, again.capabilities) == ("paused", seen, 8, {})
            nodes.forget(session, "a")
            assert nodes.all(session) == []
            with pytest.raises(NotFoundError):
                nodes.set_state(session, "a", "active")
