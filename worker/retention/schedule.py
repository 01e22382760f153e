"""When retention runs: once a day on the whole farm, beside whatever the worker does."""

import logging
import threading
import time

from db.repositories import leaders
from worker.farm import Farm
from worker.processes import identity
from worker.program import program
from worker.retention.retaining import retain

TASK = "retention"
_DAY_SECONDS = 86_400.0
_LOOK_SECONDS = 600.0

_log = logging.getLogger(__name__)


class Schedule:
    """Of one worker; all of a farm take turns."""

    def __init__(self, farm: Farm) -> None:
        self._farm = farm
        self._looks_at = 0.0

    def tick(self) -> threading.Thread | None:
        """Begin where nobody has for a day; the thread that does it. The database is asked every ten minutes."""
        if time.monotonic() < self._looks_at:
            return None
        self._looks_at = time.monotonic() + _LOOK_SECONDS
        with self._farm.database.write() as session:
            if not leaders.take_turn(session, TASK, identity(), _DAY_SECONDS):
                return None
        thread = threading.Thread(target=self._run, daemon=True, name=TASK)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            found = retain(self._farm, dry_run=False)
        except Exception:  # noqa: BLE001 - of all kinds: tomorrow it goes on where it was
            _log.exception("retention was not finished; it goes on tomorrow, or with `%s farm retain`", program())
        else:
            _log.info("retention: %s", found.to_json())
