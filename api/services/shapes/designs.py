"""Designs, their metrics and files as replies."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from api.schemas import designs as replies
from api.schemas.builds import Build
from api.schemas.explorations import Csim
from compiler.metrics import Fidelity
from db import models
from db.repositories.overview import Newest, StageState
from dse.promote import relative_error
from worker.ladder.build_events import estimate_error

_RANK = {fidelity: rank for rank, fidelity in enumerate(Fidelity)}


def design_summary(row: models.Design, simulation: Newest | None, csim: Newest | None) -> replies.DesignSummary:
    """`simulation` and `csim`: the design's newest build of each stage."""
    return replies.DesignSummary.of(
        row,
        simulation=None if simulation is None else simulation_summary(simulation, row),
        csim=None if csim is None else csim_summary(csim),
    )


def simulation_summary(build: Newest, row: models.Design) -> replies.SimulationSummary:
    return replies.SimulationSummary(
        state=build.state,
        latency_us=row.simulated_us,
        estimate_error=estimate_error(row),
        refuted=row.refuted,
        stalling=_stalling(build.verdict),
    )


def _stalling(verdict: dict[str, Any] | None) -> replies.StallingRun | None:
    found = (verdict or {}).get("stalling")
    return None if found is None else replies.StallingRun(**found)


def csim_summary(build: Newest) -> replies.CsimSummary:
    verdict = build.verdict
    return replies.CsimSummary(
        state=build.state,
        passed=None if verdict is None else verdict["passed"],
        max_rel_error=None if verdict is None else _worst_error(verdict),
    )


def csim_word(stage: StageState | None) -> Csim | None:
    """One word for a point of the scatter; a cancelled simulation counts as none."""
    if stage is None or stage.state == "cancelled":
        return None
    if stage.state in models.OPEN_STATES:
        return "running"
    return "passed" if stage.passed else "failed"


def _worst_error(verdict: dict[str, Any]) -> float | None:
    errors = [check["max_rel_error"] for check in verdict.get("outputs", [])]
    return max((e for e in errors if e is not None), default=None)


def metric(row: models.Metric) -> replies.Metric:
    return replies.Metric.of(row)


def differences(rows: Sequence[models.Metric]) -> list[replies.Difference]:
    """Every metric that is known at two fidelities or more: each pair of neighbours among those that it has."""
    by_name: dict[str, dict[str, models.Metric]] = {}
    for row in rows:
        by_name.setdefault(row.name, {})[row.fidelity] = row
    return [_difference(*pair) for known in by_name.values() for pair in pairwise(_ranked(known))]


def _ranked(known: Mapping[str, models.Metric]) -> list[models.Metric]:
    return sorted(known.values(), key=lambda m: _RANK[Fidelity(m.fidelity)])


def _difference(weaker: models.Metric, better: models.Metric) -> replies.Difference:
    return replies.Difference(
        metric=better.name,
        unit=better.unit,
        predicted_by=weaker.fidelity,
        predicted=weaker.value,
        fidelity=better.fidelity,
        value=better.value,
        error=relative_error(weaker.value, better.value) if better.value else None,
    )


def ladder(builds: Iterable[Build]) -> list[replies.Rung]:
    """One entry a stage, in the ladder's order. `builds`: newest first."""
    newest: dict[str, Build] = {}
    for build in builds:
        newest.setdefault(build.stage, build)
    return [_rung(stage, newest.get(stage)) for stage in models.DESIGN_STAGES]


def _rung(stage: str, build: Build | None) -> replies.Rung:
    if build is None:
        return replies.Rung(stage=stage)
    passed = None if build.verdict is None else build.verdict.get("passed")
    return replies.Rung.of(build, build_id=build.id, passed=passed)


def artifact(row: models.Artifact) -> replies.Artifact:
    url = f"/v1/designs/{row.design_id}/artifacts/{quote(row.path)}"
    return replies.Artifact.of(row, url=url)
