import json
import logging
from collections.abc import Generator

import pytest

from worker.settings import Settings
from worker.telemetry import configure_logging, fields


@pytest.fixture(autouse=True)
def root_logger() -> Generator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before


def _log(log_format: str) -> None:
    configure_logging(Settings(node="lab7", log_format=log_format))  # pyright: ignore[reportArgumentType]
    log = logging.getLogger("worker.running.runner")
    log.info("up")
    with fields(build="bld1", exploration="exp1", stage="csim", attempt=2):
        log.warning("lost %s", "it")
    log.info("on")


def test_json_has_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    _log("json")
    first, second, third = map(json.loads, capsys.readouterr().err.splitlines())
    about = {"build": "bld1", "exploration": "exp1", "stage": "csim", "attempt": 2, "node": "lab7"}
    assert {k: second[k] for k in about} == about
    assert (second["level"], second["logger"], second["message"]) == ("WARNING", "worker.running.runner", "lost it")
    assert second["time"]
    for line in (first, third):
        assert (line["build"], line["node"]) == (None, "lab7")


def test_text_says_which_build(capsys: pytest.CaptureFixture[str]) -> None:
    _log("text")
    first, second, _ = capsys.readouterr().err.splitlines()
    assert first.endswith("INFO worker.running.runner: up")
    assert second.endswith("WARNING worker.running.runner: csim bld1: lost it")
