"""The end of a sweep's run: each of its explorations against its partner in the baseline.

The baseline is the last good run that differed from the one before: a run that is the same leaves it where it is, so
that losses below the tolerance can not add up unseen. What changed is looked for since the last good run, and since
the baseline where that says nothing.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from db.models import Exploration, SweepRun, SweepRunState
from db.repositories import comparisons, sweeps
from dse.comparison.causes import changes
from dse.comparison.regressions import compare
from dse.comparison.results import Results
from worker.comparison.slots import partners, slot_name, slot_of
from worker.comparison.sweep_report import SlotReport, report, run_state
from worker.comparison.sweep_results import all_tools, results_of

DEFAULT_TOLERANCE = 0.02

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a run came to, ready to be stored."""

    state: SweepRunState
    comparison: dict[str, Any]
    tool_versions: dict[str, str]
    error: str | None


def baseline_of(good: SweepRun) -> str:
    """The run that stands for a good one: itself where it differed, else the one that it was the same as."""
    return good.baseline_id if good.state == "same" and good.baseline_id is not None else good.id


def needed_because(session: Session, run_id: str) -> str:
    """Why the explorations of a run must stay; empty where nothing will be compared with them."""
    run = sweeps.get_run(session, run_id)
    name = sweeps.get(session, run.sweep_id).name
    if run.state == "running":
        return f"run {run.id} of the sweep {name!r} is under way; cancel that first"
    busy, good = sweeps.running(session, run.sweep_id), sweeps.last_good(session, run.sweep_id)
    if busy is not None and busy.baseline_id == run.id:
        return f"run {busy.id} of the sweep {name!r} is being compared with it; wait for its end"
    if good is not None and baseline_of(good) == run.id:
        return (
            f"its run {run.id} is the baseline of the sweep {name!r}; have another good run, accept one, or remove the "
            "sweep first"
        )
    return ""


def stays(session: Session, run_id: str) -> bool:
    """Whether a run is one that others are compared with, or may be: nothing of it expires."""
    good = sweeps.last_good(session, sweeps.get_run(session, run_id).sweep_id)
    return (good is not None and good.id == run_id) or bool(needed_because(session, run_id))


def conclude(session: Session, run: SweepRun) -> Conclusion:
    """Compare a run whose explorations have all ended."""
    sweep = sweeps.get(session, run.sweep_id)
    tolerance = float(sweep.options.get("tolerance", DEFAULT_TOLERANCE))
    index = _index(session, run)
    slots, found, error = _compared_or_error(session, run, tolerance, index)
    found["builds"] = _counts(session, run)
    if sweep.webhook is not None:
        found["webhook"] = {"state": "waiting", "attempts": 0, "status": None, "error": None}
    state = "failed" if error else run_state(slots)
    return Conclusion(state, found, all_tools(slot.after for slot in slots), error or _error(slots))


def _compared_or_error(
    session: Session, run: SweepRun, tolerance: float, index: float
) -> tuple[list[SlotReport], dict[str, Any], str | None]:
    """Each exploration's comparison and the report of them all; none, and why, where they can not be made."""
    try:
        slots = _slots(session, run, tolerance)
        return slots, report(slots, tolerance, index), None
    except SQLAlchemyError:
        raise  # the next tick tries again
    except Exception as error:  # noqa: BLE001 - no run may stay open for ever because of what it came to
        _log.exception("run %s of a sweep can not be compared", run.id)
        return [], report([], tolerance, index), f"its results can not be compared: {error!r}"


def _slots(session: Session, run: SweepRun, tolerance: float) -> list[SlotReport]:
    now = comparisons.explorations(session, run.id)
    baseline = _partners(session, now, run.baseline_id)
    good = sweeps.last_good(session, run.sweep_id)
    last = baseline if good is None or good.id == run.baseline_id else _partners(session, now, good.id)
    names = [slot_of(e) for e in now]
    return [
        _compared(session, e, baseline.get(e.id), last.get(e.id), slot_name(slot_of(e), names), tolerance) for e in now
    ]


def _partners(session: Session, now: Sequence[Exploration], run_id: str | None) -> Mapping[str, Exploration]:
    """By id; one that was cancelled is nobody's partner, for its results are those of half a search."""
    if run_id is None:
        return {}
    return partners(now, [e for e in comparisons.explorations(session, run_id) if e.state != "cancelled"])


def _compared(
    session: Session,
    exploration: Exploration,
    partner: Exploration | None,
    last: Exploration | None,
    name: str,
    tolerance: float,
) -> SlotReport:
    if partner is None or exploration.state == "cancelled":
        after = results_of(session, exploration)
        return SlotReport(name, exploration.state, after, None, None)
    # Either side's designs are looked for on the other, where they may be off the front and not built.
    after = results_of(session, exploration, results_of(session, partner).designs)
    before = results_of(session, partner, after.designs)
    if last is not None and last.id != partner.id:
        before = _since(before, results_of(session, last), after)
    return SlotReport(name, exploration.state, after, before, compare(before, after, tolerance))


def _since(before: Results, last: Results, after: Results) -> Results:
    """The baseline, with the circumstances of the last good run where these have changed since."""
    changed = changes(last.circumstances, after.circumstances)
    return replace(before, circumstances=last.circumstances) if changed else before


def _index(session: Session, run: SweepRun) -> float:
    if run.baseline_id is None:
        return 1.0
    return float((sweeps.get_run(session, run.baseline_id).comparison or {}).get("index", 1.0))


def _counts(session: Session, run: SweepRun) -> dict[str, int]:
    """Builds that were run for this run, and those whose results came from the cache."""
    ran, cached = comparisons.build_counts(session, run)
    return {"ran": ran, "cached": cached}


def _error(slots: Sequence[SlotReport]) -> str | None:
    failed = [slot for slot in slots if slot.state == "failed"]
    if not failed:
        return None
    return f"{len(failed)} of {len(slots)} explorations failed; {failed[0].slot}: {failed[0].after.failed}"
