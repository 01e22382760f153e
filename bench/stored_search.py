"""A database with one search of many designs, as a search stores them, and an API on it in a process of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import httpx
import psutil
from sqlalchemy.orm import Session

from api.services import catalog
from compiler.options import Knobs
from db.repositories import catalog as catalog_rows
from db.repositories import designs, explorations
from db.repositories.designs import NewDesign, NewMetric
from dse.objectives import DEFAULT

ROOT = Path(__file__).resolve().parent.parent
METRICS = {
    "latency": "us",
    "cycles": "cycles",
    "energy": "uJ",
    "energy_with_idle": "uJ",
    "power": "W",
    "lut": "LUT",
    "ff": "FF",
    "dsp": "DSP",
    "bram36": "BRAM36",
    "uram": "URAM",
    "hbm_ports": "ports",
    "hbm_traffic": "bytes",
    "hbm_bandwidth": "GB/s",
    "on_chip_memory": "bytes",
    "slowest_ii": "cycles",
    "kernels": "kernels",
    "tasks": "tasks",
    "padding_share": "%",
    "converters": "converters",
}
OPTIONS = {"seed": 0, "sampler": "front", "verify": 3}
_BATCH = 1000
_FRONT = 60


def store_search(session: Session, count: int) -> tuple[str, list[str]]:
    """Ids of an exploration and of its designs, about 60 of which are its front."""
    catalog.put_builtins(session)
    model = catalog_rows.find_model(session, "gpt2")
    workload = catalog_rows.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
    made = explorations.add(session, workload, "u55c", [*DEFAULT], OPTIONS, count)
    draw, ids = Random(0), list[str]()
    for start in range(0, count, _BATCH):
        ids += designs.add(session, made.id, [_design(n, draw) for n in range(start, min(start + _BATCH, count))])
    designs.set_front(session, made.id, {f"k{n}" for n in range(0, count, max(1, count // _FRONT))})
    return made.id, ids


def _design(number: int, draw: Random) -> NewDesign:
    latency, energy = 100 + 900 * draw.random(), 10 + 90 * draw.random()
    found = tuple(
        NewMetric(name, 1000 * draw.random(), unit, "estimate", "millrace", "0.1") for name, unit in METRICS.items()
    )
    return NewDesign(
        number, f"k{number}", Knobs().to_json(), True, latency, energy, [latency, energy], [], None, 0.01, found
    )


@contextmanager
def running_api(home: str, url: str, **settings: str) -> Generator[tuple[str, psutil.Process]]:
    """The address of an API on the database with these variables, and its process."""
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    ours = {"MILLRACE_HOME": home, "MILLRACE_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    environment = os.environ | ours | settings
    command = [sys.executable, "-m", "api", str(os.getpid()), str(listener.fileno())]
    api = subprocess.Popen(command, env=environment, pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL)
    try:
        _await(base)
        yield base, psutil.Process(api.pid)
    finally:
        api.terminate()
        api.wait()


def _await(base: str) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{base}/v1/health/live", timeout=1, trust_env=False).raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    sys.exit("the API did not start")
