"""Calls the function of a stage and records what a person should know when it fails."""

import traceback
from collections.abc import Callable
from contextlib import suppress

from sqlalchemy.exc import OperationalError

from compiler.errors import InvalidInputError, MillraceError, UnsupportedError
from db.errors import LeaseLostError
from db.models import Failure
from worker.ballast import drop_ballast
from worker.errors import ServiceError
from worker.farm import Farm, open_farm
from worker.job import DISK_FULL, LEASE_LOST
from worker.outcome import is_disk_full, record_failure
from worker.settings import Settings
from worker.stages import Stages, load_stages
from worker.store import disk_full_message


def run(stage: str, key: str, token: int) -> int:
    """Run `stage` on row `key` under lease `token`; the process's exit status."""
    settings = Settings()
    farm = open_farm(settings)
    try:
        _function(stage)(farm, load_stages(settings.stages), key, token)
    except LeaseLostError as error:
        print(error, flush=True)
        return LEASE_LOST
    except (MillraceError, ServiceError, OSError, OperationalError) as error:
        return _record(farm, stage, key, token, error)
    return 0


def _function(stage: str) -> Callable[[Farm, Stages, str, int], None]:
    # Each job loads what its own stage needs: the sampler alone takes half a second.
    if stage == "search":
        from worker.searching import search  # noqa: PLC0415

        return search
    if stage == "simulate":
        from worker.simulating import simulate  # noqa: PLC0415

        return simulate
    if stage == "csim":
        from worker.verifying import csim  # noqa: PLC0415

        return csim
    from worker.lowering import lower  # noqa: PLC0415

    return lower


def _record(farm: Farm, stage: str, key: str, token: int, error: Exception) -> int:
    """Store the failure; DISK_FULL when not even that has room."""
    text = str(error)
    if is_disk_full(error):
        text = disk_full_message(farm.settings.home)
        drop_ballast(farm.settings)
    with suppress(OSError):  # the log may be on the full disk
        traceback.print_exception(error)
    failure: Failure = "infeasible" if isinstance(error, InvalidInputError | UnsupportedError) else "tool"
    try:
        record_failure(farm, stage, key, token, failure, text)
    except LeaseLostError:
        return LEASE_LOST
    except OperationalError:
        return DISK_FULL
    return 0
