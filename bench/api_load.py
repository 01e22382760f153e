"""How fast the API answers with many designs stored: latency of each route while many people look.

python -m bench.api_load
python -m bench.api_load --users 40 --think 0.5 --seconds 60
python -m bench.api_load --users 8 --think 0 --seconds 60

Starts the API in a process of its own on a fresh Postgres (`--database URL`: on another empty database, for example
`sqlite:////tmp/a.db`), fills it with one exploration of so many designs, their builds and a queue of 2,000. Each user
has a connection, asks for one route after the other at random, and thinks for a while in between (exponentially
distributed, as locust's users do); with `--think 0` the load is as much as the API takes. /metrics is for scrapers and
not among the routes. Users share the machine's cores with the API. Aim: the 95th percentile of all reads below 50 ms.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import httpx
import psutil
from servers import PostgresServer, new_database, postgres_binaries

from bench.stored_search import OPTIONS, running_api, store_search
from db.engine import Database
from db.migrate import upgrade
from db.models import Build, Design
from db.repositories import builds, events, explorations, licences, nodes
from db.repositories.new_build import NewBuild
from dse.objectives import DEFAULT

SIMULATED = 320
QUEUED = 2000
AIM_MS = 50


def fill(url: str, count: int) -> dict[str, str]:
    """Ids of an exploration, a design and a build to ask for."""
    upgrade(url)
    database = Database(url)
    draw = random.Random(0)
    with database.write() as session:
        exploration, ids = store_search(session, count)
        workload = explorations.get(session, exploration).workload
        for _ in range(20):
            explorations.add(session, workload, "u55c", [*DEFAULT], OPTIONS, count)
        build = _builds(session, exploration, ids, draw)
        tools = {"vitis": "2023.2"}
        for n in range(8):
            queues = {"simulate": {}, "csim": {}, "csynth@2023.2": tools}
            nodes.announce(session, f"lab{n}", queues, {"measure": "no board"}, 16.0, 64.0, "0.1.0")
        licences.put(session, "vitis_hls", 2)
        events.append(session, exploration, "state", {"state": "simulating", "error": None})
        explorations.transition(session, exploration, ("queued",), "simulating")
    database.close()
    return {"exploration": exploration, "design": ids[0], "build": build}


def _builds(session: Any, exploration: str, ids: list[str], draw: random.Random) -> str:
    """Simulations and C simulations that are done, and many that wait."""
    made: list[Build] = []
    for stage, chosen in (("simulate", ids[:SIMULATED]), ("csim", ids[:40]), ("csynth", ids[-QUEUED:])):
        queue = "csynth@2023.2" if stage == "csynth" else stage
        for design in chosen:
            licence = "vitis_hls" if stage == "csynth" else None
            new = NewBuild(
                stage,  # pyright: ignore[reportArgumentType]
                f"{stage}{design}",
                {},
                queue,
                exploration_id=exploration,
                design_id=design,
                licence=licence,
                cpus=1.0,
                memory_gb=8.0,
            )
            made.append(builds.ensure(session, new))
    for build in made[: SIMULATED + 40]:
        builds.finish(session, build, {"passed": True, "outputs": []}, {"millrace": "0.1"})
        if build.stage == "simulate" and build.design_id:
            session.get(Design, build.design_id).simulated_us = 100 + 900 * draw.random()
    session.flush()
    return made[0].id


def routes(ids: dict[str, str]) -> dict[str, str]:
    exploration = f"/v1/explorations/{ids['exploration']}"
    return {
        "exploration": exploration,
        "explorations": "/v1/explorations",
        "designs page": f"{exploration}/designs?limit=50",
        "designs, last page": f"{exploration}/designs?limit=50&cursor=OTkwMA",
        "front": f"{exploration}/designs?front=true&limit=100",
        "scatter": f"{exploration}/scatter",
        "design": f"/v1/designs/{ids['design']}",
        "builds page": "/v1/builds?limit=50",
        "builds, queued": "/v1/builds?state=queued&limit=50",
        "build": f"/v1/builds/{ids['build']}",
        "farm": "/v1/farm",
        "models": "/v1/models",
        "live": "/v1/health/live",
    }


@dataclass
class Visit:
    """What one user saw: latencies in seconds by route, and the size of each answer on the wire."""

    latencies: dict[str, list[float]]
    sizes: dict[str, int]


async def visit(base: str, paths: dict[str, str], seconds: float, think: float, seed: int) -> Visit:
    """Ask for one route after the other for so many seconds."""
    draw, names = random.Random(seed), list(paths)
    found = Visit({name: [] for name in names}, {})
    limits = httpx.Limits(max_connections=1)
    end = time.perf_counter() + seconds
    async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False, limits=limits) as client:
        while time.perf_counter() < end:
            if think:
                await asyncio.sleep(draw.expovariate(1 / think))
            name = draw.choice(names)
            begin = time.perf_counter()
            reply = await client.get(paths[name])
            reply.raise_for_status()
            found.latencies[name].append(time.perf_counter() - begin)
            found.sizes[name] = reply.num_bytes_downloaded
    return found


async def load(base: str, paths: dict[str, str], users: int, seconds: float, think: float) -> list[Visit]:
    return await asyncio.gather(*(visit(base, paths, seconds, think, seed) for seed in range(users)))


def main() -> None:
    """Fill, ask, print."""
    arguments = _arguments()
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        url = arguments.database or stack.enter_context(new_postgres())
        paths = routes(fill(url, arguments.designs))
        base, api = stack.enter_context(running_api(home, url))
        asyncio.run(load(base, paths, 2, 2.0, 0.0))  # statements are compiled, connections open
        before = _processor_seconds(api)
        visits = asyncio.run(load(base, paths, arguments.users, arguments.seconds, arguments.think))
        cpu = _processor_seconds(api) - before
    rows = {name: _row([x for v in visits for x in v.latencies[name]]) for name in paths}
    rows["all"] = _row([x for v in visits for times in v.latencies.values() for x in times])
    for name in paths:
        rows[name]["bytes"] = next(v.sizes[name] for v in visits if name in v.sizes)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        _print(rows, arguments, url, cpu)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--think", type=float, default=0.4, help="seconds between two requests of a user, on average")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--database")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _processor_seconds(api: psutil.Process) -> float:
    """Of the API and of the process in front of it."""
    return sum(sum(process.cpu_times()[:2]) for process in (api, *api.children()))


@contextmanager
def new_postgres() -> Generator[str]:
    """The URL of an empty database."""
    binaries = postgres_binaries()
    if binaries is None:
        sys.exit("no Postgres: install postgresql, or name a database with --database")
    server = PostgresServer(binaries)
    server.start()
    try:
        yield new_database(server.url, "load")
    finally:
        server.stop()
        server.remove()


def _row(latencies: list[float]) -> dict[str, float]:
    """Percentiles in ms."""
    cuts = quantiles(latencies, n=100)
    return {"p50": 1e3 * cuts[49], "p95": 1e3 * cuts[94], "p99": 1e3 * cuts[98], "requests": len(latencies)}


def _print(rows: dict[str, dict[str, float]], arguments: argparse.Namespace, url: str, cpu: float) -> None:
    number, where = rows["all"]["requests"], f"{url.partition(':')[0]}, machine load {os.getloadavg()[0]:.1f}"
    print(f"{arguments.designs} designs, {arguments.users} users who think {arguments.think:g} s, {where}")
    rate = number / arguments.seconds
    print(
        f"{rate:.0f} requests/s, {1e3 * cpu / number:.1f} ms of the API's processor time each (aim: p95 < {AIM_MS} ms)"
    )
    print(f"{'route':20} {'p50':>8} {'p95':>8} {'p99':>8} ms {'requests':>9} {'bytes':>9}")
    for name, row in rows.items():
        times = " ".join(f"{row[key]:8.1f}" for key in ("p50", "p95", "p99"))
        print(f"{name:20} {times}    {row['requests']:9.0f} {row.get('bytes', 0):9.0f}")


if __name__ == "__main__":
    main()
