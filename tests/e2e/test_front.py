"""The API and the process in front of it: one goes with the other, and health is told while the API stands still."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest
from processes import gone, until, wait_for

from api.probes import HEALTH, LIVE, STALE_SECONDS
from bench.stored_search import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@dataclass
class Served:
    process: subprocess.Popen[str]
    base: str

    @property
    def front(self) -> psutil.Process:
        (found,) = [p for p in psutil.Process(self.process.pid).children() if "api.front" in p.cmdline()]
        return found

    def get(self, path: str, seconds: float = 5) -> httpx.Response:
        return httpx.get(self.base + path, timeout=seconds, trust_env=False, verify=False)

    def answers(self) -> bool:
        try:
            return self.get(LIVE).status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def serving(home: Path) -> Generator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    descriptor = listener.fileno()
    process = subprocess.Popen(
        [sys.executable, "-m", "api", str(os.getpid()), str(descriptor)],
        env=os.environ | {"MILLRACE_HOME": str(home), "PYTHONPATH": str(ROOT)},
        pass_fds=[descriptor],
        stderr=subprocess.PIPE,
        text=True,
    )
    served = Served(process, f"http://127.0.0.1:{listener.getsockname()[1]}")
    listener.close()
    try:
        until(served.answers)
        yield served
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.communicate()


def test_health_is_told_of_an_api_that_stands_still(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        until(lambda: served.get(HEALTH).json()["database"])
        served.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        for _ in range(20):
            since = time.monotonic()
            assert served.get(LIVE).status_code == 200
            assert served.get(HEALTH).json()["status"] == "degraded"  # there is no broker
            assert time.monotonic() - since < 1
        wait_for(lambda: served.get(LIVE).status_code == 503, STALE_SECONDS + 5, "it to be said that the API is silent")
        assert time.monotonic() - begun > STALE_SECONDS - 2
        # The API says how each is, one after the other: it may have been stopped in between.
        wait_for(
            lambda: "has not said" in served.get(HEALTH).json()["detail"], STALE_SECONDS, "health to be silent, too"
        )
        with pytest.raises(httpx.ReadTimeout):
            served.get("/v1/models", seconds=0.5)
        served.process.send_signal(signal.SIGCONT)
        wait_for(served.answers, 10, "it to be said that the API is well")
        assert served.get("/v1/models").status_code == 200


def test_each_ends_with_the_other(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        front = served.front
        assert served.get("/v1/models").status_code == 200
        front.kill()
        assert served.process.wait(20) == 1
        assert served.process.stderr is not None
        assert "the process in front of the API has ended" in served.process.stderr.read()
    for end in (signal.SIGTERM, signal.SIGKILL):
        with serving(tmp_path) as served:
            front = served.front
            for number in (signal.SIGINT, signal.SIGTERM):
                front.send_signal(number)  # as a terminal does to all of a group
            assert served.get("/v1/models").status_code == 200
            served.process.send_signal(end)
            served.process.wait(20)
            until(lambda front=front: gone(front.pid))
            with pytest.raises(httpx.ConnectError):
                served.get(LIVE)
