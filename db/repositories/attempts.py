"""The failed attempts of a build."""

from collections import Counter
from datetime import datetime

from db.models import Build, Failure
from db.types import utcnow


def remember(build: Build, failure: Failure, error: str) -> None:
    """Add the attempt that has just failed to the build's history."""
    entry = {"attempt": build.attempt, "failure": failure, "error": error, "node": build.node}
    entry |= {"log_digest": build.log_digest, "started_at": _iso(build.started_at)}
    build.history = [*build.history, {**entry, "finished_at": _iso(build.finished_at or utcnow())}]


def failures(build: Build) -> Counter[Failure]:
    """How often each failure has ended an attempt since a person or a flow last queued the build."""
    ended = build.attempt - (build.state == "running")
    return Counter(entry["failure"] for entry in build.history[-ended:]) if ended else Counter()


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
