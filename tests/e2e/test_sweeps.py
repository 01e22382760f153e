"""Sweeps on real services with the stand-in stages: a planted regression, an unchanged night, an outage, a webhook."""

import hashlib
import hmac
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from processes import PATIENCE, wait_for
from running_service import RunningService, StartService, service_environment

from db.engine import Database
from db.repositories import sweeps
from db.types import utcnow

pytestmark = pytest.mark.e2e

RUN = [sys.executable, "-c", "from cli.main import run; run()"]
SMALL = ("--budget", "16", "--simulate", "3", "--calibration", "0", "--verify", "1", "--sampler", "random")
SECRET = "sixteen letters!"


def cli(service: RunningService, *arguments: str, code: int = 0) -> str:
    environment = {**service_environment(service.home), "MILLRACE_SERVER": service.address}
    done = subprocess.run([*RUN, *arguments], env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == code, done.stdout + done.stderr + service.logs()
    return done.stdout


def stop(service: RunningService) -> None:
    service.process.terminate()
    service.process.wait(PATIENCE)


def gxx(folder: Path, version: str) -> str:
    """A PATH whose g++ says that it is this version."""
    tool = folder / "bin" / "g++"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\necho {version}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return f"{tool.parent}{os.pathsep}{os.environ['PATH']}"


def announced(service: RunningService) -> str | None:
    """The g++ of the node, as the farm knows it."""
    nodes = service.get("/v1/farm")["nodes"]
    return next((node["capabilities"].get("simulate", {}).get("g++") for node in nodes), None)


@contextmanager
def receiver() -> Generator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A webhook on this machine, and what it was sent."""
    calls: list[tuple[dict[str, str], bytes]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            calls.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", calls
    finally:
        server.shutdown()


def test_a_planted_regression_goes_red_and_says_why(start_service: StartService, tmp_path: Path) -> None:
    with receiver() as (url, calls):
        service = start_service(MILLRACE_WEBHOOK_HOSTS="127.0.0.1")
        (tmp_path / "secret").write_text(SECRET)
        hook = ("--webhook", url, "--webhook-secret-file", str(tmp_path / "secret"))
        cli(service, "sweep", "add", "nightly", "--model", "gpt2", *SMALL, *hook)
        first = json.loads(cli(service, "sweep", "run", "nightly", "--wait", "--json"))
        assert (first["state"], first["builds"]["cached"]) == ("changed", 0)
        again = json.loads(cli(service, "sweep", "run", "nightly", "--wait", "--json"))
        assert (again["state"], again["builds"], again["baseline_id"]) == ("same", {"ran": 0, "cached": 5}, first["id"])
        real = announced(service)
        stop(service)

        service = start_service(MILLRACE_WEBHOOK_HOSTS="127.0.0.1", SLOWER="1.2", PATH=gxx(tmp_path, "99.1.0"))
        wait_for(lambda: announced(service) == "99.1.0", PATIENCE, "the node to announce its g++")
        text = cli(service, "sweep", "run", "nightly", "--wait", code=1)
        assert "REGRESSED" in text
        assert "(front) at simulate" in text
        assert "us (+20 %)" in text
        assert f"changed since: g++ {real} -> 99.1.0" in text
        assert "hypervolume before" in text
        [run, *_] = service.get("/v1/sweeps/nightly/runs")["items"]
        worst = service.get(f"/v1/sweep-runs/{run['id']}")["regressions"][0]
        assert (worst["metric"], worst["fidelity"], worst["causes"][0]["what"]) == ("latency", "simulate", "g++")
        assert service.get(f"/v1/designs/{worst['design']['id']}")["number"] == worst["design"]["number"]
        assert "REGRESSED" in cli(service, "sweep", "list")
        assert "hypervolume  " in cli(service, "sweep", "show", "nightly")
        _assert_called(calls, [first["id"], again["id"], run["id"]])

        cli(service, "sweep", "accept", run["id"])
        after = json.loads(cli(service, "sweep", "run", "nightly", "--wait", "--json"))
        assert (after["state"], after["baseline_id"]) == ("same", run["id"])


def _assert_called(calls: list[tuple[dict[str, str], bytes]], runs: list[str]) -> None:
    wait_for(lambda: len(calls) >= len(runs), PATIENCE, "the webhook to be called for each run")
    assert [headers["Millrace-Run"] for headers, _ in calls] == runs
    headers, body = calls[-1]
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["Millrace-Signature-256"] == f"sha256={expected}"
    told = json.loads(body)
    assert (told["state"], told["sweep"]["name"]) == ("regressed", "nightly")
    assert "changed since: g++" in told["regressions"][0]["text"]


def test_after_an_outage_each_sweep_does_as_its_policy_says(start_service: StartService) -> None:
    service = start_service()
    for name, policy in (("skipping", "skip"), ("catching-up", "run-once")):
        cli(service, "sweep", "add", name, "--cron", "0 3 * * *", "--model", "gpt2", *SMALL, "--misfire", policy)
    stop(service)
    database = Database(f"sqlite:///{service.home}/millrace.db")
    with database.write() as session:
        for name in ("skipping", "catching-up"):
            sweeps.set_next(session, sweeps.get(session, name).id, utcnow() - timedelta(days=2))
    database.close()

    service = start_service()
    wait_for(lambda: service.get("/v1/sweeps/catching-up")["last_run"], PATIENCE, "the late run")
    late = service.get("/v1/sweeps/catching-up")["last_run"]
    assert (late["cause"], late["explorations"]) == ("late", 1)
    wait_for(lambda: service.get(f"/v1/sweep-runs/{late['id']}")["state"] == "changed", PATIENCE, "its end")
    [skipped] = service.get("/v1/sweeps/skipping/runs")["items"]
    assert (skipped["state"], skipped["explorations"]) == ("cancelled", 0)
    assert "missed; its misfire policy is skip" in skipped["error"]
    assert len(service.get("/v1/sweeps/catching-up/runs")["items"]) == 1


def test_a_cron_of_one_s_own_needs_no_service(tmp_path: Path) -> None:
    environment = service_environment(tmp_path / "home")

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*RUN, "sweep", *arguments], env=environment, capture_output=True, text=True, timeout=180, check=False
        )

    made = command("add", "mine", "--model", "gpt2", *SMALL)
    assert made.returncode == 0, made.stderr
    assert "it runs by hand only" in made.stdout
    ran = command("run", "mine", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.loads(ran.stdout)["state"] == "changed"
    assert "mine" in command("list").stdout


def test_on_postgres_and_redis(start_service: StartService, postgres_url: str, redis_url: str) -> None:
    with receiver() as (url, calls):
        service = start_service(
            MILLRACE_DATABASE_URL=postgres_url, MILLRACE_REDIS_URL=redis_url, MILLRACE_WEBHOOK_HOSTS="127.0.0.1"
        )
        options = {"budget": 16, "simulate": 3, "calibration": 0, "verify": 1}
        matrix = {"models": ["gpt2"], "seeds": [0, 1], "samplers": ["random"]}
        new = {"name": "nightly", "cron": "0 0 29 2 *", "matrix": matrix, "options": options, "webhook": url}
        assert service.post("/v1/sweeps", new)["explorations"] == 2
        for night in (1, 2):
            _is_due(postgres_url)
            runs = wait_for(lambda night=night: _ended(service, night), 180, f"the end of night {night}")
        assert [run["state"] for run in runs] == ["same", "changed"]
        assert (runs[0]["builds"]["ran"], runs[0]["cause"]) == (0, "schedule")
        wait_for(lambda: len(calls) >= 2, PATIENCE, "the webhook to be called")


def _is_due(database_url: str) -> None:
    """Have the time of the sweep come now."""
    database = Database(database_url)
    with database.write() as session:
        sweeps.set_next(session, sweeps.get(session, "nightly").id, utcnow())
    database.close()


def _ended(service: RunningService, count: int) -> list[dict[str, Any]] | None:
    """The first runs that were started, newest first, once so many have ended."""
    runs = [run for run in service.get("/v1/sweeps/nightly/runs")["items"] if run["explorations"]]
    ended = [run for run in runs if run["state"] != "running"]
    return ended[-count:] if len(ended) >= count else None
