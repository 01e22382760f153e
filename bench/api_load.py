"""How fast the API answers with many designs stored: latency of each route under load, and requests per second.

    .venv/bin/python bench/api_load.py [--designs 10000] [--readers 8] [--seconds 8] [--database URL]

Starts the API in a process of its own, on SQLite unless told otherwise (the database must be empty), fills it with one
exploration of so many designs and their builds, and has `readers` connections ask for one route after the other.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx
import psutil

from api.services import catalog
from compiler.options import Knobs
from db.engine import Database
from db.migrate import upgrade
from db.models import Build, Design
from db.repositories import builds, designs, events, explorations, licences, nodes
from db.repositories import catalog as catalog_rows
from db.repositories.designs import NewDesign, NewMetric
from db.repositories.new_build import NewBuild

ROOT = Path(__file__).resolve().parent.parent
METRICS = ("latency", "energy", "lut", "ff", "dsp", "bram", "uram", "power")
SIMULATED = 320
QUEUED = 2000


def fill(url: str, count: int) -> dict[str, str]:
    """Ids of an exploration, a design and a build to ask for."""
    upgrade(url)
    database = Database(url)
    draw = random.Random(0)
    with database.write() as session:
        catalog.put_builtins(session)
        model = catalog_rows.find_model(session, "gpt2")
        workload = catalog_rows.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        options = {"seed": 0, "sampler": "nsga2", "verify": 3}
        made = explorations.add(session, workload, "u55c", [], options, count)
        for _ in range(20):
            explorations.add(session, workload, "u55c", [], options, count)
        ids: list[str] = []
        for start in range(0, count, 500):
            ids += designs.add(session, made.id, [_design(n, draw) for n in range(start, min(start + 500, count))])
        designs.set_front(session, made.id, {f"k{n}" for n in range(0, count, max(1, count // 60))})
        build = _builds(session, made.id, ids, draw)
        tools = {"vitis": "2023.2"}
        for n in range(8):
            queues = {"simulate": {}, "csim": {}, "csynth@2023.2": tools}
            nodes.announce(session, f"lab{n}", queues, {"measure": "no board"}, 16.0, 64.0, "0.1.0")
        licences.put(session, "vitis_hls", 2)
        events.append(session, made.id, "state", {"state": "simulating", "error": None})
        explorations.transition(session, made.id, ("queued",), "simulating")
    database.close()
    return {"exploration": made.id, "design": ids[0], "build": build}


def _design(number: int, draw: random.Random) -> NewDesign:
    latency, energy = 100 + 900 * draw.random(), 10 + 90 * draw.random()
    found = tuple(NewMetric(name, 1000 * draw.random(), "", "estimate", "millrace", "0.1") for name in METRICS)
    return NewDesign(number, f"k{number}", Knobs().to_json(), True, latency, energy, [], None, 0.01, found)


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
        "metrics": "/metrics",
        "live": "/v1/health/live",
    }


async def load(base: str, path: str, readers: int, seconds: float) -> tuple[list[float], int]:
    """Latencies in seconds of what `readers` connections get in that time, and the size of an answer on the wire."""
    found: list[float] = []
    size = 0
    end = time.perf_counter() + seconds

    async def read() -> None:
        nonlocal size
        limits = httpx.Limits(max_connections=1)
        async with httpx.AsyncClient(base_url=base, timeout=30, trust_env=False, limits=limits) as client:
            while (begin := time.perf_counter()) < end:
                reply = await client.get(path)
                reply.raise_for_status()
                found.append(time.perf_counter() - begin)
                size = reply.num_bytes_downloaded

    await asyncio.gather(*(read() for _ in range(readers)))
    return found, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=10_000)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--database")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        url = arguments.database or f"sqlite:///{home}/millrace.db"
        ids = fill(url, arguments.designs)
        listener = socket.create_server(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        environment = os.environ | {"MILLRACE_HOME": home, "MILLRACE_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "api", str(os.getpid()), str(listener.fileno())]
        api = subprocess.Popen(command, env=environment, pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL)
        try:
            _await(base)
            rows = {
                name: measure(psutil.Process(api.pid), base, path, arguments.readers, arguments.seconds)
                for name, path in routes(ids).items()
            }
        finally:
            api.terminate()
            api.wait()
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    where = f"{url.partition(':')[0]}, machine load {os.getloadavg()[0]:.1f}"
    print(f"{arguments.designs} designs, {arguments.readers} readers, {where}")
    print(f"{'route':20} {'p50':>8} {'p95':>8} {'p99':>8} {'CPU':>8} ms {'per s':>8} {'bytes':>9}")
    for name, row in rows.items():
        times = " ".join(f"{row[key]:8.1f}" for key in ("p50", "p95", "p99", "cpu"))
        print(f"{name:20} {times}    {row['rate']:8.0f} {row['bytes']:9}")


def measure(api: psutil.Process, base: str, path: str, readers: int, seconds: float) -> dict[str, float]:
    """Latencies in ms, requests per second, and the CPU time that one request takes the API."""
    before = sum(api.cpu_times()[:2])
    latencies, size = asyncio.run(load(base, path, readers, seconds))
    cpu = sum(api.cpu_times()[:2]) - before
    cuts = quantiles(latencies, n=100)
    return {
        "p50": 1e3 * cuts[49],
        "p95": 1e3 * cuts[94],
        "p99": 1e3 * cuts[98],
        "cpu": 1e3 * cpu / len(latencies),
        "rate": len(latencies) / seconds,
        "bytes": size,
        "requests": len(latencies),
    }


def _await(base: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{base}/v1/health/live", timeout=1, trust_env=False).raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    sys.exit("the API did not start")


if __name__ == "__main__":
    main()
