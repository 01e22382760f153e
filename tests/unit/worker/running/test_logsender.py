"""Which logs are sent while they grow: those of builds that somebody may watch."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import redis
from orders import order

from db.models import Build
from worker.running.logsender import LogSender
from worker.running.runs import Run, Runs


class Logs:
    """What was sent of each build; away, like Redis, while `away` is set."""

    def __init__(self) -> None:
        self.sent: dict[str, bytes] = {}
        self.away = False

    def begin(self, build: str) -> None:
        self.sent[build] = b""

    def append(self, build: str, data: bytes) -> None:
        if self.away:
            raise redis.ConnectionError("refused")
        self.sent[build] = self.sent.get(build, b"") + data


def started(folder: Path, name: str, seconds_ago: float) -> Run:
    """A run that has written a line into its log."""
    (folder / name).write_text("line 0\n")
    run = Run(cast(Build, None), replace(order(name, folder), log=str(folder / name)))
    run.started = time.monotonic() - seconds_ago
    return run


def sender(logs: Logs) -> LogSender:
    return LogSender(cast(Any, logs), Runs())


def test_only_the_log_of_a_build_that_takes_longer_is_sent(tmp_path: Path) -> None:
    logs = Logs()
    waiting, quick, long = (started(tmp_path, name, ago) for name, ago in (("w", 0), ("q", 0.2), ("l", 5)))
    waiting.started = None
    sender(logs).look([waiting, quick, long])
    assert logs.sent == {"l": b"line 0\n"}
    for run in (quick, long):
        with run.log.open("a") as log:
            log.write("line 1\n")
        sender(logs).finish(run)
    assert logs.sent == {"l": b"line 0\nline 1\n"}


def test_what_could_not_be_sent_is_sent_later(tmp_path: Path) -> None:
    logs, run = Logs(), started(tmp_path, "l", 5)
    logs.away = True
    sender(logs).look([run])
    logs.away = False
    sender(logs).look([run])
    assert logs.sent == {"l": b"line 0\n"}


def test_a_log_that_is_not_there_yet_is_no_error(tmp_path: Path) -> None:
    logs, run = Logs(), started(tmp_path, "l", 5)
    run.log.unlink()
    sender(logs).look([run])
    assert logs.sent == {}
