"""Networks that this node has imported, kept so that the next build need not import them again, until nobody does.

What is in use was used just now: a folder's time is that of its last use, and a build ends within a day.
"""

import logging
import time
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from compiler.frontend.cached import drop_unused
from db.repositories import catalog
from db.types import utcnow
from worker.farm import Farm
from worker.settings import Settings

UNNAMED, NAMED = timedelta(days=2), timedelta(days=30)
"""How long after its last use one stays that no workload of the farm has, and one that a workload has."""
_LOOK_SECONDS = 3600.0

_log = logging.getLogger(__name__)


class Networks:
    """Of one worker, which looks once an hour."""

    def __init__(self, farm: Farm) -> None:
        self._farm = farm
        self._looks_at = 0.0

    def tick(self) -> None:
        """Remove what has not been used for long, where it is time to look."""
        if time.monotonic() < self._looks_at:
            return
        self._looks_at = time.monotonic() + _LOOK_SECONDS
        with self._farm.database.read() as session:
            named = catalog.bundle_keys(session)
        if removed := tidy(self._farm.settings, named):
            _log.info("%d imported networks are removed that nobody has used for long", removed)


def tidy(settings: Settings, named: Collection[str], now: datetime | None = None) -> int:
    """Remove what has not been used for long; how many. `named` are the bundles of the farm's workloads."""
    moment = (now or utcnow()).timestamp()
    bundles = ((path, NAMED if path.name in named else UNNAMED) for path in _folders(settings.bundle_dir))
    models = ((path, UNNAMED) for path in _folders(settings.model_dir))
    return sum(
        drop_unused(path.parent, path.name, moment - stays.total_seconds()) for path, stays in (*bundles, *models)
    )


def _folders(cache: Path) -> Iterator[Path]:
    for path in cache.iterdir() if cache.is_dir() else ():
        if path.is_dir() and not path.name.startswith("."):
            yield path
