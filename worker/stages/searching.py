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
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign, SearchOptions
from worker.farm import Farm
from worker.fronts import estimated_front
from worker.ladder.design_events import columns_of
from worker.ladder.islands import turn_of
from worker.ladder.platforms import platform_of
from worker.ladder.versions import tools_of
from worker.stages.context import JobContext
from worker.stages.flags import flags_of
from worker.stages.functions import Stages
from worker.stages.lowering import open_bundle
from worker.stages.metric_rows import new_metrics, stored_metrics
from worker.stages.outcome import Outcome


def search(farm: Farm, stages: Stages, job: JobContext) -> Outcome:
    """Search for the designs of one island's turn, from those that were known before it; of its own those that are
    stored are not evaluated again. Raises MillraceError, LeaseLostError.
    """
    assert job.build.exploration_id is not None
    turn = turn_of(job.build.options)
    with farm.database.read() as session:
        exploration = explorations.get(session, job.build.exploration_id)
        stored = stored_designs(session, exploration.id)
    bundle = open_bundle(farm, stages, exploration.workload, job.log)
    platform = platform_of(farm, exploration.platform, job.build.options)
    history = [d for d in stored if d.number < job.build.options["known"]]
    recorded = [d for d in stored if turn.first <= d.number < turn.end]
    options = SearchOptions(
        budget=exploration.budget,
        seed=exploration.options["seed"],
        sampler=exploration.options["sampler"],
        # Islands are what uses several cores: an only one takes all of its machine.
        jobs=None if turn.islands == 1 else 1,
        at_most=exploration.options.get("at_most") or {},
        objectives=tuple(exploration.objectives),
    )
    sink = TableSink(farm, exploration, platform, job)
    result = stages.search(bundle.graph, platform, options, sink, history, turn, recorded)
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

    def __init__(self, farm: Farm, exploration: models.Exploration, platform: Platform, job: JobContext) -> None:
        self._farm = farm
        self._exploration_id = exploration.id
        self._objectives = tuple(exploration.objectives)
        self._platform = platform
        self._job = job

    def write(self, designs: Sequence[EvaluatedDesign]) -> None:
        """Store a batch, whole or not at all; nothing of what is stored already. Raises LeaseLostError after a
        cancellation or a takeover.
        """
        with self._farm.database.write() as session:
            explorations.lock(session, self._exploration_id)  # before the build, as everybody does
            leases.fence(session, self._job.build.id, self._job.token)
            new = [_new_design(d, self._objectives, self._platform) for d in designs]
            ids = design_rows.add_first(session, self._exploration_id, new)
            if ids:
                self._tell(session, design_rows.of_ids(session, ids))

    def _tell(self, session: Session, rows: Sequence[models.Design]) -> None:
        # Islands write side by side: the front is that of the table, which holds all of theirs.
        front = {d.key: d for d in (*design_rows.front(session, self._exploration_id), *rows) if d.feasible}
        entries = estimated_front(sorted(front.values(), key=lambda d: d.number))
        changed = design_rows.set_front(session, self._exploration_id, {entry.key for entry in entries})
        self._farm.emit(session, self._exploration_id, "designs", columns_of(rows, len(self._objectives)))
        if changed:
            ids = design_rows.front_ids(session, self._exploration_id)
            self._farm.emit(session, self._exploration_id, "front", {"ids": ids})

    def should_stop(self) -> bool:
        return not self._job.held()


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
