"""Whether a service that people work with all the time grows: memory of API and workers, and the disk.

python -m bench.soak                  30 minutes in periods of three
python -m bench.soak --minutes 4 --period 1

Starts a real service with the real stages. Three people work without a pause: each uploads a network, is refused what
is no network, explores, follows the events, reads front, table and logs, cancels every fourth exploration, and deletes
what is older than the last few. After each period they rest until the farm is idle; then everything that may expire
does (`millrace farm retain` and imported networks, 400 days ahead), contents that nothing names go, and memory and disk
are looked at. The first third of the periods warms up. Aims: neither memory nor disk grows by more than 5 % from the
second third of the periods to the last, by their medians.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import httpx
import psutil
from running_service import RunningService, service_starter

from db.types import utcnow
from worker.backup.collecting import collect
from worker.farm import open_farm
from worker.limits.disk import use_of
from worker.node.holdings import held_by
from worker.node.networks import tidy
from worker.retention.retaining import retain
from worker.settings import Settings

AIM_GROWTH = 0.05
PEOPLE, KEPT = 3, 4
_WIDTHS = (32, 48, 64, 96)
_PATIENCE_S = 600.0
_ENDED = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Look:
    """The service at the end of a period: resident memory (MB) of the API with all below it, of the worker, and of the
    largest executor with all below it; how many processes and open files they have, and the bytes of its home.

    Executors are not added up: how many there are, and how fresh the process that each has, is by chance.
    """

    minutes: float
    explorations: int
    api_mb: float
    worker_mb: float
    executor_mb: float
    processes: int
    files: int
    disk: int


def main() -> None:
    """Print a line a period, then how much everything grew."""
    arguments = _arguments()
    if arguments.minutes < 3 * arguments.period:
        sys.exit("it takes three periods to compare them")
    with tempfile.TemporaryDirectory(prefix="millrace-soak-") as folder, service_starter(Path(folder)) as start:
        service = start(MILLRACE_STAGES="worker.stages.functions:STAGES", MILLRACE_RATE_LIMIT="100000/minute")
        looks: list[Look] = []
        for look in _periods(service, arguments.minutes, arguments.period):
            looks.append(look)
            print(json.dumps(asdict(look)), flush=True)
    if len(looks) < 3:
        sys.exit("the farm took too long to rest: too few periods to compare")
    print(json.dumps({"grew_by": growth(looks), "aim": AIM_GROWTH}, indent=2))


def growth(looks: Sequence[Look]) -> dict[str, float]:
    """By how much of it each number grew from the second third of the periods to the last."""
    third = max(1, len(looks) // 3)
    found: dict[str, float] = {}
    for name in ("api_mb", "worker_mb", "executor_mb", "processes", "files", "disk"):
        early, late = (median(getattr(look, name) for look in part) for part in (looks[third:-third], looks[-third:]))
        found[name] = round(late / early - 1, 4)
    return found


def _periods(service: RunningService, minutes: float, period: float) -> Iterator[Look]:
    begun, done = time.monotonic(), Counter[str]()
    belongings: list[list[tuple[str, str]]] = [[] for _ in range(PEOPLE)]
    while time.monotonic() - begun < 60 * minutes:
        until = time.monotonic() + 60 * period
        people = [threading.Thread(target=_work, args=(service.address, mine, until, done)) for mine in belongings]
        for person in people:
            person.start()
        for person in people:
            person.join()
        if done["failed"]:
            sys.exit(f"{done['failed']} of {done.total()} things that people did failed; see above\n{service.logs()}")
        _rest(service)
        yield _look(service, (time.monotonic() - begun) / 60, done["explorations"])


def _work(address: str, mine: list[tuple[str, str]], until: float, done: Counter[str]) -> None:
    """One person's work until the time is over. `mine`: ids of explorations and models that they have not deleted."""
    draw = Random(f"{id(mine)}/{until}")
    with httpx.Client(base_url=address, timeout=120, trust_env=False) as http:
        while time.monotonic() < until:
            try:
                mine.append(_explore(http, draw, cancels=len(mine) % 4 == 3))
                done["explorations"] += 1
                while len(mine) > KEPT:
                    _delete(http, *mine.pop(0))
            except (httpx.HTTPError, RuntimeError) as error:
                print(error, file=sys.stderr, flush=True)
                done["failed"] += 1
                return


def _explore(http: httpx.Client, draw: Random, *, cancels: bool) -> tuple[str, str]:
    """Ids of an exploration that has ended, and of its model."""
    refused = http.post("/v1/models", files={"file": ("noise.onnx", draw.randbytes(4096))})
    if refused.status_code != 422:
        raise RuntimeError(f"noise was answered {refused.status_code}")
    width = draw.choice(_WIDTHS)
    config = {"model_type": "gpt2", "n_embd": width, "n_head": 4, "n_layer": 2, "n_ctx": draw.randrange(64, 1024)}
    name = f"net-{draw.getrandbits(40):x}"
    files = {"file": ("config.json", json.dumps(config).encode())}
    model = _json(http.post("/v1/models", files=files, data={"name": name}))["id"]
    asked = {"model": model, "budget": 24, "simulate": 2, "calibration": 1, "verify": 1, "seed": draw.randrange(99)}
    exploration = _json(http.post("/v1/explorations", json=asked))["id"]
    if cancels:
        time.sleep(draw.uniform(0.5, 3))
        _json(http.post(f"/v1/explorations/{exploration}/cancel"))
    with http.stream("GET", f"/v1/explorations/{exploration}/events") as events:
        for line in events.iter_lines():
            if line.startswith("data: ") and json.loads(line.removeprefix("data: ")).get("state") in _ENDED:
                break
    for part in ("", "/designs?front=true", "/table", "/scatter"):
        _json(http.get(f"/v1/explorations/{exploration}{part}"))
    for build in _json(http.get("/v1/builds", params={"exploration": exploration, "limit": 5}))["items"]:
        http.get(f"/v1/builds/{build['id']}/log")
    http.get("/metrics")
    return exploration, model


def _delete(http: httpx.Client, exploration: str, model: str) -> None:
    """Cancelled ones may have a step under way, and can be deleted after it."""
    until = time.monotonic() + _PATIENCE_S
    for path in (f"/v1/explorations/{exploration}", f"/v1/models/{model}"):
        while (reply := http.delete(path)).status_code == 409 and time.monotonic() < until:
            time.sleep(0.5)
        reply.raise_for_status()


def _json(reply: httpx.Response) -> Any:
    if reply.is_error:
        raise RuntimeError(f"{reply.request.url.path} was answered {reply.status_code}: {reply.text[:300]}")
    return reply.json()


def _rest(service: RunningService) -> None:
    """Wait until nothing is queued or runs, then let everything expire that may."""
    until = time.monotonic() + _PATIENCE_S
    while any(service.get(f"/v1/builds?state={state}&limit=1")["items"] for state in ("queued", "running")):
        if time.monotonic() > until:
            sys.exit("the farm does not come to rest")
        time.sleep(1)
    later = utcnow() + timedelta(days=400)
    with _farm(service) as farm:
        retain(farm, dry_run=False, now=later)
        tidy(farm.settings, (), later)
        _make_old(farm.settings.store_dir)  # contents of the last day are never deleted, and nobody writes now
        collect(farm.database, farm.store, delete=True)


def _make_old(folder: Path) -> None:
    long_ago = time.time() - 2 * 86400
    for path in folder.rglob("*"):
        os.utime(path, (long_ago, long_ago))


@contextmanager
def _farm(service: RunningService) -> Iterator[Any]:
    farm = open_farm(_settings(service))
    try:
        yield farm
    finally:
        farm.close()


def _settings(service: RunningService) -> Settings:
    return Settings(home=service.home)


def _look(service: RunningService, minutes: float, explorations: int) -> Look:
    api, worker = service.child("api"), service.child("worker")
    all_of_it = [*service.tree(), psutil.Process(service.process.pid)]
    executor_mb = max((_megabytes(e, *e.children(recursive=True)) for e in worker.children()), default=0.0)
    disk = sum(held_by(_settings(service)).values()) or use_of(service.home).bytes
    files = sum(map(_open_files, all_of_it))
    api_mb, worker_mb = _megabytes(api, *api.children(recursive=True)), _megabytes(worker)
    return Look(round(minutes, 1), explorations, api_mb, worker_mb, executor_mb, len(all_of_it), files, disk)


def _megabytes(*processes: psutil.Process) -> float:
    return round(sum(map(_resident, processes)) / 1e6, 1)


def _resident(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return process.memory_info().rss
    return 0


def _open_files(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return process.num_fds()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="how long")
    parser.add_argument("--period", type=float, default=3, help="minutes between two looks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
