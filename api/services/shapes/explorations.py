"""Explorations as replies."""

from collections.abc import Mapping, Sequence

from api.schemas import explorations as replies
from api.services.shapes.catalog import model_ref, workload_shape
from api.services.shapes.designs import csim_word
from db import models
from db.repositories.explorations import Counts
from db.repositories.overview import OnFront, Point, StageState
from dse.archive import front_of
from dse.groups import groups as groups_of
from dse.objectives import LATENCY, OBJECTIVES
from dse.promote import ErrorDistribution, Rated
from dse.promote import picks as picks_of
from worker.ladder.build_events import simulation_word
from worker.ladder.design_events import objective_columns
from worker.ladder.promoting import DEFAULT_CALIBRATION, DEFAULT_SIMULATE

_NO_BUILDS = {"csynth": 0, "cosim": 0, "link": 0, "measure": 0}


def exploration(
    row: models.Exploration, counts: Counts, errors: ErrorDistribution | None, front: Sequence[OnFront]
) -> replies.Exploration:
    """`errors`: of the designs' estimated latencies against simulation, by design id. What lists do not say is left to
    `api.services.explorations.shape`.
    """
    options = row.options
    return replies.Exploration.of(
        row,
        model=model_ref(row.workload.model),
        workload=workload_shape(row.workload),
        evaluated=counts.evaluated,
        feasible=counts.feasible,
        front_size=counts.front,
        promoted=counts.promoted,
        simulated=counts.simulated,
        estimate_errors=None if errors is None else estimate_errors(errors),
        seed=options["seed"],
        sampler=options["sampler"],
        islands=options.get("islands", 1),
        at_most=options.get("at_most", {}),
        simulate=options.get("simulate", DEFAULT_SIMULATE),
        calibration=options.get("calibration", DEFAULT_CALIBRATION),
        verify=options["verify"],
        builds=_NO_BUILDS | options.get("builds", {}),
        vitis=options.get("vitis"),
        board=options.get("board"),
        area_model=options.get("area_model"),
        objectives=objectives(row.objectives),
        picks=picks(front, row.objectives),
        waiting=None,
        warnings=[],
        distinct=None,
    )


def objectives(names: Sequence[str]) -> list[replies.Objective]:
    return [replies.Objective.of(OBJECTIVES[name]) for name in names]


def picks(front: Sequence[OnFront], names: Sequence[str]) -> list[replies.Pick]:
    numbers = {d.id: d.number for d in front}
    chosen = picks_of((Rated.of(d.id, names, d.objectives, d.simulated_us) for d in front), names)
    return [
        replies.Pick(
            kind=p.kind,
            design_id=p.design.key,
            number=numbers[p.design.key],
            objectives=list(p.objectives),
            fidelity=p.fidelity,
            estimates=list(p.design.estimated),
        )
        for p in chosen
    ]


def groups(names: Sequence[str], errors: ErrorDistribution | None, front: Sequence[OnFront]) -> replies.Groups:
    """Of a front with these objectives; `errors` as of `exploration`."""
    rated = {d.id: Rated.of(d.id, names, d.objectives, d.simulated_us) for d in front}
    numbers = {d.id: d.number for d in front}
    simulated = {d.key for d in rated.values() if d.simulated is not None}
    error = 0.0 if errors is None else errors.spread
    picked = {pick.design.key for pick in picks_of(rated.values(), names)}
    found = groups_of(front_of((d.key, d.estimated) for d in rated.values()), error, simulated, picked)
    return replies.Groups(
        error=error,
        groups=[
            replies.Group(
                design_id=group.representative,
                number=numbers[group.representative],
                rank=group.rank,
                objectives=list(rated[group.representative].best),
                fidelity="simulate" if group.representative in simulated else "estimate",
                latency_range=_latency_range(names, rated[group.representative], errors),
                members=list(group.members),
            )
            for group in found
        ],
    )


def _latency_range(names: Sequence[str], design: Rated, errors: ErrorDistribution | None) -> list[float] | None:
    if LATENCY not in names or errors is None:
        return None
    latency = design.best[names.index(LATENCY)]
    return [latency, latency] if design.simulated is not None else list(errors.truth(latency))


def estimate_errors(errors: ErrorDistribution) -> replies.EstimateErrors:
    return replies.EstimateErrors.of(errors, metric="latency", fidelity="simulate", worst_design=errors.worst_key)


def scatter(
    points: Sequence[Point],
    objectives: int,
    simulations: Mapping[str, StageState],
    csims: Mapping[str, StageState],
) -> replies.Scatter:
    """`objectives`: how many there are; the newest build of each stage by design id."""
    return replies.Scatter(
        id=[p.id for p in points],
        number=[p.number for p in points],
        objectives=objective_columns([p.objectives for p in points], objectives),
        latency_us=[p.latency_us for p in points],
        feasible=[p.feasible for p in points],
        on_front=[p.on_front for p in points],
        csim=[csim_word(csims.get(p.id)) for p in points],
        simulated_us=[p.simulated_us for p in points],
        simulation=[simulation_word(simulations.get(p.id), p.refuted) for p in points],
    )
