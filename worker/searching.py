"""Stage search: run the search of one exploration and store what it finds, batch by batch."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from compiler.errors import Violation
from compiler.metrics import Fidelity
from compiler.options import Knobs
from compiler.platforms.platform import Platform, load_platform
from db import models
from db.repositories import designs as design_rows
from db.repositories import explorations, leases
from db.repositories.designs import NewDesign
from dse.archive import ParetoArchive
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign, SearchOptions
from worker.farm import Farm
from worker.flags import flags_of
from worker.flow import move
from worker.lowering import open_bundle
from worker.metric_rows import new_metrics, stored_metrics
from worker.promoting import renew_front
from worker.stages import Stages


def search(farm: Farm, stages: Stages, exploration_id: str, token: int) -> None:
    """Search until the budget is spent; the front is promoted next. Raises MillraceError, LeaseLostError."""
    with farm.database.read() as session:
        exploration = explorations.get(session, exploration_id)
        history = stored_designs(session, exploration_id)
    bundle = open_bundle(farm, stages, exploration.workload)
    options = SearchOptions(
        budget=exploration.budget,
        seed=exploration.options["seed"],
        sampler=exploration.options["sampler"],
    )
    sink = TableSink(farm, exploration, token, history)
    result = stages.search(bundle.graph, load_platform(exploration.platform), options, sink, history)
    if not result.stopped:
        _conclude(farm, exploration_id, token)


class TableSink:
    """Writes batches into the tables while the lease is held; the search's record and its progress in one."""

    def __init__(
        self, farm: Farm, exploration: models.Exploration, token: int, history: Sequence[EvaluatedDesign]
    ) -> None:
        self._farm = farm
        self._exploration_id = exploration.id
        self._platform = load_platform(exploration.platform)
        self._token = token
        self._archive = ParetoArchive()
        self._add_to_archive(history)

    def write(self, designs: Sequence[EvaluatedDesign]) -> None:
        """Store a batch, whole or not at all. Raises LeaseLostError after a cancellation or a takeover."""
        self._add_to_archive(designs)
        front_keys = {entry.key for entry in self._archive.front()}
        with self._farm.database.write() as session:
            leases.fence(session, models.Exploration, self._exploration_id, self._token)
            ids = design_rows.add(session, self._exploration_id, [_new_design(d, self._platform) for d in designs])
            front_changed = design_rows.set_front(session, self._exploration_id, front_keys)
            self._emit(session, "designs", _columns(ids, designs, front_keys))
            if front_changed:
                self._emit(session, "front", {"ids": design_rows.front_ids(session, self._exploration_id)})

    def should_stop(self) -> bool:
        with self._farm.database.read() as session:
            return not leases.holds(session, models.Exploration, self._exploration_id, self._token)

    def _emit(self, session: Session, kind: str, data: dict[str, Any]) -> None:
        self._farm.emit(session, self._exploration_id, kind, data)

    def _add_to_archive(self, found: Sequence[EvaluatedDesign]) -> None:
        for design in found:
            objectives = design.evaluation.objectives
            if design.evaluation.feasible and objectives is not None:
                self._archive.add(design.key, objectives)


def _conclude(farm: Farm, exploration_id: str, token: int) -> None:
    """Have the front simulated next, and give the lease back."""
    with farm.database.write() as session:
        exploration = explorations.lock(session, exploration_id)
        leases.fence(session, models.Exploration, exploration_id, token)
        leases.release(session, models.Exploration, exploration_id, token)
        renew_front(farm, session, exploration_id)  # a design that was simulated meanwhile may deadlock
        counts = explorations.counts(session, [exploration_id]).get(exploration_id, explorations.Counts())
        if counts.feasible:
            move(farm, session, exploration, "simulating")
        else:
            move(farm, session, exploration, "failed", _no_front(exploration, counts.evaluated))


def _no_front(exploration: models.Exploration, evaluated: int) -> str:
    return (
        f"none of the {evaluated} designs fits the {exploration.platform}; "
        "try a larger budget, fewer layers, a shorter length or a narrower precision"
    )


def stored_designs(session: Session, exploration_id: str) -> list[EvaluatedDesign]:
    """What the exploration has evaluated so far, as the search knew it."""
    metrics = design_rows.metrics_of_exploration(session, exploration_id, Fidelity.ESTIMATE)
    return [_evaluated(d, metrics.get(d.id, [])) for d in design_rows.stored(session, exploration_id)]


def _evaluated(row: models.Design, metrics: Sequence[models.Metric]) -> EvaluatedDesign:
    knobs = Knobs.from_json(row.knobs)
    evaluation = Evaluation(
        knobs=knobs,
        latency_us=row.latency_us,
        energy_uj=row.energy_uj,
        metrics=tuple(stored_metrics(metrics)),
        violations=tuple(Violation(**v) for v in row.violations),
        reason=row.reason,
        seconds=row.seconds,
    )
    return EvaluatedDesign(row.number, knobs, evaluation, row.key)


def _new_design(design: EvaluatedDesign, platform: Platform) -> NewDesign:
    evaluation = design.evaluation
    return NewDesign(
        number=design.number,
        key=design.key,
        knobs=design.knobs.to_json(),
        feasible=evaluation.feasible,
        latency_us=evaluation.latency_us,
        energy_uj=evaluation.energy_uj,
        violations=[{"resource": v.resource, "demand": v.demand, "bound": v.bound} for v in evaluation.violations],
        reason=evaluation.reason,
        seconds=evaluation.seconds,
        metrics=new_metrics(evaluation.metrics),
        flags=flags_of(evaluation.metrics, platform),
    )


def _columns(ids: Sequence[str], found: Sequence[EvaluatedDesign], front: set[str]) -> dict[str, list[Any]]:
    return {
        "id": list(ids),
        "number": [d.number for d in found],
        "latency_us": [d.evaluation.latency_us for d in found],
        "energy_uj": [d.evaluation.energy_uj for d in found],
        "feasible": [d.evaluation.feasible for d in found],
        "on_front": [d.key in front for d in found],
        "csim": [None for _ in found],
        "simulated_us": [None for _ in found],
        "simulation": [None for _ in found],
    }
