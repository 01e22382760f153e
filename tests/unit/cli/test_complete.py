"""What Tab offers, and how long that takes."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import perf_counter

import pytest
from migrated import migrated

from cli import complete
from db.engine import Database
from db.repositories import catalog, explorations, sweeps
from worker.settings import Settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a home"
    monkeypatch.setenv("MILLRACE_HOME", str(folder))
    for name in ("MILLRACE_SERVER", "MILLRACE_API_KEY", "MILLRACE_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    database = Database(migrated(Settings().database))
    with database.write() as session:
        model = catalog.put_model(session, "mlp", "config", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        explorations.add(session, workload, "u55c", ["latency", "energy"], {}, 1)
        sweeps.add(session, "nightly", "0 3 * * *", "UTC", "skip", {}, {})
    database.close()
    return folder


def test_names_from_the_database_of_this_machine(home: Path) -> None:
    assert complete.explorations("") == ["latest", "mlp-decode-64-w4a8"]
    assert complete.explorations("m") == ["mlp-decode-64-w4a8"]
    assert complete.designs("l") == ["latest#"]
    assert complete.models("m") == ["mlp"]
    assert "gpt2" in complete.models("")
    assert complete.sweeps("") == ["nightly"]


def test_nothing_there_offers_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MILLRACE_SERVER", raising=False)
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path / "none"))
    assert complete.explorations("") == ["latest"]
    assert not (tmp_path / "none").exists()
    for server in ("http://127.0.0.1:9", "file:///etc/passwd", "nonsense"):
        monkeypatch.setenv("MILLRACE_SERVER", server)
        assert complete.sweeps("") == []


def test_names_from_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.headers["Authorization"] == "Bearer mlr_1"
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"items": [{"name": "far"}]}')

        def log_message(self, format: str, *args: object) -> None:
            """Not needed."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request).start()
        monkeypatch.setenv("MILLRACE_SERVER", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("MILLRACE_API_KEY", "mlr_1")
        assert complete.sweeps("") == ["far"]


CODE = (
    "import sys; sys.argv = ['millrace']\nfrom cli.main import run\ntry:\n    run()\nfinally:\n    print(*sys.modules)"
)


def test_the_shell_is_answered_without_the_service(home: Path) -> None:
    asked = {"_MILLRACE_COMPLETE": "complete_bash", "COMP_WORDS": "millrace pareto m", "COMP_CWORD": "2"}
    begun = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    seconds = perf_counter() - begun
    offered, _, loaded = done.stdout.partition("\n")
    assert offered == "mlp-decode-64-w4a8", done.stderr
    assert not {"sqlalchemy", "fastapi", "worker.settings", "api", "torch", "optuna", "httpx"} & set(loaded.split())
    assert seconds < 20  # a second at most on a machine that does nothing else
