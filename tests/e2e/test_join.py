"""A bare machine joins a farm with nothing but the words of a page: a fresh checkout, an empty home.

Set-up itself is proved in tests/fresh; here the clone has an environment that is ready.
"""

import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from checkout import copy_checkout, make_environment
from pages import blocks
from processes import PATIENCE, wait_for
from running_service import REPOSITORY, RunningService, StartService, leftovers, service_environment
from s3_server import BUCKET, s3_environment, s3_server
from servers import PostgresServer, RedisServer

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def words_of(page: str, start: str) -> list[str]:
    """The command of a shell block of a page, by how it begins."""
    [line] = {line for b in blocks(REPOSITORY / page) for line in b.text.splitlines() if line.startswith(start)}
    return line.partition("#")[0].split()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a clone of this tree would hold."""
    folder = tmp_path / "clone"
    copy_checkout(folder, leave_out=("tests/",))
    make_environment(folder / ".venv", folder)
    return folder


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has just logged in."""
    (tmp_path / "user").mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "user")}


@pytest.fixture
def bucket() -> Generator[str]:
    with s3_server() as endpoint:
        yield endpoint


class Farm:
    """A farm that listens on TCP, asks for keys, and whose own worker can not import networks."""

    def __init__(self, start: StartService, folder: Path, **urls: str) -> None:
        self.settings = {**urls, "MILLRACE_ACCESS": "on", "MILLRACE_NODE": "first", "MILLRACE_CAPABILITIES": "search"}
        self.settings["MILLRACE_STAGES"] = "worker.stages.functions:STAGES"
        self.settings["MILLRACE_RATE_LIMIT"] = "100000/minute"
        self.home = folder / "farm"
        self.service: RunningService = start(self.home, **self.settings)
        self.client = httpx.Client(
            base_url=self.service.address,
            headers={"Authorization": f"Bearer {self.key('alice', 'admin')}"},
            timeout=PATIENCE,
            trust_env=False,
        )

    def key(self, name: str, role: str) -> str:
        command = [str(REPOSITORY / ".venv/bin/millrace"), "farm", "key", "add", name, "--role", role]
        environment = service_environment(self.home, **self.settings)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def ask(self, method: str, path: str, **body: Any) -> Any:
        reply = self.client.request(method, path, json=body or None)
        assert reply.is_success, reply.text
        return reply.json()

    def present(self, node: str) -> bool:
        return any(n["present"] for n in self.ask("GET", "/v1/farm")["nodes"] if n["name"] == node)


@pytest.fixture
def farm(
    start_service: StartService, own_postgres: PostgresServer, own_redis: RedisServer, bucket: str, tmp_path: Path
) -> Generator[Farm]:
    urls = {"MILLRACE_DATABASE_URL": own_postgres.url, "MILLRACE_REDIS_URL": own_redis.url}
    made = Farm(start_service, tmp_path, MILLRACE_STORE_URL=f"s3://{BUCKET}/farm", **urls, **s3_environment(bucket))
    yield made
    made.client.close()


def start(command: list[str], checkout: Path, machine: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(command, cwd=checkout, env=machine, stdout=output, stderr=subprocess.STDOUT)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)


def test_a_bare_machine_joins_with_the_words_of_the_page(
    farm: Farm, checkout: Path, machine: dict[str, str], tmp_path: Path
) -> None:
    words = words_of("docs/running.md", "./millrace farm join http")
    assert words[2:] == ["join", "http://farm.example:8642", "--key-file", "node.key", "--name", "lab1"]
    key, file = farm.key("lab1", "node"), tmp_path / "node.key"
    file.write_text(f"{key}\n")
    words[3], words[5] = farm.service.address, str(file)
    log = tmp_path / "node.log"
    node = start(words, checkout, machine, log)
    try:
        wait_for(lambda: node.poll() is not None or farm.present("lab1"), PATIENCE, "the node to join")
        assert farm.present("lab1"), log.read_text()
        lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
        assert not [line for line in lines if key in line or "mlr_" in line]
        run = farm.ask("POST", "/v1/explorations", model="gpt2", budget=8)["id"]

        def lowered() -> dict[str, Any] | None:
            builds = farm.ask("GET", "/v1/builds?stage=lower")["items"]
            return builds[0] if builds and builds[0]["state"] in ("done", "failed") else None

        build = wait_for(lowered, 300, f"the import; the node says:\n{log.read_text()}")
        assert (build["state"], build["node"]) == ("done", "lab1"), build
        farm.ask("POST", f"/v1/explorations/{run}/cancel")
    finally:
        stop(node)
    _assert_private_and_gone(Path(machine["HOME"]), key)
    _start_again_without_key(farm, checkout, machine, log)


def _assert_private_and_gone(home: Path, key: str) -> None:
    kept = home / ".local" / "share" / "millrace" / "node.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert key not in kept.read_text()
    assert leftovers(kept.parent) == []


def _start_again_without_key(farm: Farm, checkout: Path, machine: dict[str, str], log: Path) -> None:
    last = farm.ask("GET", "/v1/farm")["nodes"]
    before = {node["name"]: node["last_seen"] for node in last}["lab1"]
    node = start(["./millrace", "farm", "join"], checkout, machine, log)
    try:

        def announced() -> bool:
            return any(n["last_seen"] > before for n in farm.ask("GET", "/v1/farm")["nodes"] if n["name"] == "lab1")

        wait_for(lambda: node.poll() is not None or announced(), PATIENCE, "the node to come back")
        assert node.poll() is None, log.read_text()
    finally:
        stop(node)


def test_wrong_keys_and_a_store_that_is_out_of_reach(farm: Farm, tmp_path: Path) -> None:
    def check(key: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [
            str(REPOSITORY / ".venv/bin/millrace"),
            "farm",
            "join",
            farm.service.address,
            "--check",
        ]
        clean = {n: v for n, v in os.environ.items() if not n.startswith(("MILLRACE_", "AWS_"))}
        environment = {**clean, "MILLRACE_HOME": str(tmp_path / "node"), "MILLRACE_API_KEY": key, **more}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    for key in ("mlr_wrong", farm.key("bob", "user")):
        refused = check(key)
        assert refused.returncode == 3
        assert "does not take this key" in refused.stderr
    key = farm.key("lab2", "node")
    assert check(key).returncode == 0
    away = check(key, MILLRACE_STORE_URL="file:///nowhere/millrace")
    assert away.returncode == 1
    assert "artifact store file:///nowhere/millrace can not be used from here" in away.stderr
    assert "a network file system" in away.stderr
