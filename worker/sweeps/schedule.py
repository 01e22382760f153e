"""When a sweep runs next: a cron expression in a time zone, as Debian's cron reads it.

A time that a zone skips (clocks go forward) runs right after the gap; one that it has twice (clocks go back) runs the
first time only. An expression that begins with `*` in minutes or hours follows the elapsed time instead.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from compiler.errors import InvalidInputError

LATE_AFTER = timedelta(minutes=5)
"""A run that starts later than this was missed: the farm was down, and the sweep's misfire policy decides."""
_FIELDS = 5
_EXAMPLE = "write five fields, minute hour day-of-month month day-of-week, like '0 3 * * 1-5'"


def next_time(cron: str, zone: str, after: datetime) -> datetime:
    """The first time later than `after` (aware) at which `cron` fires in `zone`, in UTC.

    Raises InvalidInputError for an expression or zone that is none, and for an expression that never fires.
    """
    if len(cron.split()) != _FIELDS:
        raise InvalidInputError(f"the cron expression {cron!r} has {len(cron.split())} fields; {_EXAMPLE}")
    try:
        times = CronSim(cron, after.astimezone(time_zone(zone)))
        # In the hour that clocks repeat, an iterator over wall-clock times goes back by an hour at first.
        return next(found for found in (time.astimezone(UTC) for time in times) if found > after)
    except CronSimError as error:
        raise InvalidInputError(f"the cron expression {cron!r} has a {_said(error)}; {_EXAMPLE}") from error
    except (RuntimeError, StopIteration) as error:
        raise InvalidInputError(f"the cron expression {cron!r} never fires; {_EXAMPLE}") from error


def time_zone(name: str) -> ZoneInfo:
    """The IANA zone of this name. Raises InvalidInputError."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # unknown; not a name; a folder of zones
        raise _no_zone(name) from error


def _no_zone(name: str) -> InvalidInputError:
    return InvalidInputError(
        f"{name!r} is no time zone; write an IANA name like Europe/Berlin, America/New_York or UTC"
    )


def _said(error: CronSimError) -> str:
    return str(error).lower().replace("bad ", "bad field: ")


def is_late(due: datetime, now: datetime) -> bool:
    """Whether a run that was due then is missed by now."""
    return now - due > LATE_AFTER
