"""Stage search: run the search of one exploration and store what it finds, batch by batch.

The one stage that writes on its way: thousands of designs are too many to lose. Each batch is fenced.
"""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from compiler.errors import Violation
from compiler.metrics import Fidelity
from compiler.options import Knobs
from compiler.platforms.platform import Platform
from db import models
from db.repositories import designs as design_rows
from db.repositories import explorations, leases
from db.repositories.designs import NewDesign
from dse.archive import ParetoArchive
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign, SearchOptions
from worker.farm import Farm
from worker.ladder.design_events import columns_of
from worker.ladder.platforms import platform_of
from worker.ladder.versions import tools_of
from worker.stages.context import JobContext
from worker.stages.flags import flags_of
from worker.stages.functions import Stages
from worker.stages.lowering import open_bundle
from worker.stages.metric_rows import new_metrics, stored_metrics
from worker.stages.outcome import Outcome


def search(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Search until the budget is spent, from the designs that are stored. Raises MillraceError, LeaseLostError."""
    assert job.build.exploration_id is not None
    with farm.database.read() as session:
        exploration = explorations.get(session, job.build.exploration_id)
        history = stored_designs(session, exploration.id)
    bundle = open_bundle(farm, stages, exploration.workload, job.log)
    platform = platform_of(farm, exploration.platform, job.build.options)
    options = SearchOptions(
        budget=exploration.budget,
        seed=exploration.options["seed"],
        sampler=exploration.options["sampler"],
        at_most=exploration.options.get("at_most") or {},
        objectives=tuple(exploration.objectives),
    )
    sink = TableSink(farm, exploration, platform, job, history)
    result = stages.search(bundle.graph, platform, options, sink, history)
    verdict = {
        "designs": len(result.designs),
        "front": len(result.front),
        "repeats": result.repeats,
        "exhausted": result.exhausted,
        "sampler_seconds": result.sampler_seconds,
        "evaluation_seconds": result.evaluation_seconds,
    }
    return Outcome(verdict, tools_of("search", {}))


class TableSink:
    """Writes batches into the tables while the lease is held; the search's record and its progress in one."""

    def __init__(
        self,
        farm: Farm,
        exploration: models.Exploration,
        platform: Platform,
        job: JobContext,
        history: Sequence[EvaluatedDesign],
    ) -> None:
        self._farm = farm
        self._exploration_id = exploration.id
        self._objectives = tuple(exploration.objectives)
        self._platform = platform
        self._job = job
        self._archive = ParetoArchive(len(self._objectives))
        self._add_to_archive(history)

    def write(self, designs: Sequence[EvaluatedDesign]) -> None:
        """Store a batch, whole or not at all. Raises LeaseLostError after a cancellation or a takeover."""
        self._add_to_archive(designs)
        with self._farm.database.write() as session:
            explorations.lock(session, self._exploration_id)  # before the build, as everybody does
            leases.fence(session, self._job.build.id, self._job.token)
            new = [_new_design(d, self._objectives, self._platform) for d in designs]
            ids = design_rows.add(session, self._exploration_id, new)
            front_keys = {entry.key for entry in self._archive.front()}
            changed = design_rows.set_front(session, self._exploration_id, front_keys)
            self._tell(session, ids, changed)

    def _tell(self, session: Session, ids: Sequence[str], front_changed: bool) -> None:
        rows = [design_rows.get(session, design_id) for design_id in ids]
        self._farm.emit(session, self._exploration_id, "designs", columns_of(rows, len(self._objectives)))
        if front_changed:
            front = design_rows.front_ids(session, self._exploration_id)
            self._farm.emit(session, self._exploration_id, "front", {"ids": front})

    def should_stop(self) -> bool:
        return not self._job.held()

    def _add_to_archive(self, found: Sequence[EvaluatedDesign]) -> None:
        for design in found:
            if design.evaluation.feasible:
                self._archive.add(design.key, design.evaluation.objectives(self._objectives))


def stored_designs(session: Session, exploration_id: str) -> list[EvaluatedDesign]:
    """What the exploration has evaluated so far, as the search knew it."""
    metrics = design_rows.metrics_of_exploration(session, exploration_id, Fidelity.ESTIMATE)
    return [_evaluated(d, metrics.get(d.id, [])) for d in design_rows.stored(session, exploration_id)]


def _evaluated(row: models.Design, metrics: Sequence[models.Metric]) -> EvaluatedDesign:
    knobs = Knobs.from_json(row.knobs)
    evaluation = Evaluation(
        knobs=knobs,
        metrics=tuple(stored_metrics([m for m in metrics if m.build_id is None])),
        violations=tuple(Violation(**v) for v in row.violations),
        reason=row.reason,
        accelerator=row.accelerator,
        seconds=row.seconds,
    )
    return EvaluatedDesign(row.number, knobs, evaluation, row.key)


def _new_design(design: EvaluatedDesign, objectives: Sequence[str], platform: Platform) -> NewDesign:
    evaluation = design.evaluation
    latency, energy = evaluation.objectives() if evaluation.priced else (None, None)
    return NewDesign(
        number=design.number,
        key=design.key,
        knobs=design.knobs.to_json(),
        feasible=evaluation.feasible,
        latency_us=latency,
        energy_uj=energy,
        objectives=list(evaluation.objectives(objectives)) if evaluation.priced else [],
        violations=[{"resource": v.resource, "demand": v.demand, "bound": v.bound} for v in evaluation.violations],
        reason=evaluation.reason,
        accelerator=evaluation.accelerator,
        seconds=evaluation.seconds,
        metrics=new_metrics(evaluation.metrics),
        flags=flags_of(evaluation.metrics, platform),
    )
