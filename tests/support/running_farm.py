"""A farm without an API for tests: workers in processes of their own, builds put straight into the database."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from gates import gate
from migrated import migrated
from processes import PATIENCE, wait_for
from running_service import REPOSITORY

from db.migrate import upgrade
from db.models import Build, Stage
from db.repositories import builds, catalog, designs, explorations, nodes
from db.repositories.builds import NewBuild
from db.repositories.designs import NewDesign
from db.types import utcnow
from worker.farm import Farm, open_farm
from worker.ladder.versions import digest
from worker.settings import Settings

DEFAULTS = {"lease_seconds": 600, "reap_seconds": 0.5, "concurrency": 2, "cpus": 64, "schedule": False}
"""Leases that do not run out because the machine is slow; `RunningFarm.expire` ends one."""


@dataclass
class RunningFarm:
    """A home with its database, and the workers that were started on it. `runs` is what the stages wrote."""

    farm: Farm
    runs: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list["subprocess.Popen[bytes]"])

    def start(self, **extra: Any) -> subprocess.Popen[bytes]:
        """Another worker, on a node of its own unless told otherwise."""
        name = f"node{len(self.workers)}"
        own = {f"MILLRACE_{key.upper()}": str(value) for key, value in {"node": name, **extra}.items()}
        inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        path = os.pathsep.join(map(str, (REPOSITORY, REPOSITORY / "tests" / "support", *filter(None, inherited))))
        environment = {**self.farm.settings.environment(), "RUNS": str(self.runs), "PYTHONPATH": path, **own}
        with self.log.open("ab") as output:
            worker = subprocess.Popen(
                [sys.executable, "-m", "worker", str(os.getpid())], stdout=output, stderr=output, env=environment
            )
        self.workers.append(worker)
        return worker

    def add(self, *scripts: str | Sequence[str], stage: Stage = "csim", **values: Any) -> list[str]:
        """Queue a build for each script, each of a design of its own in one exploration; their ids."""
        made: list[str] = []
        with self.farm.database.write() as session:
            exploration = self._exploration(session)
            for script in scripts:
                steps = [script] if isinstance(script, str) else list(script)
                number = len(self._designs(session, exploration.id))
                new = NewDesign(number, f"{number:064x}", {}, True, 1.0, 1.0, [1.0, 1.0], [], None, 0.1, ())
                [design] = designs.add(session, exploration.id, [new])
                key = digest(exploration.id, number)
                build = builds.ensure(
                    session,
                    NewBuild(
                        stage, key, {}, "csim", exploration_id=exploration.id, design_id=design,
                        options={"script": steps}, **values,
                    ),
                )  # fmt: skip
                self.farm.queue.announce(session, build.queue)
                made.append(build.id)
        return made

    def _exploration(self, session: Any) -> Any:
        found = explorations.active(session)
        if found:
            return explorations.get(session, found[0])
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        options = {"seed": 0, "sampler": "random", "verify": 3, "simulate": 0, "calibration": 0}
        made = explorations.add(session, workload, "u55c", ["latency", "energy"], options, 24)
        explorations.transition(session, made.id, ("queued",), "verifying")
        return explorations.get(session, made.id)

    @staticmethod
    def _designs(session: Any, exploration_id: str) -> Sequence[Any]:
        return designs.stored(session, exploration_id)

    def build(self, build_id: str) -> Build:
        with self.farm.database.read() as session:
            return builds.get(session, build_id)

    def states(self, ids: Sequence[str]) -> list[str]:
        return [self.build(i).state for i in ids]

    def let_go(self, *ids: str) -> None:
        """Open the gates of these builds (a step "gate" of their scripts)."""
        for build_id in ids:
            gate(self.runs, build_id).touch()

    def at_gate(self, ids: Sequence[str]) -> set[str]:
        """Those whose newest attempt runs, and has come as far as its stage."""
        running = [build for build in map(self.build, ids) if build.state == "running"]
        begun = {tuple(line.split()[1:3]) for line in self.lines() if line.startswith("begin ")}
        return {build.id for build in running if (build.id, str(build.attempt)) in begun}

    def expire(self, build_id: str) -> None:
        """End the lease of a running build, as time would."""
        with self.farm.database.write() as session:
            builds.get(session, build_id).lease_expires = utcnow() - timedelta(seconds=1)

    def beats(self, node: str = "node0") -> None:
        """Wait until the node's worker has twice looked what it is to do, and announced it: the second time began after
        this call.
        """
        for _ in range(2):
            before = self._seen(node)
            wait_for(lambda before=before: self._seen(node) != before, PATIENCE, f"{node} to look what it is to do")

    def _seen(self, node: str) -> datetime:
        with self.farm.database.read() as session:
            return nodes.get(session, node).last_seen

    def wait(self, ids: Sequence[str], *states: str, seconds: float = PATIENCE) -> list[Build]:
        """Wait until all are in one of `states` (default: at their end)."""
        wanted = states or ("done", "failed", "cancelled")
        deadline = time.monotonic() + seconds
        while not set(self.states(ids)) <= set(wanted):
            assert time.monotonic() < deadline, f"waited in vain for {wanted}: {self.about(ids)}"
            time.sleep(0.05)
        return [self.build(i) for i in ids]

    def about(self, ids: Sequence[str]) -> str:
        """What there is to know when a test waits in vain."""
        return f"{[(b.state, b.error) for b in map(self.build, ids)]}\n{self.log.read_text(errors='replace')[-3000:]}"

    def begun(self, build_id: str) -> int:
        """How many attempts of the build have begun."""
        return sum(line.startswith(f"begin {build_id} ") for line in self.lines())

    def lines(self) -> list[str]:
        return self.runs.read_text().splitlines() if self.runs.exists() else []

    @property
    def log(self) -> Path:
        return self.farm.settings.home / "workers.log"


@contextmanager
def farm_on(home: Path, database_url: str | None, redis_url: str, **values: Any) -> Generator[RunningFarm]:
    """A farm on these servers; its workers are stopped at the end, and must leave no process."""
    home.mkdir(parents=True, exist_ok=True)
    settings = Settings(
        home=home,
        database_url=database_url,
        redis_url=redis_url,
        stages="farm_stages:STAGES",
        **{**DEFAULTS, **values},
    )
    if database_url is None:
        migrated(settings.database)
    else:
        upgrade(settings.database)  # a query where it has its tables
    running = RunningFarm(open_farm(settings), home / "runs")
    try:
        yield running
    finally:
        for worker in running.workers:
            worker.terminate()
            worker.send_signal(signal.SIGCONT)
        for worker in running.workers:
            worker.wait(PATIENCE)
        running.farm.close()


def tools(home: Path) -> list[psutil.Process]:
    """Processes that jobs of this home have started."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.name() == "sleep" and process.environ().get("MILLRACE_HOME") == str(home.absolute()):
                found.append(process)
        except psutil.Error:
            continue
    return found
