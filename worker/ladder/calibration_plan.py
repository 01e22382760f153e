"""When the area model is refitted, and from what: the list of reports is a file in the store, which keys the build."""

import json

from sqlalchemy.orm import Session

from db.models import Exploration
from db.repositories import builds, tool_reports
from worker.farm import Farm
from worker.ladder.build_events import emit_build
from worker.ladder.table import new_build
from worker.ladder.versions import digest

MOST_REPORTS = 500
"""Designs whose reports count, the newest ones."""


def plan_calibration(farm: Farm, session: Session, exploration: Exploration) -> bool:
    """Have the area model refitted if the exploration has brought new reports; False where nothing is to do."""
    if not _has_news(session, exploration):
        return False
    reports = tool_reports.newest(session, exploration.platform, MOST_REPORTS)
    listed = farm.store.put_bytes(json.dumps(reports, sort_keys=True).encode())
    new = new_build(
        "calibrate",
        digest(exploration.platform),
        {"reports": listed},
        farm.settings,
        exploration_id=exploration.id,
        owner=exploration.owner or "",
        priority=exploration.priority,
    )
    build = builds.ensure(session, new)
    if build.state == "queued":
        farm.queue.announce(session, build.queue)
    emit_build(farm, session, build)
    return build.state == "queued"


def _has_news(session: Session, exploration: Exploration) -> bool:
    """Whether csynth or link have ended since the last calibration that the exploration made."""
    made = builds.of_exploration(session, exploration.id, "calibrate")
    since = made[-1].created_at if made else None
    reports = builds.of_exploration(session, exploration.id, "csynth", "link")
    ended = [b.finished_at for b in reports if b.state == "done" and b.adopted_from is None]
    return any(at is not None and (since is None or at > since) for at in ended)
