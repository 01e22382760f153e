"""What got worse between two runs of one exploration, each with the design, the metric and the likely cause.

A regression is one of these, worst first:
- the exploration failed, and did not before;
- a design of the front that could be built can not be any more, or passed a stage and fails it now;
- a metric of a design of the front is worse by more than the tolerance, at the same fidelity;
- a front lost more hypervolume than the tolerance.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from dse.archive import Entry
from dse.comparison.causes import Change, cause_text, changes, likely
from dse.comparison.differences import Difference, differences
from dse.comparison.fronts import FrontComparison, compare_fronts
from dse.comparison.results import DesignResults, Results

Kind = Literal["exploration", "design", "stage", "metric", "hypervolume"]
_STAGE = {"estimate": "search"}  # of a front's fidelity; the others are called like theirs
_ORDER: tuple[Kind, ...] = ("exploration", "design", "stage", "metric", "hypervolume")


@dataclass(frozen=True, slots=True)
class Regression:
    """`text` is the whole sentence; `causes` what changed that can have had a part in it. Values are None where there
    is nothing to count; `change` is relative and signed.
    """

    kind: Kind
    text: str
    causes: tuple[Change, ...]
    design: DesignResults | None = None
    stage: str | None = None
    metric: str | None = None
    fidelity: str | None = None
    unit: str | None = None
    before: float | None = None
    after: float | None = None
    change: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One exploration in two runs. `more`: the later one knows what the earlier one can not be compared for."""

    fronts: tuple[FrontComparison, ...]
    differences: tuple[Difference, ...]
    regressions: tuple[Regression, ...]
    changes: tuple[Change, ...]
    more: bool = False

    @property
    def same(self) -> bool:
        """Within the tolerance, whatever changed around it; then the earlier one can stand for the later."""
        differ = self.regressions or self.differences or self.more
        return not differ and all(front.same for front in self.fronts)


def compare(before: Results, after: Results, tolerance: float) -> Comparison:
    """Compare two runs of an exploration; relative differences up to `tolerance` count as none.

    Raises ValueError for a front with objectives that are negative.
    """
    found = changes(before.circumstances, after.circumstances)
    same = before.objectives == after.objectives
    old = before.fronts if same else dict[str, tuple[Entry, ...]]()  # others are not to be compared with
    fronts = tuple(
        compare_fronts(f, old.get(f, ()), after.fronts.get(f, ()), tolerance)
        for f in dict.fromkeys((*old, *after.fronts))
        if f in after.fronts or _has_lost(after, f)
    )
    changed = differences(before, after, tolerance)
    if after.failed is not None:
        regressions = [_exploration(before, after.failed, found)] if before.failed is None else []
    else:
        regressions = [
            *_designs(before, after, found),
            *(_metric(difference, found) for difference in changed if difference.front and difference.worse),
            *_volumes(fronts, after, before, tolerance, found),
        ]
    ranked = tuple(sorted(regressions, key=severity))
    return Comparison(fronts, tuple(changed), ranked, found, after.knows_more_than(before))


def _has_lost(after: Results, fidelity: str) -> bool:
    """Whether the front that is not there should be: its stage was run, and gave nothing."""
    return after.failed is None and _STAGE.get(fidelity, fidelity) in after.circumstances.tools


def severity(regression: Regression) -> tuple[int, float]:
    """Sorts the worst first."""
    change = float("inf") if regression.change is None else round(abs(regression.change), 6)
    return (_ORDER.index(regression.kind), -change)


def design_name(design: DesignResults, front: bool) -> str:
    return f"design {design.number}" + (" (front)" if front else "")


def percent(change: float) -> str:
    """A relative change with as many digits as it takes to see it."""
    share = 100 * change
    return f"{share:+.0f} %" if abs(share) >= 10 else f"{share:+.2g} %"


def _value(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def _sentence(what: str, causes: Iterable[Change]) -> str:
    return f"{what}; {cause_text(causes)}"


def _exploration(before: Results, error: str, found: Sequence[Change]) -> Regression:
    causes = likely(found, None)
    text = _sentence(f"the exploration failed ({error}) and did not in {before.id}", causes)
    return Regression("exploration", text, causes)


def _designs(before: Results, after: Results, found: Sequence[Change]) -> Iterator[Regression]:
    for key, design in after.designs.items():
        was = before.designs.get(key)
        if was is None:
            continue
        name = design_name(design, was.on_front or design.on_front)
        if was.on_front and design.infeasible is not None:
            causes = likely(found, "search")
            text = _sentence(f"{name} could be built and can not now: {design.infeasible}", causes)
            yield Regression("design", text, causes, design)
        yield from _stages(was, design, name, found)


def _stages(was: DesignResults, design: DesignResults, name: str, found: Sequence[Change]) -> Iterator[Regression]:
    for stage, error in design.failures.items():
        if error is not None and was.failures.get(stage, "not run") is None:
            causes = likely(found, stage)
            text = _sentence(f"{name} passed {stage} and fails now: {error}", causes)
            yield Regression("stage", text, causes, design, stage)


def _metric(difference: Difference, found: Sequence[Change]) -> Regression:
    d, causes = difference, likely(found, difference.stage)
    by = "" if d.change is None else f" ({percent(d.change)})"
    what = (
        f"{d.metric} of {design_name(d.design, d.front)} at {d.fidelity} "
        f"{_value(d.before)} -> {_value(d.after)} {d.unit}{by}"
    )
    return Regression(
        kind="metric",
        text=_sentence(what, causes),
        causes=causes,
        design=d.design,
        stage=d.stage,
        metric=d.metric,
        fidelity=d.fidelity,
        unit=d.unit,
        before=d.before,
        after=d.after,
        change=d.change,
    )


def _volumes(
    fronts: Iterable[FrontComparison], after: Results, before: Results, tolerance: float, found: Sequence[Change]
) -> Iterator[Regression]:
    for front in fronts:
        if front.change is None or front.change >= -tolerance:
            continue
        causes = likely(found, None)
        what = (
            f"hypervolume of the front at {front.fidelity} {front.volume_before:.4g} -> {front.volume_after:.4g} "
            f"({percent(front.change)}): {_reason(front, before, after)}"
        )
        gone = next((before.designs.get(entry.key) for entry in front.lost), None)
        moved = next((after.designs.get(move.key) for move in front.moved), None)
        yield Regression(
            kind="hypervolume",
            text=_sentence(what, causes),
            causes=causes,
            design=moved or gone,
            metric="hypervolume",
            fidelity=front.fidelity,
            before=front.volume_before,
            after=front.volume_after,
            change=front.change,
        )


def _reason(front: FrontComparison, before: Results, after: Results) -> str:
    lost, moved = _named((e.key for e in front.lost), before), _named((m.key for m in front.moved), after)
    counts = ((len(front.lost), "lost", lost), (len(front.new), "new", ""), (len(front.moved), "moved", moved))
    return ", ".join(f"{count} {word}{names}" for count, word, names in counts if count)


def _named(keys: Iterable[str], results: Results) -> str:
    """The first few of the designs by number."""
    numbers = [str(results.designs[key].number) for key in islice(keys, 4) if key in results.designs]
    return f" (design {', '.join(numbers[:3])}{' ...' if len(numbers) > 3 else ''})" if numbers else ""
