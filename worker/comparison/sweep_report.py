"""The comparison of two runs of a sweep as the JSON that is stored, sent to webhooks and shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from db.models import SweepRunState
from dse.archive import Entry
from dse.comparison.causes import Change
from dse.comparison.differences import Difference
from dse.comparison.fronts import FrontComparison, compare_fronts
from dse.comparison.regressions import Comparison, Regression, severity
from dse.comparison.results import DesignResults, Results

_SHOWN = 50  # of a list; its length is told
_POINTS = 20


@dataclass(frozen=True, slots=True)
class SlotReport:
    """One exploration of a run; `before` and `comparison` are None where there was nothing to compare with."""

    slot: str
    state: str
    after: Results
    before: Results | None
    comparison: Comparison | None


def run_state(slots: Sequence[SlotReport]) -> SweepRunState:
    """What the run came to, from its explorations.

    `regressed` before `failed`: a failure is a regression where the baseline had none.
    """
    if any(slot.comparison and slot.comparison.regressions for slot in slots):
        return "regressed"
    if any(slot.state == "failed" for slot in slots):
        return "failed"
    if any(slot.state == "cancelled" for slot in slots):
        return "cancelled"
    return "same" if all(slot.comparison and slot.comparison.same for slot in slots) else "changed"


def report(slots: Sequence[SlotReport], tolerance: float, index_before: float) -> dict[str, Any]:
    """The whole comparison. `index_before` is the baseline's index.

    `index` follows the fronts' hypervolume over the runs: 1 at the first one, then multiplied by the mean ratio of each
    comparison (geometric, over the explorations), for volumes of different comparisons do not compare.
    """
    regressions = sorted(_regressions(slots), key=lambda pair: severity(pair[1]))
    improvements = [
        (slot, difference)
        for slot in slots
        if slot.comparison
        for difference in slot.comparison.differences
        if difference.front and difference.worse is False
    ]
    improvements.sort(key=lambda pair: -pair[1].size)
    return {
        "tolerance": tolerance,
        "index": index_before * _ratio(slots),
        "regressions": [_regression(slot, r) for slot, r in regressions[:_SHOWN]],
        "regression_count": len(regressions),
        "improvements": [_difference(slot.slot, d) for slot, d in improvements[:_POINTS]],
        "improvement_count": len(improvements),
        "slots": [_slot(slot) for slot in slots],
    }


def _regressions(slots: Iterable[SlotReport]) -> list[tuple[SlotReport, Regression]]:
    return [(slot, found) for slot in slots if slot.comparison for found in slot.comparison.regressions]


def _ratio(slots: Iterable[SlotReport]) -> float:
    """Mean ratio of the hypervolumes, at the best fidelity at which each exploration has had a front both times."""
    changes = [_changes(slot.comparison)[-1:] for slot in slots if slot.comparison]
    known = [log(1.0 + change) for last in changes for change in last]
    return exp(sum(known) / len(known)) if known else 1.0


def _changes(comparison: Comparison) -> list[float]:
    return [front.change for front in comparison.fronts if front.change is not None and front.after]


def _slot(slot: SlotReport) -> dict[str, Any]:
    compared = slot.comparison
    return {
        "slot": slot.slot,
        "state": slot.state,
        "exploration": slot.after.id,
        "baseline_exploration": slot.before.id if slot.before else None,
        "error": slot.after.failed,
        "result": _result(slot),
        "objectives": list(slot.after.objectives),
        "fronts": [_front(front, slot) for front in _fronts(slot)],
        "changes": [_change(c) for c in compared.changes] if compared else [],
        "differences": [_difference(None, d) for d in compared.differences[:_POINTS]] if compared else [],
        "difference_count": len(compared.differences) if compared else 0,
    }


def _result(slot: SlotReport) -> str:
    if slot.state in ("failed", "cancelled"):
        return slot.state
    if slot.comparison is None:
        return "new"
    if slot.comparison.regressions:
        return "regressed"
    return "same" if slot.comparison.same else "changed"


def _fronts(slot: SlotReport) -> Sequence[FrontComparison]:
    """Of an exploration without a partner, everything is new."""
    if slot.comparison is not None:
        return slot.comparison.fronts
    return [compare_fronts(fidelity, (), entries) for fidelity, entries in slot.after.fronts.items()]


def _front(front: FrontComparison, slot: SlotReport) -> dict[str, Any]:
    new = slot.after.designs
    old: Mapping[str, DesignResults] = slot.before.designs if slot.before else {}
    return {
        "fidelity": front.fidelity,
        "before": front.before,
        "after": front.after,
        "hypervolume_before": front.volume_before,
        "hypervolume_after": front.volume_after,
        "change": front.change,
        "new": [_point(e, new) for e in front.new[:_POINTS]],
        "new_count": len(front.new),
        "lost": [_point(e, old) for e in front.lost[:_POINTS]],
        "lost_count": len(front.lost),
        "moved": [
            {**_named(m.key, new), "before": list(m.before), "after": list(m.after)} for m in front.moved[:_POINTS]
        ],
        "moved_count": len(front.moved),
    }


def _point(entry: Entry, known: Mapping[str, DesignResults]) -> dict[str, Any]:
    return {**_named(entry.key, known), "objectives": list(entry.objectives)}


def _named(key: str, known: Mapping[str, DesignResults]) -> dict[str, Any]:
    design = known[key]
    return {"id": design.id, "number": design.number}


def _regression(slot: SlotReport, found: Regression) -> dict[str, Any]:
    return {
        "slot": slot.slot,
        "exploration": slot.after.id,
        "kind": found.kind,
        "text": found.text,
        "design": None if found.design is None else {"id": found.design.id, "number": found.design.number},
        "stage": found.stage,
        "metric": found.metric,
        "fidelity": found.fidelity,
        "unit": found.unit,
        "before": found.before,
        "after": found.after,
        "change": found.change,
        "causes": [_change(c) for c in found.causes],
    }


def _difference(slot: str | None, found: Difference) -> dict[str, Any]:
    return {
        "slot": slot,
        "design": {"id": found.design.id, "number": found.design.number},
        "front": found.front,
        "metric": found.metric,
        "fidelity": found.fidelity,
        "unit": found.unit,
        "before": found.before,
        "after": found.after,
        "change": found.change,
        "worse": found.worse,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "before": change.before,
        "after": change.after,
        "stages": sorted(change.stages),
    }
