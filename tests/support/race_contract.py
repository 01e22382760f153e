"""What the queue promises when many workers take builds at once, on any database: one shared class of tests."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import pytest
from farm_states import lower_build, set_state, state_of
from queued_builds import NODE, QUEUE, announce, another, claim, claimed_key, ensure
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.engine import Database
from db.models import OPEN_STATES, Build, Exploration, Node
from db.repositories import builds, explorations, leases, licences, nodes, queue
from db.repositories.queue import Claimed
from worker.farm import open_farm
from worker.ladder import flow
from worker.settings import Settings

WORKERS = 8


class Watch:
    """What runs at the same time, as the workers themselves see it: entered after a claim is committed, left before the
    end of the build is. The first ones stay until `together` of a kind run.
    """

    def __init__(self, together: int) -> None:
        self.together = together
        self.lock = threading.Condition()
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.claimed: Counter[str] = Counter()

    def enter(self, build_id: str, what: str) -> None:
        with self.lock:
            self.claimed[build_id] += 1
            self.running[what] += 1
            self.most[what] = max(self.most[what], self.running[what])
            self.lock.notify_all()
            self.lock.wait_for(lambda: self.most[what] >= self.together, 60)

    def leave(self, what: str) -> None:
        with self.lock:
            self.running[what] -= 1


def work(database: Database, what: Callable[[str], str], seconds: float = 0.002, together: int = 1) -> Watch:
    """Have eight workers of one node take and finish all builds; `what` says what of a build's key is counted."""
    watch = Watch(together)

    def loop(name: str) -> None:
        while (taken := database.retry(lambda session: _take(session, name))) is not None or _is_left(database):
            if taken is None:
                time.sleep(0.005)
                continue
            claimed, key = taken
            watch.enter(claimed.build_id, what(key))
            time.sleep(seconds)
            watch.leave(what(key))
            database.retry(lambda session, claimed=claimed: _finish(session, claimed))

    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(loop, f"w{n}") for n in range(WORKERS)]:
            done.result(timeout=120)
    return watch


def _take(session: Session, name: str) -> tuple[Claimed, str] | None:
    claimed = queue.claim(session, [QUEUE], "node-a", name, 60)
    return None if claimed is None else (claimed, builds.get(session, claimed.build_id).key.rstrip("_"))


def _finish(session: Session, claimed: Claimed) -> None:
    build = builds.get(session, claimed.build_id)
    assert build.exploration_id is not None
    explorations.lock(session, build.exploration_id)
    leases.fence(session, claimed.build_id, claimed.token)
    builds.finish(session, build, {"passed": True}, {})


def _is_left(database: Database) -> bool:
    with database.read() as session:
        return session.scalars(select(Build.id).where(Build.state.in_(OPEN_STATES))).first() is not None


class RaceContract:
    """Fixtures `database` and `exploration` come from the subclass's conftest."""

    def test_every_build_is_taken_once(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            ids = {b.id for b in ensure(session, exploration, *(f"a{n}" for n in range(40)), owner="ann")}
            ids |= {b.id for b in ensure(session, exploration, *(f"b{n}" for n in range(10)), owner="bob")}
        watch = work(database, lambda _: "any")
        assert watch.claimed == dict.fromkeys(ids, 1)

    def test_no_more_run_than_there_are_tokens(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            licences.put(session, "vitis_hls", 2)
            ensure(session, exploration, *(f"a{n}" for n in range(24)), licence="vitis_hls")
            other = another(session, exploration)
            ensure(session, other, *(f"b{n}" for n in range(6)), licence="vitis_hls")
        watch = work(database, lambda _: "vitis_hls", seconds=0.02, together=2)
        assert (watch.most["vitis_hls"], len(watch.claimed)) == (2, 30)

    def test_a_node_is_not_overcommitted(self, database: Database, exploration: Exploration) -> None:
        announce(database, "node-a", 16, 64)
        with database.write() as session:
            ensure(session, exploration, *(f"large{n}" for n in range(6)), cpus=1, memory_gb=40)
            ensure(session, exploration, *(f"small{n}" for n in range(18)), cpus=1, memory_gb=10)
        watch = work(database, lambda key: key[:5], seconds=0.02)
        assert watch.most["large"] == 1
        assert watch.most["small"] <= 6
        assert len(watch.claimed) == 24

    def test_one_key_runs_once(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            several = [exploration, *(another(session, exploration) for _ in range(3))]
            ids = [b.id for e in several for b in ensure(session, e, *(f"a{n}" for n in range(10)))]
        watch = work(database, lambda key: key, seconds=0.01)
        assert set(watch.most.values()) == {1}
        assert len(watch.claimed) == 10  # the others were adopted
        with database.read() as session:
            assert {builds.get(session, key).state for key in ids} == {"done"}

    def test_no_claim_waits_to_say_that_it_waits(self, database: Database, exploration: Exploration) -> None:
        announce(database, NODE, 16, 64)
        with database.write() as session:
            ensure(session, exploration, "a", "b", cpus=1, memory_gb=40)
        assert claimed_key(database) == "a"
        with database.read() as other:
            other.get_one(Node, NODE, with_for_update=True)
            start = time.monotonic()
            assert claim(database) is None
            assert time.monotonic() - start < 10
        assert claim(database) is None
        with database.read() as session:
            assert [entry["memory_gb"] for entry in nodes.get(session, NODE).waiting] == [40]

    def test_a_claim_that_waits_for_a_licence_holds_no_node(self, database: Database, exploration: Exploration) -> None:
        announce(database, NODE, 16, 64)
        with database.write() as session:
            licences.put(session, "vivado", 9)
            ensure(session, exploration, "a", "b", queue="large", cpus=1, memory_gb=40)
            ensure(session, exploration, "c", queue="small", licence="vivado", cpus=1, memory_gb=1)
        assert claimed_key(database, "large") == "a"
        with ThreadPoolExecutor(1) as pool, database.read() as other:
            licences.has_token(other, "vivado", lock=True)
            claiming = pool.submit(claimed_key, database, "large", "small")
            wait([claiming], timeout=1)
            with database.read() as session:  # raises where it is locked
                session.get_one(Node, NODE, with_for_update={"nowait": True})
            other.rollback()
            assert claiming.result(timeout=60) == "c"

    def test_a_build_is_made_while_its_twin_ends(self, database: Database, exploration: Exploration) -> None:
        announce(database)
        with database.write() as session:
            several = [exploration, *(another(session, exploration) for _ in range(3))]
            for one in several[:3]:
                ensure(session, one, "a")
        claimed = claim(database)
        assert claimed is not None

        def make() -> Build:
            with database.write() as session:
                return ensure(session, several[3], "a")[0]

        with ThreadPoolExecutor(1) as pool:
            with database.write() as session:
                running = leases.fence(session, claimed.build_id, claimed.token)
                making = pool.submit(make)
                wait([making], timeout=0.5)
                assert len(builds.finish(session, running, {"passed": True}, {})) == 2
            assert making.result(timeout=60).state == "done"

    def test_an_import_is_not_stopped_for_who_starts_meanwhile(
        self, database: Database, exploration: Exploration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        farm = replace(open_farm(Settings(home=tmp_path / "home"), send=lambda _: None), database=database)
        flow.advance(farm, exploration.id)
        with database.write() as session:
            second = another(session, exploration)
        set_state(farm, second, "failed")
        active, asked = explorations.active, threading.Event()

        def resume() -> None:
            asked.wait(30)
            with database.write() as session:
                flow.resume(farm, session, second.id)

        with ThreadPoolExecutor(1) as pool:
            resuming = pool.submit(resume)

            def ask(session: Session, workload_id: str | None = None) -> list[str]:
                found = active(session, workload_id)
                asked.set()
                wait([resuming], timeout=0.5)
                return found

            monkeypatch.setattr(explorations, "active", ask)
            with database.write() as session:
                flow.cancel(farm, session, exploration.id)
            resuming.result(timeout=60)
        assert (lower_build(farm).state, state_of(farm, second)) == ("queued", "lowering")
        farm.bus.close()
