"""The node's side, against a service that only answers what the test says."""

import json
import os
import threading
from collections.abc import Generator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from db.migrate import HEAD
from worker.errors import JoinError
from worker.ladder.versions import millrace_version
from worker.node import membership
from worker.node.membership import Membership
from worker.settings import Settings
from worker.store.folder import FolderStore

NOWHERE = "127.0.0.1:9"


class FakeFarm(BaseHTTPRequestHandler):
    status = 200
    answer: Any = None
    asked: Any = None

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).asked = (self.path, self.headers["Authorization"], json.loads(body))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(json.dumps(self.answer).encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def url() -> Generator[str]:
    server = HTTPServer(("127.0.0.1", 0), FakeFarm)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Membership:
    """Of a farm whose store is a folder here."""
    for name in [name for name in os.environ if name.startswith("MILLRACE_")]:
        monkeypatch.delenv(name)
    store = FolderStore(tmp_path / "farm store")
    environment = {
        "MILLRACE_DATABASE_URL": f"postgresql+psycopg://u:secret@{NOWHERE}/x",
        "MILLRACE_REDIS_URL": f"redis://{NOWHERE}/0",
        "MILLRACE_STORE_URL": store.url,
    }
    return Membership("http://farm", millrace_version(), HEAD, store.put_bytes(b"probe"), environment)


@pytest.fixture
def settings(member: Membership, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in member.environment:
        monkeypatch.setenv(name, "")  # so that they are undone at the end
    return membership.apply(member).model_copy(update={"home": tmp_path / "home", "node": "lab-7"})


def test_ask(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"MILLRACE_REDIS_URL": "redis://farm", "AWS_REGION": "x"}
    answer = {"version": "1", "revision": "2", "probe": "3", "environment": environment, "more": 1}
    monkeypatch.setattr(FakeFarm, "answer", answer)
    assert membership.ask(f"{url}/", "mlr_key", "lab-7") == Membership(f"{url}/", "1", "2", "3", environment)
    assert FakeFarm.asked == ("/v1/farm/join", "Bearer mlr_key", {"name": "lab-7", "version": millrace_version()})


def test_a_farm_does_not_choose_what_code_runs_here(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = dict.fromkeys(("LD_PRELOAD", "PATH", "PYTHONPATH", "MILLRACE_STAGES"), "/tmp/theirs")
    answer = {"version": "1", "revision": "2", "probe": "3", "environment": environment}
    monkeypatch.setattr(FakeFarm, "answer", answer)
    assert membership.ask(url, "mlr_key", "lab-7").environment == {}


@pytest.mark.parametrize(
    ("url", "readable"),
    [("http://farm.example:8642", True), ("http://127.0.0.1:8642", False), ("https://farm.example", False)],
)
def test_whether_others_can_read_the_answer(url: str, readable: bool) -> None:
    assert membership.is_readable_on_the_way(url) is readable


@pytest.mark.parametrize(
    ("status", "answer", "message"),
    [
        (401, {}, "does not take this key.*millrace farm key add NAME --role node"),
        (403, {"detail": "no"}, "does not take this key"),
        (409, {"detail": "this farm keeps its tables in a SQLite file"}, "refused: this farm keeps"),
        (404, [], "answered 404.*check the address"),
        (200, {"version": "1"}, "check the address"),
        (200, "what?", "check the address"),
        (200, {"version": "1", "revision": "2", "probe": "3", "environment": ["A"]}, "check the address"),
    ],
)
def test_refusals(url: str, monkeypatch: pytest.MonkeyPatch, status: int, answer: Any, message: str) -> None:
    monkeypatch.setattr(FakeFarm, "status", status)
    monkeypatch.setattr(FakeFarm, "answer", answer)
    with pytest.raises(JoinError, match=message):
        membership.ask(url, "mlr_key", "lab-7")


@pytest.mark.parametrize("url", [f"http://{NOWHERE}", "farm.example", "http://[", "ftp://x"])
def test_no_farm_there(url: str) -> None:
    with pytest.raises(JoinError, match="no farm answers"):
        membership.ask(url, "", "lab-7")


def test_it_is_kept_for_this_user_alone(member: Membership, tmp_path: Path) -> None:
    path = membership.save(member, tmp_path / "new")
    assert path.stat().st_mode & 0o777 == 0o600
    membership.save(member, tmp_path / "new")
    assert [p.name for p in path.parent.iterdir()] == ["node.json"]
    assert membership.load(path.parent) == member
    path.write_text("{}")
    with pytest.raises(JoinError, match="damaged; delete it and join again"):
        membership.load(path.parent)
    with pytest.raises(JoinError, match="has not joined a farm yet"):
        membership.load(tmp_path / "nowhere")


def test_what_the_operator_set_here_stays(member: Membership, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mounted = (tmp_path / "mnt").as_uri()
    monkeypatch.setenv("MILLRACE_STORE_URL", mounted)
    for name in ("MILLRACE_DATABASE_URL", "MILLRACE_REDIS_URL"):
        monkeypatch.setenv(name, "")
    settings = membership.apply(member)
    assert settings.store_url == mounted
    assert settings.database_url == member.environment["MILLRACE_DATABASE_URL"]


def test_each_thing_that_is_away_has_its_own_line(member: Membership, settings: Settings) -> None:
    found = membership.problems(replace(member, version="0.0.1", probe="0" * 64), settings)
    assert [problem.partition(" can not")[0] for problem in found[1:]] == [
        f"the database at {NOWHERE}",
        f"the redis at {NOWHERE}",
        f"the artifact store {settings.store_url}",
    ]
    assert "farm runs Millrace 0.0.1" in found[0]
    assert "git checkout v0.0.1" in found[0]
    assert 'MILLRACE_JOIN_URLS=\'{"database"' in found[1]
    assert "a network file system" in found[3]
    assert "secret" not in "".join(found)


def test_the_store_that_it_should_be(member: Membership, settings: Settings) -> None:
    found = membership.problems(member, settings)
    assert [problem.partition(" ")[2].partition(" ")[0] for problem in found] == ["database", "redis"]


def test_revision_of_the_database(member: Membership, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "current_revision", lambda _engine: "0001")
    [problem] = [p for p in membership.problems(member, settings) if "revision" in p]
    assert f"has revision 0001, this Millrace works with {HEAD}" in problem
