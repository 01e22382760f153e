"""Hostile and large honest files through the look at uploads and the import, each in a process of its own.

python -m bench.hostile                  every hostile file: outcome, seconds, peak memory, reason
python -m bench.hostile --beside         somebody else's small network is imported again and again meanwhile
python -m bench.hostile --honest         twenty large honest networks: none may be refused
python -m bench.hostile --flood          all hostile files uploaded to a service at once, while its health is asked for
python -m bench.hostile --only reshapes  the files whose name has this in it

A file is looked at as at the door of the service; what passes is imported. The process that imports is ended at 4 GB of
its whole tree, or after 300 s. Aims: every file ends within its limits, nine of ten within 60 s and 2 GB, no reason is
a traceback or names a folder of this machine; health answers within 100 ms.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import httpx
import psutil
from hostile_files import hostile_files
from large_files import large_files
from onnx_models import mlp
from running_service import service_starter

from compiler.errors import MillraceError
from compiler.frontend.bundle import import_model
from compiler.frontend.inputs.source import FileSource, is_format, model_name, resolve_source, whole_network
from compiler.frontend.scan.pool import ScanPool
from compiler.options import Workload

MEMORY_BYTES, SECONDS = 4 << 30, 300.0
AIM_BYTES, AIM_SECONDS, AIM_HEALTH_MS = 2 << 30, 60.0, 100.0
_POLL_SECONDS = 0.05
_TELLTALES = re.compile(r"Traceback|SIG[A-Z]{3,}|/tmp/|/home/|/usr/|site-packages|\n")


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a file: `outcome` is refused, imported or stopped, `by` the look or the import."""

    file: str
    kilobytes: int
    by: str
    outcome: str
    seconds: float
    cpu_seconds: float
    megabytes: int
    reason: str


def main() -> None:
    """Print the table that is asked for."""
    arguments = _arguments()
    if arguments.one:
        sys.exit(_import(Path(arguments.one)))
    files = large_files() if arguments.honest else hostile_files()
    chosen = {name: make for name, make in files.items() if arguments.only in name}
    if arguments.flood:
        found = asyncio.run(_flood(chosen))
        print(json.dumps(found, indent=2))
        return
    rows: list[Row] = []
    with _others(arguments.beside) as others:
        for row in _rows(chosen):
            rows.append(row)
            print(json.dumps(asdict(row)) if arguments.json else _line(row), flush=True)
        print(json.dumps(_summary(rows) | others(), indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--honest", action="store_true")
    parser.add_argument("--flood", action="store_true")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--only", default="", help="part of a file's name")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _import(path: Path) -> int:
    """Import one file in this process's child, as a build does; the reason of a refusal goes to standard output."""
    form = path.suffix.removeprefix(".")
    with tempfile.TemporaryDirectory(dir=path.parent) as cache:
        try:
            if is_format(form):
                source = FileSource(model_name(path), path, form)
                import_model(source, whole_network(source.name), Path(cache))
            else:
                source = resolve_source(path)
                import_model(path, Workload(source.name, "prefill", 4, "f32"), Path(cache))
        except MillraceError as error:
            print(f"{type(error).__name__}: {error}")
            return 1
    return 0


def _rows(files: Mapping[str, Callable[[], bytes]]) -> Iterator[Row]:
    pool = ScanPool()
    with tempfile.TemporaryDirectory(prefix="millrace-hostile-") as folder:
        for name, make in files.items():
            path = Path(folder) / (name if not name.endswith(".json") else f"{Path(name).stem}/config.json")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(make())
            yield _looked(pool, name, path) or _imported(name, path)
            path.unlink()
    pool.close()


def _looked(pool: ScanPool, name: str, path: Path) -> Row | None:
    """What a look says of the file; None where nothing is wrong."""
    form = path.suffix.removeprefix(".")
    if not is_format(form):
        return None
    begun = time.perf_counter()
    with path.open("rb") as file:
        try:
            pool.scan(file.fileno(), form, path.name)
        except MillraceError as error:
            seconds = time.perf_counter() - begun
            return Row(name, path.stat().st_size >> 10, "look", "refused", round(seconds, 2), 0, 0, str(error))
    return None


def _imported(name: str, path: Path) -> Row:
    """What its import says, in a process that is watched."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.hostile", "--one", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    most, cpu, stopped = 0, 0.0, ""
    while process.poll() is None and not stopped:
        tree = _tree(process.pid)
        most, cpu = max(most, sum(map(_resident, tree))), max(cpu, sum(map(_cpu_seconds, tree)))
        if most > MEMORY_BYTES:
            stopped = "more than 4 GB"
        elif time.perf_counter() - begun > SECONDS:
            stopped = "more than 300 s"
        time.sleep(_POLL_SECONDS)
    if stopped:
        _kill(process.pid)
    said, _ = process.communicate()
    outcome = "stopped" if stopped else "refused" if process.returncode == 1 else "imported"
    seconds = round(time.perf_counter() - begun, 2)
    reason = stopped or said.strip()
    return Row(name, path.stat().st_size >> 10, "import", outcome, seconds, round(cpu, 1), most >> 20, reason)


def _tree(pid: int) -> list[psutil.Process]:
    """The process and all below it."""
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def _cpu_seconds(process: psutil.Process) -> float:
    """Of it and what it has waited for. A sum over living ones has those that are killed with it, which the operating
    system adds to nobody.
    """
    with suppress(psutil.Error):
        return sum(process.cpu_times()[:4])
    return 0


def _resident(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return process.memory_info().rss
    return 0


def _kill(pid: int) -> None:
    with suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                process.kill()
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@contextmanager
def _others(wanted: bool) -> Generator[Callable[[], dict[str, object]]]:
    """Import somebody's small network again and again; gives what says how many seconds that took, alone and since."""
    if not wanted:
        yield dict
        return
    ended, beside = threading.Event(), list[Row]()
    with tempfile.TemporaryDirectory(prefix="millrace-honest-") as folder:
        path = Path(folder, "small.onnx")
        path.write_bytes(mlp().SerializeToString())
        alone = [_imported(path.name, path) for _ in range(3)]

        def go_on() -> None:
            while not ended.is_set():
                beside.append(_imported(path.name, path))

        asking = threading.Thread(target=go_on)
        asking.start()

        def told() -> dict[str, object]:
            failed = sum(row.outcome != "imported" for row in (*alone, *beside))
            seconds = {"alone": alone, "beside": beside}
            spreads = {name: _spread([row.seconds for row in rows]) for name, rows in seconds.items() if rows}
            return {"others' imports, s": {**spreads, "failed": failed}}

        try:
            yield told
        finally:
            ended.set()
            asking.join()


def _line(row: Row) -> str:
    size = f"{row.kilobytes:7} kB {row.seconds:7.2f} s {row.cpu_seconds:6.1f} cpu {row.megabytes:5} MB"
    return f"{row.file:34} {row.by:6} {row.outcome:8} {size}  {' '.join(row.reason.split())[:110]}"


def _summary(rows: list[Row]) -> dict[str, object]:
    within = [row for row in rows if row.seconds <= AIM_SECONDS and row.megabytes << 20 <= AIM_BYTES]
    return {
        "files": len(rows),
        "known by a look": sum(row.by == "look" for row in rows),
        "outcomes": Counter(row.outcome for row in rows),
        "within 60 s and 2 GB": len(within),
        "slowest_s": max((row.seconds for row in rows), default=0),
        "most_cpu_s": max((row.cpu_seconds for row in rows), default=0),
        "largest_mb": max((row.megabytes for row in rows), default=0),
        "reasons with a traceback, a signal or a path": [r.file for r in rows if _TELLTALES.search(r.reason)],
        "without a reason": [row.file for row in rows if row.outcome == "refused" and not row.reason],
    }


async def _flood(files: Mapping[str, Callable[[], bytes]]) -> dict[str, object]:
    """Statuses of all uploads at once, and the milliseconds that health took meanwhile."""
    contents = {name: make() for name, make in files.items()}
    with tempfile.TemporaryDirectory(prefix="millrace-flood-") as folder, service_starter(Path(folder)) as start:
        service = start(MILLRACE_ALLOW_PT2="true", MILLRACE_RATE_LIMIT="100000/minute")
        limits = httpx.Limits(max_connections=len(contents))
        sending = httpx.AsyncClient(base_url=service.address, timeout=300, limits=limits, trust_env=False)
        with _asking(service.address) as healths:
            await asyncio.sleep(5)
            before, begun = healths(), time.perf_counter()
            async with sending as client:
                statuses = await asyncio.gather(*(_upload(client, name, content) for name, content in contents.items()))
            during, seconds = healths(), time.perf_counter() - begun
        scanners = [p for p in service.tree() if "compiler.frontend.scan.process" in " ".join(p.cmdline())]
        return {
            "files": len(contents),
            "megabytes": sum(map(len, contents.values())) >> 20,
            "seconds": round(seconds, 1),
            "statuses": Counter(statuses),
            "processes that looked": len(scanners),
            "health_ms": {"before": _spread(before), "during": _spread(during)},
        }


async def _upload(client: httpx.AsyncClient, name: str, content: bytes) -> int:
    model = "".join(c if c.isalnum() else "-" for c in name)
    reply = await client.post("/v1/models", files={"file": (name, content)}, data={"name": model})
    return reply.status_code


@contextmanager
def _asking(address: str) -> Generator[Callable[[], list[float]]]:
    """Ask for health from a process of its own, which the uploads do not hold up; gives what says how long it took."""
    ours, theirs = multiprocessing.Pipe()
    asker = multiprocessing.get_context("spawn").Process(target=_ask_health, args=(address, theirs))
    asker.start()
    ours.recv()

    def healths() -> list[float]:
        ours.send(None)
        return ours.recv()

    try:
        yield healths
    finally:
        asker.terminate()
        asker.join()


def _ask_health(address: str, asked: "Connection[Any, Any]") -> None:
    """Ask again 50 ms after each answer; send the milliseconds since it was last asked how long that took."""
    asked.send(None)
    found: list[float] = []
    with httpx.Client(base_url=address, timeout=60, trust_env=False, verify=False) as client:
        while True:
            begun = time.perf_counter()
            client.get("/v1/health").raise_for_status()
            found.append((time.perf_counter() - begun) * 1e3)
            if asked.poll(0.05):
                asked.recv()
                asked.send(found)
                found = []


def _spread(found: list[float]) -> dict[str, float]:
    ordered = sorted(found)
    return {
        "count": len(ordered),
        "median": round(ordered[len(ordered) // 2], 1),
        "p99": round(ordered[int(len(ordered) * 0.99)], 1),
        "max": round(ordered[-1], 1),
    }


if __name__ == "__main__":
    main()
