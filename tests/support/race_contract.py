"""What the queue promises when many workers take builds at once, on any database: one shared class of tests."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from queued_builds import QUEUE, announce, another, ensure
from sqlalchemy.orm import Session

from db.engine import Database
from db.models import Exploration
from db.repositories import builds, explorations, leases, licences, queue
from db.repositories.queue import Claimed

WORKERS = 8


class Watch:
    """What runs at the same time, as the workers themselves see it: entered after a claim is committed, left before the
    end of the build is.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.claimed: Counter[str] = Counter()

    def enter(self, build_id: str, what: str) -> None:
        with self.lock:
            self.claimed[build_id] += 1
            self.running[what] += 1
            self.most[what] = max(self.most[what], self.running[what])

    def leave(self, what: str) -> None:
        with self.lock:
            self.running[what] -= 1


def work(database: Database, what: Callable[[str], str], seconds: float = 0.002) -> Watch:
    """Have eight workers of one node take and finish all builds; `what` says what of a build's key is counted."""
    watch = Watch()

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
        return bool(builds.unfinished(session, "csynth"))


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
        watch = work(database, lambda _: "vitis_hls", seconds=0.02)
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
