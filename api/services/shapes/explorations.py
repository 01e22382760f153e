"""Explorations as replies."""

from collections.abc import Mapping, Sequence

from api.schemas import explorations as replies
from api.services.shapes.catalog import model_ref, workload_shape
from api.services.shapes.designs import csim_word, simulation_word
from db import models
from db.repositories.explorations import Counts
from db.repositories.overview import Point, StageState
from dse.promote import ErrorDistribution
from worker.ladder.promoting import DEFAULT_CALIBRATION, DEFAULT_SIMULATE

_NO_BUILDS = {"csynth": 0, "cosim": 0, "link": 0, "measure": 0}


def exploration(
    row: models.Exploration, counts: Counts, errors: ErrorDistribution | None, waiting: str | None = None
) -> replies.Exploration:
    """`errors`: of the designs' estimated latencies against simulation, by design id."""
    options = row.options
    return replies.Exploration(
        id=row.id,
        model=model_ref(row.workload.model),
        workload=workload_shape(row.workload),
        platform=row.platform,
        state=row.state,
        error=row.error,
        budget=row.budget,
        evaluated=counts.evaluated,
        feasible=counts.feasible,
        front_size=counts.front,
        promoted=counts.promoted,
        simulated=counts.simulated,
        estimate_errors=None if errors is None else estimate_errors(errors),
        objectives=[replies.Objective.model_validate(o) for o in row.objectives],
        seed=options["seed"],
        sampler=options["sampler"],
        simulate=options.get("simulate", DEFAULT_SIMULATE),
        calibration=options.get("calibration", DEFAULT_CALIBRATION),
        verify=options["verify"],
        priority=row.priority,
        owner=row.owner,
        sweep_run_id=row.sweep_run_id,
        builds=_NO_BUILDS | options.get("builds", {}),
        vitis=options.get("vitis"),
        board=options.get("board"),
        area_model=options.get("area_model"),
        waiting=waiting,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def estimate_errors(errors: ErrorDistribution) -> replies.EstimateErrors:
    return replies.EstimateErrors(
        metric="latency",
        fidelity="simulate",
        n=errors.n,
        median=errors.median,
        p95=errors.p95,
        worst=errors.worst,
        bias=errors.bias,
        worst_design=errors.worst_key,
    )


def scatter(
    points: Sequence[Point], simulations: Mapping[str, StageState], csims: Mapping[str, StageState]
) -> replies.Scatter:
    """The newest build of each stage by design id."""
    return replies.Scatter(
        id=[p.id for p in points],
        number=[p.number for p in points],
        latency_us=[p.latency_us for p in points],
        energy_uj=[p.energy_uj for p in points],
        feasible=[p.feasible for p in points],
        on_front=[p.on_front for p in points],
        csim=[csim_word(csims.get(p.id)) for p in points],
        simulated_us=[p.simulated_us for p in points],
        simulation=[simulation_word(simulations.get(p.id), p.deadlocks) for p in points],
    )
