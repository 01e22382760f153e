"""Whether the API serves people while others flood it: half-open connections and bodies that hardly come.

python -m bench.flood                                    # 1,200 half-open, 600 slow bodies, 200 dashboards of 50 people
python -m bench.flood --half-open 0 --slow-bodies 0      # the same without a flood, to compare
python -m bench.flood --open                             # a service without keys, which takes every slow body
python -m bench.flood --apart                            # the flood comes from another address than the people
python -m bench.flood --again 0.1                        # a storm of 2,000 connections a second besides

Starts the API in a process of its own on SQLite with 200 designs. Each dashboard follows an event stream; of each
person's one is in front, and asks for something every 1.5 s. Whoever floods connects again about a second after it was
thrown out, from the people's address with a key of its own: one key's bound is what keeps it from the others. Meanwhile
new clients come, each with a connection of its own, and ask for health and for a list. All share the machine's cores,
the flood at the lowest priority, as it would come from machines of its own. Aim: health within 100 ms, nobody refused,
no stream lost.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import httpx

from api.schemas.access import NewApiKey
from api.services import keys
from bench.api_load import fill, routes
from bench.stored_search import running_api
from db.engine import Database
from worker.redis_server import start_redis
from worker.settings import Settings

PEOPLE, DASHBOARDS = 50, 200
AIM_MS = 100
_THINK_S = 1.5
_NEW_EVERY_S = 0.2
_WARM_UP_S = 3.0
_HEALTH = ("/v1/health/live", "/v1/health/ready", "/v1/health")
_HEAD = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@dataclass
class Seen:
    """Seconds that requests took, by what was asked for, and how many failed."""

    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    failed: dict[str, int] = field(default_factory=dict[str, int])
    why: dict[str, str] = field(default_factory=dict[str, str])

    def took(self, what: str, since: float) -> None:
        self.seconds.setdefault(what, []).append(time.perf_counter() - since)

    def fail(self, what: str, error: object) -> None:
        self.failed[what] = self.failed.get(what, 0) + 1
        self.why[what] = repr(error)[:120]


@dataclass(frozen=True)
class Scene:
    """Who asks what of the service at `base`, for so many seconds."""

    base: str
    paths: dict[str, str]
    keys: list[str]
    seconds: float
    half_open: int
    slow_bodies: int
    again: float
    flood_from: str

    def headers(self, person: int) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[person]}"} if self.keys else {}


def flood(scene: Scene) -> int:
    """Keep so many half-open connections and slow bodies until the time is over; how many connections that took."""
    os.nice(19)
    return asyncio.run(_flood(scene))


async def _flood(scene: Scene) -> int:
    until = time.perf_counter() + scene.seconds + 2 * _WARM_UP_S
    body = _slow_head(scene)
    ones = [_one(scene, _HEAD, until) for _ in range(scene.half_open)]
    ones += [_one(scene, body, until) for _ in range(scene.slow_bodies)]
    return sum(await asyncio.gather(*ones))


def _slow_head(scene: Scene) -> bytes:
    lines = [
        "POST /v1/models HTTP/1.1",
        "Host: 127.0.0.1",
        *(f"{name}: {value}" for name, value in scene.headers(PEOPLE).items()),
        "Content-Type: multipart/form-data; boundary=x",
        f"Content-Length: {100 << 20}",
    ]
    return "\r\n".join([*lines, "", "--x\r\n"]).encode()


async def _one(scene: Scene, begin: bytes, until: float) -> int:
    """One connection that sends a byte a second, and comes again when it is thrown out."""
    parts, made = urlsplit(scene.base), 0
    while time.perf_counter() < until:
        made += 1
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(
                parts.hostname, parts.port, local_addr=(scene.flood_from, 0), limit=1 << 12
            )
            writer.write(begin)
            await _dribble(reader, writer, until)
            writer.transport.abort()
        await asyncio.sleep(random.uniform(0.5, 1.5) * scene.again)
    return made


async def _dribble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, until: float) -> None:
    while time.perf_counter() < until:
        with suppress(TimeoutError):
            await asyncio.wait_for(reader.read(1 << 10), 1)
            return  # an answer, or the end
        writer.write(b"a")


def look(scene: Scene) -> Seen:
    """The people: their dashboards' streams, and what those in front ask for."""
    return asyncio.run(_look(scene))


async def _look(scene: Scene) -> Seen:
    seen, until = Seen(), time.perf_counter() + scene.seconds
    streams = [asyncio.create_task(_follow(scene, number, seen, until)) for number in range(DASHBOARDS)]
    await asyncio.gather(*streams, *(_ask(scene, person, seen, until) for person in range(PEOPLE)))
    return seen


async def _follow(scene: Scene, number: int, seen: Seen, until: float) -> None:
    since = time.perf_counter()
    async with httpx.AsyncClient(base_url=scene.base, timeout=30, trust_env=False, verify=False) as client:
        try:
            async with client.stream("GET", scene.paths["events"], headers=scene.headers(number % PEOPLE)) as reply:
                reply.raise_for_status()
                seen.took("stream begins", since)
                async with asyncio.timeout(until - time.perf_counter()):
                    async for _ in reply.aiter_bytes():
                        pass
                seen.fail("stream begins", "it ended")
        except TimeoutError:
            pass
        except httpx.HTTPError as error:
            seen.fail("stream begins", error)


async def _ask(scene: Scene, person: int, seen: Seen, until: float) -> None:
    draw = random.Random(person)
    asked = [path for name, path in scene.paths.items() if name in ("exploration", "explorations", "builds page")]
    async with httpx.AsyncClient(base_url=scene.base, timeout=30, trust_env=False, verify=False) as client:
        while time.perf_counter() < until:
            await asyncio.sleep(draw.uniform(0, 2 * _THINK_S))
            since = time.perf_counter()
            try:
                (await client.get(draw.choice(asked), headers=scene.headers(person))).raise_for_status()
                seen.took("dashboard", since)
            except httpx.HTTPError as error:
                seen.fail("dashboard", error)


def arrive(scene: Scene) -> Seen:
    """New clients, one after the other."""
    httpx.get(scene.base + _HEALTH[0], timeout=60, trust_env=False, verify=False)  # it imports: 50 ms of this process
    seen, until, headers = Seen(), time.perf_counter() + scene.seconds, scene.headers(1)
    while time.perf_counter() < until:
        for path in (*_HEALTH, scene.paths["explorations"]):
            since = time.perf_counter()
            try:
                reply = httpx.get(scene.base + path, headers=headers, timeout=10, trust_env=False, verify=False)
                reply.raise_for_status()
                seen.took(path, since)
            except httpx.HTTPError as error:
                seen.fail(path, error)
        time.sleep(_NEW_EVERY_S)
    return seen


def measure(scene: Scene) -> tuple[Seen, int]:
    """What people see once the flood has begun, and how many connections it made."""
    spawn = multiprocessing.get_context("spawn")
    # A process each: who has flooded is at the lowest priority for good.
    with ProcessPoolExecutor(3, spawn, initializer=_many_files, max_tasks_per_child=1) as pool:
        flooded = pool.submit(flood, scene)
        time.sleep(_WARM_UP_S)
        looked, arrived = pool.submit(look, scene), pool.submit(arrive, scene)
        found = [looked.result(), arrived.result()]
        made = flooded.result()
    seen, new = found
    return Seen(seen.seconds | new.seconds, seen.failed | new.failed, seen.why | new.why), made


def _many_files() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def rows_of(seen: Seen) -> dict[str, dict[str, Any]]:
    """For each thing that was asked for: requests, failures, and times in ms."""
    found: dict[str, dict[str, Any]] = {}
    for what in (*seen.seconds, *(name for name in seen.failed if name not in seen.seconds)):
        times = sorted(1e3 * x for x in seen.seconds.get(what, [])) or [0.0]
        p95 = times[int(0.95 * (len(times) - 1))]
        found[what] = {"requests": len(seen.seconds.get(what, [])), "failed": seen.failed.get(what, 0)}
        found[what] |= {"p50": median(times), "p95": p95, "worst": times[-1], "why": seen.why.get(what, "")}
    return found


def main() -> None:
    """Start, flood, measure, print; exit code 1 where the aim is missed."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as home:
        url = f"sqlite:///{home}/millrace.db"
        ids = fill(url, arguments.designs)
        people = [] if arguments.open else _keys(url)
        broker = start_redis(Settings(home=Path(home)))
        with running_api(home, url, MILLRACE_ACCESS="off" if arguments.open else "on") as (base, api):
            paths = routes(ids) | {"events": f"/v1/explorations/{ids['exploration']}/events"}
            flood_from = "127.0.0.2" if arguments.apart else "127.0.0.1"
            scene = Scene(
                base,
                paths,
                people,
                arguments.seconds,
                arguments.half_open,
                arguments.slow_bodies,
                arguments.again,
                flood_from,
            )
            seen, made = measure(scene)
            memory = api.memory_info().rss
        broker.kill()
        broker.wait()
    rows = rows_of(seen)
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"the flood made {made} connections; the API holds {memory >> 20} MiB")
        print(f"{'':22} {'requests':>8} {'failed':>6} {'p50':>7} {'p95':>7} {'worst':>7} ms")
        for what, row in rows.items():
            times = " ".join(f"{row[key]:7.1f}" for key in ("p50", "p95", "worst"))
            print(f"{what:22} {row['requests']:8} {row['failed']:6} {times}  {row['why']}")
    missed = [what for what in rows if rows[what]["failed"] or ("health" in what and rows[what]["worst"] > AIM_MS)]
    sys.exit(f"the aim is missed: {', '.join(missed)}" if missed else 0)


def _keys(url: str) -> list[str]:
    database = Database(url)
    with database.write() as session:
        made = [keys.add(session, NewApiKey(name=f"person{n}", role="user")).key for n in range(PEOPLE + 1)]
    database.close()
    return made


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half-open", type=int, default=1200)
    parser.add_argument("--slow-bodies", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--designs", type=int, default=200)
    parser.add_argument("--again", type=float, default=1.0, help="seconds until one thrown out connects again, about")
    parser.add_argument("--open", action="store_true", help="a service that asks for no keys")
    parser.add_argument("--apart", action="store_true", help="flood from another address")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
