"""Rows as replies."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from api import schemas
from compiler.metrics import Fidelity
from db import models
from db.repositories.explorations import Counts
from dse.promote import ErrorDistribution, relative_error
from worker.build_events import estimate_error, simulation_word
from worker.promoting import DEFAULT_CALIBRATION, DEFAULT_SIMULATE


def model_ref(row: models.Model) -> schemas.ModelRef:
    return schemas.ModelRef(id=row.id, name=row.name, kind=row.kind)


def model(row: models.Model) -> schemas.Model:
    return schemas.Model(
        id=row.id, name=row.name, kind=row.kind, config=row.config, digest=row.digest, created_at=row.created_at
    )


def workload_shape(row: models.Workload) -> schemas.WorkloadShape:
    return schemas.WorkloadShape(
        phase=row.phase, length=row.length, batch=row.batch, precision=row.precision, layers=row.layers
    )


def workload(row: models.Workload) -> schemas.Workload:
    return schemas.Workload(
        id=row.id,
        model=model_ref(row.model),
        created_at=row.created_at,
        **workload_shape(row).model_dump(),
    )


def exploration(row: models.Exploration, counts: Counts, errors: ErrorDistribution | None) -> schemas.Exploration:
    """`errors`: of the designs' estimated latencies against simulation, by design id."""
    return schemas.Exploration(
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
        objectives=[schemas.Objective.model_validate(o) for o in row.objectives],
        seed=row.options["seed"],
        sampler=row.options["sampler"],
        simulate=row.options.get("simulate", DEFAULT_SIMULATE),
        calibration=row.options.get("calibration", DEFAULT_CALIBRATION),
        verify=row.options["verify"],
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def estimate_errors(errors: ErrorDistribution) -> schemas.EstimateErrors:
    return schemas.EstimateErrors(
        metric="latency",
        fidelity="simulate",
        n=errors.n,
        median=errors.median,
        p95=errors.p95,
        worst=errors.worst,
        bias=errors.bias,
        worst_design=errors.worst_key,
    )


def design_summary(
    row: models.Design, simulation: models.Build | None, csim: models.Build | None
) -> schemas.DesignSummary:
    """`simulation` and `csim`: the design's newest build of each stage."""
    return schemas.DesignSummary(
        id=row.id,
        number=row.number,
        on_front=row.on_front,
        feasible=row.feasible,
        latency_us=row.latency_us,
        energy_uj=row.energy_uj,
        reason=row.reason,
        knobs=row.knobs,
        simulation=None if simulation is None else simulation_summary(simulation, row),
        csim=None if csim is None else csim_summary(csim),
        flags=[schemas.Flag.model_validate(f) for f in row.flags],
    )


def simulation_summary(build: models.Build, row: models.Design) -> schemas.SimulationSummary:
    return schemas.SimulationSummary(
        state=build.state,
        latency_us=row.simulated_us,
        estimate_error=estimate_error(row),
        deadlock=row.deadlock,
    )


def csim_summary(build: models.Build) -> schemas.CsimSummary:
    verdict = build.verdict
    return schemas.CsimSummary(
        state=build.state,
        passed=None if verdict is None else verdict["passed"],
        max_rel_error=None if verdict is None else _worst_error(verdict),
    )


def csim_word(build: models.Build | None) -> schemas.Csim | None:
    """One word for a point of the scatter; a cancelled simulation counts as none."""
    if build is None or build.state == "cancelled":
        return None
    if build.state in ("queued", "running"):
        return "running"
    return "passed" if build.verdict is not None and build.verdict["passed"] else "failed"


def _worst_error(verdict: dict[str, Any]) -> float | None:
    errors = [check["max_rel_error"] for check in verdict.get("outputs", [])]
    return max((e for e in errors if e is not None), default=None)


def scatter(
    rows: Sequence[models.Design], simulations: dict[str, models.Build], csims: dict[str, models.Build]
) -> schemas.Scatter:
    """The newest build of each stage by design id."""
    return schemas.Scatter(
        id=[r.id for r in rows],
        number=[r.number for r in rows],
        latency_us=[r.latency_us for r in rows],
        energy_uj=[r.energy_uj for r in rows],
        feasible=[r.feasible for r in rows],
        on_front=[r.on_front for r in rows],
        csim=[csim_word(csims.get(r.id)) for r in rows],
        simulated_us=[r.simulated_us for r in rows],
        simulation=[simulation_word(simulations.get(r.id), r) for r in rows],
    )


def metric(row: models.Metric) -> schemas.Metric:
    return schemas.Metric(
        name=row.name,
        value=row.value,
        unit=row.unit,
        fidelity=row.fidelity,
        tool=row.tool,
        tool_version=row.tool_version,
        build_id=row.build_id,
    )


def differences(rows: Sequence[models.Metric]) -> list[schemas.Difference]:
    """The metrics that are known both as an estimate and better."""
    estimates = {m.name: m.value for m in rows if m.fidelity == Fidelity.ESTIMATE}
    better = (m for m in rows if m.fidelity != Fidelity.ESTIMATE and m.name in estimates)
    return [_difference(m, estimates[m.name]) for m in better]


def _difference(better: models.Metric, estimate: float) -> schemas.Difference:
    return schemas.Difference(
        metric=better.name,
        unit=better.unit,
        fidelity=better.fidelity,
        value=better.value,
        estimate=estimate,
        error=relative_error(estimate, better.value) if better.value else None,
    )


def build(row: models.Build) -> schemas.Build:
    return schemas.Build(
        id=row.id,
        design_id=row.design_id,
        stage=row.stage,
        state=row.state,
        verdict=row.verdict,
        failure=row.failure,
        error=row.error,
        log_url=f"/v1/builds/{row.id}/log" if row.log_digest else None,
        tool_versions=row.tool_versions,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def artifact(row: models.Artifact) -> schemas.Artifact:
    return schemas.Artifact(
        path=row.path,
        size=row.size,
        digest=row.digest,
        media_type=row.media_type,
        url=f"/v1/designs/{row.design_id}/artifacts/{quote(row.path)}",
    )
