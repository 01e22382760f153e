"""Two hundred builds on four workers, while everything that can break does: each ends once, and nothing is left behind.

What is asserted comes from an observer of its own, a trigger in Postgres, and from reading every byte of the store.
"""

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path

import pytest
import sqlalchemy as sa
from processes import PATIENCE, wait_for
from running_farm import RunningFarm, farm_on
from running_service import leftovers
from servers import PostgresServer, RedisServer
from sqlalchemy.exc import OperationalError

from db.models import Artifact, Build

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

BUILDS, WORKERS, KILLS, SEED = 200, 4, 24, 20
SCRIPTS = (
    "sleep 0.5", "files 3", "files 6", "tree 0.7", "ok", "say 40", ["tool", "ok"], ["crash", "files 2"], "infeasible",
    ["memory", "ok"],
)  # fmt: skip
OBSERVER = """
CREATE TABLE observed (build_id text, state text, token int, held boolean);
CREATE FUNCTION observe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO observed VALUES (NEW.id, NEW.state, NEW.lease_token,
        OLD.state = 'running' AND OLD.lease_owner IS NOT NULL AND OLD.lease_token = NEW.lease_token);
    RETURN NEW;
END $$;
CREATE TRIGGER observe AFTER UPDATE ON builds FOR EACH ROW
    WHEN (NEW.state IN ('done', 'failed', 'cancelled') AND OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION observe();
"""


@pytest.fixture
def home(tmp_path: Path) -> Generator[Path]:
    """A state directory on a disk of 48 MiB, which is not much to fill; a plain folder where we may not mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(folder)]
    mounted = os.getuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield folder / "home"
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def farm(home: Path, tmp_path: Path, own_postgres: PostgresServer, own_redis: RedisServer) -> Generator[RunningFarm]:
    with farm_on(home, own_postgres.url, own_redis.url, lease_seconds=4) as running:
        running.runs = tmp_path / "runs"
        engine = sa.create_engine(own_postgres.url)
        with engine.begin() as connection:
            connection.exec_driver_sql(OBSERVER)
        engine.dispose()
        yield running


class Chaos(threading.Thread):
    """Kills a worker every two to four seconds, and each server, the disk too, once."""

    def __init__(self, farm: RunningFarm, postgres: PostgresServer, redis: RedisServer) -> None:
        super().__init__(daemon=True)
        self._farm, self._postgres, self._redis = farm, postgres, redis
        self._random = random.Random(SEED)
        self._over = threading.Event()
        self.done: Counter[str] = Counter()
        self.error: BaseException | None = None

    def run(self) -> None:
        events = {3: self._restart_redis, 6: self._restart_postgres, 9: self._fill_disk}
        try:
            beat = 0
            while not self._over.wait(self._random.uniform(2, 4)) and self.done["worker killed"] < KILLS:
                beat += 1
                self._kill_worker()
                events.get(beat, lambda: None)()
            self._over.wait()  # workers die with the thread that has started them
        except BaseException as error:  # noqa: BLE001 - told by the test's own thread
            self.error = error

    def has_done(self, kills: int) -> bool:
        """Whether that many workers were killed, and everything else has happened."""
        assert self.error is None, self.error
        return self.done["worker killed"] >= kills and self.done["postgres restarted"] == 1

    def end(self) -> None:
        self._over.set()
        self.join()
        assert self.error is None, self.error

    def _kill_worker(self) -> None:
        living = [w for w in self._farm.workers if w.poll() is None]
        victim = self._random.choice(living)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        self.done["worker killed"] += 1
        # On another node: its builds are taken up when the lease runs out, or by who knows it to be dead.
        for _ in range(WORKERS - len(living) + 1):
            self._farm.start()

    def _restart_redis(self) -> None:
        self._redis.stop(signal.SIGKILL)
        time.sleep(1)
        self._redis.start()
        self.done["redis restarted"] += 1

    def _restart_postgres(self) -> None:
        self._postgres.stop("immediate")
        time.sleep(1)
        self._postgres.start()
        self.done["postgres restarted"] += 1

    def _fill_disk(self) -> None:
        disk = self._farm.farm.settings.home.parent
        if not disk.is_mount():
            return
        filler = disk / "filler"
        with suppress(OSError):  # the workers write too: it is full all the same
            filler.write_bytes(bytes(shutil.disk_usage(disk).free))
        time.sleep(2)
        filler.unlink()
        self.done["disk filled"] += 1


def test_every_build_ends_once_whatever_breaks(
    farm: RunningFarm, home: Path, own_postgres: PostgresServer, own_redis: RedisServer
) -> None:
    chosen = random.Random(SEED)
    ids = farm.add(*(chosen.choice(SCRIPTS) for _ in range(BUILDS)))
    for _ in range(WORKERS):
        farm.start()
    chaos = Chaos(farm, own_postgres, own_redis)
    chaos.start()
    wait_for(lambda: chaos.has_done(10) and _open(farm) == 0, 900, "all to end")
    chaos.end()
    _stop(farm)
    print(f"chaos: {dict(chaos.done)}")
    assert chaos.done["worker killed"] >= 10
    assert chaos.done["redis restarted"] == chaos.done["postgres restarted"] == 1
    assert not home.parent.is_mount() or chaos.done["disk filled"] == 1
    _assert_ended_once(farm, ids)
    _assert_store_is_sound(farm)
    assert leftovers(home) == []


def _open(farm: RunningFarm) -> int:
    """Builds that have not ended; -1 while the database is away."""
    query = sa.select(sa.func.count()).where(Build.state.in_(("blocked", "queued", "running")))
    try:
        with farm.farm.database.engine.connect() as connection:
            return connection.execute(query).scalar_one()
    except OperationalError:
        return -1


def _stop(farm: RunningFarm) -> None:
    for worker in farm.workers:
        worker.terminate()
    for worker in farm.workers:
        worker.wait(PATIENCE)


def _assert_ended_once(farm: RunningFarm, ids: list[str]) -> None:
    with farm.farm.database.engine.connect() as connection:
        observed = connection.execute(sa.text("SELECT build_id, state, token, held FROM observed")).all()
    ends = Counter(row.build_id for row in observed)
    assert [(i, ends[i]) for i in ids if ends[i] != 1] == []
    assert [row for row in observed if row.state == "done" and not row.held] == []  # written by a stale holder
    built = {i: farm.build(i) for i in ids}
    assert {b.state for b in built.values()} <= {"done", "failed"}
    for build in built.values():
        if build.state == "done":
            assert build.verdict == {"passed": True, "attempt": build.attempt}
            assert farm.begun(build.id) >= 1
        else:
            assert build.failure in ("infeasible", "node", "tool"), (build.failure, build.error)
    assert Counter(b.failure for b in built.values())["infeasible"] > 5


def _assert_store_is_sound(farm: RunningFarm) -> None:
    store = farm.farm.store
    with farm.farm.database.read() as session:
        rows = session.scalars(sa.select(Artifact)).all()
        logs = [d for d in session.scalars(sa.select(Build.log_digest)) if d is not None]
    assert len(rows) > BUILDS // 2
    for row in rows:
        path = store.path(row.digest)
        assert path.stat().st_size == row.size
        with path.open("rb") as file:
            assert file_digest(file, "sha256").hexdigest() == row.digest
    for digest in logs:
        store.read(digest)
    for path in (farm.farm.settings.store_dir / "sha256").rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                assert file_digest(file, "sha256").hexdigest() == path.parent.name + path.name
