"""What a stage function returns: everything there is to record of one run of a build."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from compiler.metrics import Metric
from db.models import Failure, Stage
from worker.errors import ServiceError
from worker.farm import Farm
from worker.limits.explaining import explain
from worker.limits.group import Exceeded
from worker.store.artifacts import StoredFile

Effect = Callable[[Farm, Session], None]
"""More rows to write, in the transaction that records the outcome."""


def _no_effect(_farm: Farm, _session: Session) -> None:
    """Most stages write nothing else."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a stage. Nothing of it is stored yet, but the bytes of `files`, which the store has.

    Without `failure` the build is done; with one, `error` says to a person what happened and what to do. `metrics` and
    `files` are recorded either way: they help to find out why.
    """

    verdict: Mapping[str, Any] | None
    tool_versions: Mapping[str, str]
    metrics: tuple[Metric, ...] = ()
    files: tuple[StoredFile, ...] = ()
    failure: Failure | None = None
    error: str | None = None
    effect: Effect = field(default=_no_effect, compare=False)


def limited(stage: Stage, tool_versions: Mapping[str, str], reached: Exceeded) -> Outcome:
    """That of a stage which a limit has ended."""
    return Outcome(None, tool_versions, failure="limit", error=explain(stage, reached))


class StageError(ServiceError):
    """A stage could not produce a result; `failure` decides whether it is tried again."""

    def __init__(self, failure: Failure, text: str) -> None:
        super().__init__(text)
        self.failure: Failure = failure
