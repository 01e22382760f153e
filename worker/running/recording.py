"""Records how a run of a build ended: everything in one transaction, or nothing when the lease is no longer held."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from db.models import DESIGN_STAGES, Build, Failure
from db.repositories import artifacts, attempts, builds, designs, explorations, leases, relations
from db.repositories.artifacts import NewArtifact
from db.types import utcnow
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.ladder.flow import ended
from worker.node.ballast import drop_ballast
from worker.node.disk import is_disk_full
from worker.running.orders import Order
from worker.stages.metric_rows import new_metrics
from worker.stages.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a build may fail in one way before it has failed for good, and how long it waits in between: `first_s`
    seconds, twice as long each time, at most `longest_s`.
    """

    attempts: int
    first_s: float = 0.0
    longest_s: float = 600.0

    def wait_s(self, failures: int) -> float:
        """Seconds to wait after so many failures."""
        return min(self.longest_s, self.first_s * 2 ** (failures - 1))


RETRIES: Mapping[Failure, Retry] = {
    "infeasible": Retry(1),
    "tool": Retry(2),
    "licence": Retry(20, first_s=30),
    "node": Retry(4, first_s=1),
    "timeout": Retry(2),
    "limit": Retry(1),
}


def record(farm: Farm, order: Order, outcome: Outcome, log_digest: str | None) -> None:
    """Store the outcome of the run that `order` stands for, and all that follows from it.

    Waits for a database that is away, as long as the lease lasts. Raises LeaseLostError when the run is not the build's
    any more, which is also the case when the database went away just after it had stored this very outcome.
    """

    def write(session: Session) -> None:
        _record(farm, session, order, outcome, log_digest)

    try:
        farm.database.retry(write, farm.settings.lease_seconds)
    except OperationalError as error:
        if not is_disk_full(error):
            raise
        drop_ballast(farm.settings)
        farm.database.retry(write, farm.settings.lease_seconds)


def _record(farm: Farm, session: Session, order: Order, outcome: Outcome, log_digest: str | None) -> None:
    explorations.lock_of(session, order.build_id)  # before the build: who cancels an exploration locks in this order
    build = leases.fence(session, order.build_id, order.token)
    _record_results(session, build, outcome)
    waits = _retry_after(build, outcome)
    if waits is not None:
        assert outcome.failure is not None
        at = utcnow() + timedelta(seconds=waits)
        builds.retry_later(session, build, outcome.failure, str(outcome.error), at, log_digest)
        outcome.effect(farm, session)
        _tried_later(farm, session, build, waits)
        return
    outcome.effect(farm, session)  # before the end: waiting builds with the same key then adopt all of it
    changed = _end(session, build, outcome, log_digest)
    ended(farm, session, build, changed, more_run=order.more)


def _tried_later(farm: Farm, session: Session, build: Build, waits: float) -> None:
    if build.state == "cancelled":  # by the effect: what it reads is lost, and can not be made again
        ended(farm, session, build, [b for b in relations.behind(session, build.id) if b.state == "cancelled"])
        return
    emit_build(farm, session, build)
    if not waits:
        farm.queue.announce(session, build.queue)


def _record_results(session: Session, build: Build, outcome: Outcome) -> None:
    files = [NewArtifact(f.path, f.digest, f.size, f.media_type) for f in outcome.files]
    artifacts.replace(session, build.id, build.design_id, files)
    found = outcome.metrics or outcome.failure is None  # a failure that measured nothing leaves what is known
    if found and build.design_id is not None and build.stage in DESIGN_STAGES:
        designs.record_build(session, build.design_id, build.id, build.stage, new_metrics(outcome.metrics))


def _end(session: Session, build: Build, outcome: Outcome, log_digest: str | None) -> list[Build]:
    """The builds that changed with it."""
    tools = dict(outcome.tool_versions)
    if outcome.failure is None:
        verdict = None if outcome.verdict is None else dict(outcome.verdict)
        return builds.finish(session, build, verdict, tools, log_digest)
    return builds.fail(session, build, outcome.failure, str(outcome.error), log_digest)


def _retry_after(build: Build, outcome: Outcome) -> float | None:
    """Seconds until the build is to be tried again; None when it has ended."""
    if outcome.failure is None:
        return None
    retry, failures = RETRIES[outcome.failure], attempts.failures(build)[outcome.failure] + 1
    return retry.wait_s(failures) if failures < retry.attempts else None
