"""Driving a running service in tests: start `up` in a process of its own, ask it, look at its processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
from migrated import migrated
from processes import PATIENCE, wait_for
from service_tools import TOLD

REPOSITORY = Path(__file__).parents[2]


@dataclass
class RunningService:
    """An `up` in a process of its own."""

    process: subprocess.Popen[str]
    home: Path
    address: str
    output: Path

    @property
    def http(self) -> httpx.Client:
        # Plain HTTP: certificates to verify nothing with take as long to read as five requests, and tests ask often.
        return httpx.Client(base_url=self.address, timeout=PATIENCE, trust_env=False, verify=False)

    def get(self, path: str) -> Any:
        with self.http as http:
            return http.get(path).raise_for_status().json()

    def post(self, path: str, body: Any = None) -> Any:
        with self.http as http:
            reply = http.post(path, json=body)
            assert reply.is_success, reply.text
            return reply.json()

    def explore(self, **values: Any) -> str:
        """Its id. Few designs are simulated: each takes the start of a process."""
        few = {"model": "gpt2", "budget": 40, "simulate": 3, "calibration": 1}
        return self.post("/v1/explorations", {**few, **values})["id"]

    def tell(self, **values: object) -> None:
        """Have the stand-in stages do otherwise from their next call on; see `service_stages`."""
        new = self.home / f"{TOLD}.new"
        new.write_text(json.dumps({name: str(value) for name, value in values.items()}))
        new.replace(self.home / TOLD)

    def wait_state(self, exploration: str, *states: str, seconds: float = PATIENCE) -> dict[str, Any]:
        def reached() -> dict[str, Any] | None:
            found = self.get(f"/v1/explorations/{exploration}")
            return found if found["state"] in states else None

        return wait_for(reached, seconds, f"{exploration} to be {states}; logs:\n{self.logs()}")

    def child(self, module: str) -> psutil.Process:
        """The child that runs `python -m MODULE`."""

        def found() -> psutil.Process | None:
            for child in psutil.Process(self.process.pid).children():
                command = child.cmdline()
                if command[1:3] == ["-m", module]:
                    return child
            return None

        return wait_for(found, PATIENCE, f"a child that runs {module}")

    def tree(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def logs(self) -> str:
        files = sorted((self.home / "run" / "logs").rglob("*.log"))
        return "\n".join(f"== {f.name}\n{f.read_text(errors='replace')[-2000:]}" for f in files)


START = """
import sys
from worker.settings import Settings
from worker.supervisor import up
from worker.errors import ServiceError
try:
    up(Settings(), lambda s: print("ready", s.address, flush=True), lambda text: print(text, flush=True))
except ServiceError as error:
    sys.exit(f"error: {error}")
"""

StartService = Callable[..., RunningService]


def service_environment(home: Path, **extra: Any) -> dict[str, str]:
    """The environment of an `up` with stand-in stages, on any free port."""
    paths = (REPOSITORY, REPOSITORY / "client", REPOSITORY / "tests" / "support")
    own = {
        "MILLRACE_HOME": home,
        "MILLRACE_PORT": 0,
        "MILLRACE_STAGES": "service_stages:STAGES",
        "MILLRACE_LEASE_SECONDS": 60,
        "MILLRACE_REAP_SECONDS": 1,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MILLRACE_")}
    return clean | {k: str(v) for k, v in (own | extra).items()}


@contextmanager
def service_starter(folder: Path) -> Generator[StartService]:
    """A function that starts services with their home in `folder`; all are stopped at the end."""
    started: list[RunningService] = []

    def start(home: Path = folder / "home", **extra: Any) -> RunningService:
        if not home.exists() and "MILLRACE_DATABASE_URL" not in extra:
            # As its first start would make it, which takes half a second: tests of commands start without one.
            home.mkdir(mode=0o700)
            migrated(f"sqlite:///{home}/millrace.db")
        output = folder / f"up-{len(started)}.txt"
        process = subprocess.Popen(
            [sys.executable, "-c", START],
            env=service_environment(home, **extra),
            stdout=output.open("w"),
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
        )
        service = RunningService(process, home, "", output)
        started.append(service)

        def ready() -> bool:
            assert process.poll() is None, output.read_text() + service.logs()
            return "ready http" in output.read_text()

        wait_for(ready, PATIENCE, "`up` to be ready")
        line = next(line for line in output.read_text().splitlines() if line.startswith("ready "))
        service.address = line.split()[1]
        return service

    try:
        yield start
    finally:
        for service in started:
            if service.process.poll() is None:
                service.process.terminate()
                service.process.wait(PATIENCE)


def leftovers(home: Path) -> list[str]:
    """Command lines of processes that still belong to the service on `home`."""
    found: list[str] = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MILLRACE_HOME") == str(home) or str(home) in " ".join(process.cmdline()):
                found.append(f"{process.pid} {process.status()} {' '.join(process.cmdline())}")
        except psutil.Error:
            continue
    return found
