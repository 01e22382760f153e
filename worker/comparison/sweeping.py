"""The end of a sweep's run: looked for whenever one of its explorations has ended, and by the tick."""

import logging
from functools import partial

from sqlalchemy.orm import Session

from db.engine import after_commit
from db.models import Exploration
from db.repositories import comparisons, sweeps
from worker.comparison.comparing import conclude
from worker.farm import Farm

_log = logging.getLogger(__name__)


def sweep_ended(farm: Farm, session: Session, exploration: Exploration) -> None:
    """Have the run of an exploration that has just ended looked at once that is committed."""
    if exploration.sweep_run_id is not None:
        after_commit(session, partial(finish_quietly, farm, exploration.sweep_run_id))


def finish_quietly(farm: Farm, run_id: str) -> None:
    """Like `finish`; what goes wrong is logged, and the next tick looks at the run again."""
    # What has just been committed is done whatever becomes of the run, and other runs do not wait for this one.
    try:
        finish(farm, run_id)
    except Exception:  # noqa: BLE001
        _log.exception("run %s of a sweep could not be ended; the next tick tries again", run_id)


def finish(farm: Farm, run_id: str) -> bool:
    """Compare the run with its baseline and end it, if all its explorations have ended; whether that was so.

    May be called by anybody at any time; reading takes no lock, and who is second writes nothing.
    """
    with farm.database.read() as session:
        total, ended = comparisons.progress(session, [run_id]).get(run_id, (0, 0))
        run = sweeps.get_run(session, run_id)
        if run.state != "running" or ended < total:
            return False
        found = conclude(session, run)
    with farm.database.write() as session:
        run = sweeps.lock_run(session, run_id)
        if run.state != "running":
            return False
        sweeps.finish(session, run, found.state, found.comparison, found.tool_versions, found.error)
    _log.info("run %s of sweep %s: %s", run_id, run.sweep_id, found.state)
    return True
