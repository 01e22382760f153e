"""`millrace build`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from typer.testing import CliRunner
from wire_replies import reply

from cli.build_view import duration
from cli.commands import build as command
from cli.main import app
from millrace.encoding import to_json
from millrace.events import Event
from millrace.wire import Attempt, Build, Clone

run = CliRunner().invoke


def build(**values: Any) -> Build:
    return reply(Build, **{"id": "bld_1", "stage": "csynth", "state": "queued", "design_id": "dsg_1"} | values)


class _Service:
    """Answers with what it was given, and remembers what it was asked."""

    def __init__(self, *found: Build) -> None:
        self.found = list(found)
        self.asked: list[Any] = []

    def builds(self, limit: int, **filters: str) -> list[Build]:
        self.asked.append((limit, filters))
        return self.found

    def build(self, _build: str) -> Build:
        return self.found[0]

    def build_log(self, build: str, attempt: int | None = None) -> str:
        return f"log of {build} {attempt}\n"

    def log_events(self, _build: str) -> Iterator[Event]:
        yield from (Event("4", "log", "one\n"), Event("8", "log", "two\n"))

    def retry_build(self, build: str) -> Build:
        self.asked.append(("retry", build))
        return self.found[0]

    def cancel_build(self, build: str) -> Build:
        self.asked.append(("cancel", build))
        return self.found[0]

    def clone_build(self, build: str, changes: Clone) -> Build:
        self.asked.append((build, to_json(changes)))
        return self.found[0]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch):
    def answer(*found: Build) -> _Service:
        service = _Service(*found)

        @contextmanager
        def opened(_url: str | None) -> Iterator[_Service]:
            yield service

        monkeypatch.setattr(command, "look", opened)
        monkeypatch.setattr(command, "attach", opened)
        return service

    return answer


def test_list_filters_and_says_why_builds_wait(serve: Any) -> None:
    service = serve(
        build(waiting="waits for licence vitis_hls: 2 of 2 tokens in use"),
        build(id="bld_0", state="failed", failure="tool", error="it crashed\nat line 3", node="lab1"),
    )
    result = run(app, ["build", "list", "--state", "queued", "--stage", "csynth", "--limit", "5"])
    assert service.asked == [(5, {"state": "queued", "stage": "csynth"})]
    assert "2 of 2 tokens in use" in " ".join(result.output.split())
    assert "failed (tool)" in result.output
    assert "it crashed" in result.output
    assert "line 3" not in result.output


def test_list_as_json(serve: Any) -> None:
    serve(build())
    assert json.loads(run(app, ["build", "list", "--json"]).output)[0]["id"] == "bld_1"


def test_an_unknown_state_is_wrong_use(serve: Any) -> None:
    serve()
    assert run(app, ["build", "list", "--state", "odd"]).exit_code == 2


def test_show(serve: Any) -> None:
    history = [reply(Attempt, attempt=1, failure="licence", error="no licence", node="lab1")]
    options = {"vitis": "2023.2"}
    serve(build(state="running", node="lab1", attempt=2, history=history, options=options, log_url="/x", live=True))
    words = " ".join(run(app, ["build", "show", "bld_1"]).output.split())
    assert "csynth of dsg_1: running" in words
    assert "options vitis 2023.2" in words
    assert "1 licence lab1 no licence" in words
    assert "millrace build log bld_1 --follow" in words


def test_log(serve: Any) -> None:
    serve(build())
    assert run(app, ["build", "log", "bld_1", "--attempt", "2"]).output == "log of bld_1 2\n"
    assert json.loads(run(app, ["build", "log", "bld_1", "--json"]).output)["log"] == "log of bld_1 None\n"
    refused = run(app, ["build", "log", "bld_1", "--follow", "--json"])
    assert refused.exit_code != 0


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        ({"state": "done"}, 0),
        ({"state": "done", "verdict": {"passed": True}}, 0),
        ({"state": "done", "verdict": {"passed": False}}, 1),
        ({"state": "failed", "failure": "infeasible", "error": "timing"}, 1),
        ({"state": "failed", "failure": "tool", "error": "crash"}, 3),
        ({"state": "failed", "failure": "timeout", "error": "late"}, 3),
        ({"state": "cancelled"}, 1),
    ],
)
def test_following_a_log_ends_with_the_builds_exit_code(serve: Any, ended: dict[str, Any], code: int) -> None:
    serve(build(**ended))
    result = run(app, ["build", "log", "bld_1", "--follow"])
    assert (result.exit_code, result.stdout) == (code, "one\ntwo\n")


def test_retry_and_cancel(serve: Any) -> None:
    service = serve(build(waiting="no node offers csynth@2023.2"))
    assert "no node offers" in run(app, ["build", "retry", "bld_1"]).output
    run(app, ["build", "cancel", "bld_1"])
    assert service.asked == [("retry", "bld_1"), ("cancel", "bld_1")]


def test_clone(serve: Any) -> None:
    service = serve(build())
    run(app, ["build", "clone", "bld_1", "--vitis", "2024.1", "--clock", "200"])
    assert service.asked == [("bld_1", {"vitis": "2024.1", "clock_mhz": 200.0})]
    assert run(app, ["build", "clone", "bld_1"]).exit_code != 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.04, "0.0 s"),
        (9.96, "10.0 s"),
        (42, "42 s"),
        (100, "2 min"),
        (3600 * 3 + 1200, "3 h 20 min"),
        (3600 * 52, "2 d 4 h"),
    ],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text
