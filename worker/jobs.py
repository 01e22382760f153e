"""Calls the function of a stage and records what a person should know when it fails."""

import traceback
from collections.abc import Callable

from sqlalchemy.exc import OperationalError

from compiler.errors import InvalidInputError, MillraceError, UnsupportedError
from db.errors import LeaseLostError
from db.models import Failure
from worker.errors import ServiceError
from worker.farm import Farm, open_farm
from worker.job import DISK_FULL, LEASE_LOST
from worker.lowering import lower
from worker.outcome import is_disk_full, record_failure
from worker.searching import search
from worker.settings import Settings
from worker.simulating import csim
from worker.stages import Stages, load_stages
from worker.store import disk_full_message

_STAGES: dict[str, Callable[[Farm, Stages, str, int], None]] = {"lower": lower, "search": search, "csim": csim}


def run(stage: str, key: str, token: int) -> int:
    """Run `stage` on row `key` under lease `token`; the process's exit status."""
    settings = Settings()
    farm = open_farm(settings)
    try:
        _STAGES[stage](farm, load_stages(settings.stages), key, token)
    except LeaseLostError as error:
        print(error, flush=True)
        return LEASE_LOST
    except (MillraceError, ServiceError, OSError, OperationalError) as error:
        traceback.print_exc()
        return _record(farm, stage, key, token, error)
    return 0


def _record(farm: Farm, stage: str, key: str, token: int, error: Exception) -> int:
    """Store the failure; DISK_FULL when not even that has room."""
    text = disk_full_message(farm.settings.home) if is_disk_full(error) else str(error)
    failure: Failure = "infeasible" if isinstance(error, InvalidInputError | UnsupportedError) else "tool"
    try:
        record_failure(farm, stage, key, token, failure, text)
    except LeaseLostError:
        return LEASE_LOST
    except OperationalError as second:
        print(second, flush=True)
        return DISK_FULL
    return 0
