"""The rungs above verification: which designs are synthesised, simulated as RTL, linked and measured, within a budget.

A budget counts builds: those that were begun, those under way and those adopted from elsewhere. A build that was never
begun, since what it waited for failed, leaves its place to the next design.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy.orm import Session

from compiler.metrics import Fidelity
from db.errors import ConflictError
from db.models import DESIGN_STAGES, Build, Design, DesignStage, Exploration
from db.repositories import builds, designs
from dse.objectives import LATENCY
from dse.promote import recommended
from dse.rungs import Synthesised, by_front, choose, to_link, to_synthesise
from worker.farm import Farm
from worker.fronts import estimated_front, rated
from worker.ladder.calibration_plan import plan_calibration
from worker.ladder.chains import Chains, chains_of, is_wrong
from worker.ladder.platforms import platform_of
from worker.ladder.promoting import tell_promoted
from worker.ladder.table import SIMULATED

RUNGS: tuple[tuple[DesignStage, ...], ...] = (("csynth",), ("cosim", "link"), ("measure",))
"""What is chosen at once: each rung waits until the one below has ended, so that it knows the best."""


_LINKED = (LATENCY, Fidelity.LINK)


def budget_of(exploration: Exploration, stage: DesignStage) -> int:
    """How many builds of the stage the exploration may have."""
    wanted: dict[str, int] = exploration.options.get("builds") or {}
    return wanted.get(stage) or 0


def wants_tools(exploration: Exploration) -> bool:
    """Whether anything is to be done above verification."""
    return any(budget_of(exploration, stage) for rung in RUNGS for stage in rung)


def climb(farm: Farm, session: Session, exploration: Exploration) -> bool:
    """Make the next builds; False when there is nothing more to do. Call when all builds have ended."""
    for rung in RUNGS:
        state = _State(farm, session, exploration)
        made = [_choose(state, stage) for stage in rung]
        if any(made):
            return True
    return plan_calibration(farm, session, exploration)


def _choose(state: "_State", stage: DesignStage) -> bool:
    budget = budget_of(state.exploration, stage)
    if not budget:
        return False
    ranked, taken, without = state.ranked(stage, budget), state.taken(stage), state.spent(stage)
    chosen: list[Design] = []
    while not chosen and (picks := choose(ranked, budget, taken, without)):
        chosen = [design for design in map(state.designs.__getitem__, picks) if _make(state, stage, design)]
        without |= set(picks)
    if chosen:
        tell_promoted(state.farm, state.session, state.exploration, stage, chosen)
    return bool(chosen)


def _make(state: "_State", stage: DesignStage, design: Design) -> bool:
    """Make the build; False where a stage below says that it has no point (the same design elsewhere was found to be
    wrong, or its link with these options failed): its place goes to the next one.
    """
    try:
        return state.chains.ensure(design, stage, state.options(stage, design)).stage == stage
    except ConflictError:
        return False


@dataclass(frozen=True)
class _State:
    """What of the exploration is known when a choice is made."""

    farm: Farm
    session: Session
    exploration: Exploration

    @cached_property
    def chains(self) -> Chains:
        return chains_of(self.farm, self.session, self.exploration)

    @cached_property
    def designs(self) -> dict[str, Design]:
        return {d.key: d for d in designs.candidates(self.session, self.exploration.id)}

    @cached_property
    def _builds(self) -> dict[tuple[str | None, str], Build]:
        """The newest of each design and stage."""
        found = builds.of_exploration(self.session, self.exploration.id, *DESIGN_STAGES)
        return {(b.design_id, b.stage): b for b in found}

    def build(self, design: Design, stage: DesignStage) -> Build | None:
        return self._builds.get((design.id, stage))

    def taken(self, stage: DesignStage) -> set[str]:
        """Keys of the designs that have had a build of the stage."""
        return {k for k, d in self.designs.items() if (b := self.build(d, stage)) is not None and _counts(b)}

    def spent(self, stage: DesignStage) -> set[str]:
        """Keys of the designs for which the stage has no point, or was given up before it began."""
        before = "csim" if stage == "csynth" or self._on_simulated_board(stage) else None
        return {
            key
            for key, design in self.designs.items()
            if self.build(design, stage) is not None
            or (before and (b := self.build(design, before)) is not None and (is_wrong(b) or _has_failed(b)))
        }

    def ranked(self, stage: DesignStage, budget: int) -> list[str]:
        """Keys of the designs that may go to the stage, the ones to take first at the front."""
        if stage == "csynth":
            front = recommended(rated(self.exploration, (d for d in self.designs.values() if d.on_front)))
            seed = self.exploration.options["seed"]
            return self._fill(to_synthesise(front, self.designs, budget, seed, self.spent(stage) - self.taken(stage)))
        if stage == "measure":
            below: DesignStage = "csim" if self._on_simulated_board(stage) else "link"
            return by_front(self._rated_by_csynth(self._passed(below)))
        passed = self._rated_by_csynth(self._passed("csynth"))
        if stage == "link":
            return to_link(passed, platform_of(self.farm, self.exploration.platform, self.exploration.options))
        return by_front(passed)

    def _fill(self, first: Sequence[str]) -> list[str]:
        """Behind the chosen ones the rest of the front, for where there are fewer."""
        rest = [entry.key for entry in estimated_front(d for d in self.designs.values() if d.on_front)]
        return list(dict.fromkeys([*first, *rest]))

    def _on_simulated_board(self, stage: DesignStage) -> bool:
        return stage == "measure" and (self.exploration.options.get("board") or SIMULATED) == SIMULATED

    def _passed(self, stage: DesignStage) -> list[Design]:
        found = ((d, self.build(d, stage)) for d in self.designs.values())
        return [d for d, b in found if b is not None and b.state == "done" and not is_wrong(b)]

    def _rated_by_csynth(self, rows: Sequence[Design]) -> list[Synthesised]:
        """With csynth's figures, at the clock of a link where there is one, and for what they do not say the best that
        is known.
        """
        metrics = designs.metrics_of(self.session, [d.id for d in rows])
        found: list[Synthesised] = []
        for design in rows:
            known = {m.name: m.value for m in metrics[design.id] if m.fidelity == Fidelity.CSYNTH}
            linked = next((m.value for m in metrics[design.id] if (m.name, m.fidelity) == _LINKED), None)
            names = self.exploration.objectives
            estimates = dict[str, float](zip(names, design.objectives, strict=True))
            if simulated := design.simulated_us:
                estimates[LATENCY] = simulated
            best = estimates | known | ({} if linked is None else {LATENCY: linked})
            found.append(Synthesised(design.key, tuple(best[name] for name in names), known))
        return found

    def options(self, stage: DesignStage, design: Design) -> Mapping[str, Any]:
        """A later stage uses the version of Vitis that its csynth had, whatever has been installed since."""
        wanted = dict(self.exploration.options)
        csynth = self.build(design, "csynth")
        if stage != "csynth" and csynth is not None:
            wanted |= csynth.options
        return wanted


def _counts(build: Build) -> bool:
    """Whether the build is one of its budget: begun, to begin, or adopted."""
    return build.state != "cancelled" or build.attempt > 0 or bool(build.history)


def _has_failed(build: Build) -> bool:
    return build.state in ("failed", "cancelled")
