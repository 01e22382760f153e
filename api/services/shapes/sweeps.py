"""Sweeps and runs as replies."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from api.schemas import sweeps as replies
from api.services.shapes.catalog import model_ref
from api.services.shapes.explorations import objectives
from db import models


def sweep(
    row: models.Sweep,
    workloads: Sequence[models.Workload],
    last_run: replies.SweepRunSummary | None,
    webhook_problem: str | None,
    whole: bool,
) -> replies.Sweep:
    """`workloads`: those of its matrix, in order. `whole`: also the webhook's path, which often is a password."""
    matrix = row.matrix
    shown = [replies.SweepWorkload.of(w, model=model_ref(w.model)) for w in workloads]
    count = len(shown) * len(matrix["platform"]) * len(matrix["seed"]) * len(matrix["sampler"])
    return replies.Sweep.of(
        row,
        matrix=replies.StoredMatrix(
            workloads=shown, platforms=matrix["platform"], seeds=matrix["seed"], samplers=matrix["sampler"]
        ),
        explorations=count,
        webhook=row.webhook if whole else _without_path(row.webhook),
        signed=row.webhook_secret is not None,
        webhook_problem=webhook_problem,
        last_run=last_run,
        warnings=[],
    )


def _without_path(webhook: str | None) -> str | None:
    if webhook is None:
        return None
    parts = urlsplit(webhook)
    return f"{parts.scheme}://{parts.netloc}/..."


def summary(row: models.SweepRun, progress: tuple[int, int]) -> replies.SweepRunSummary:
    """`progress`: its explorations, and those of them that have ended."""
    return replies.SweepRunSummary.of(row, **_found(row, progress))


def run(row: models.SweepRun, sweep_name: str, progress: tuple[int, int], warnings: Sequence[str]) -> replies.SweepRun:
    """`warnings`: what of it waits for a node that there is not."""
    found = _comparison(row)
    compared = {name: found.get(name, []) for name in ("regressions", "improvements")}
    compared["slots"] = [slot | {"objectives": objectives(slot["objectives"])} for slot in found.get("slots", [])]
    more = _found(row, progress) | compared
    return replies.SweepRun.of(row, sweep=sweep_name, warnings=warnings, tolerance=found.get("tolerance"), **more)


def _found(row: models.SweepRun, progress: tuple[int, int]) -> dict[str, Any]:
    found = _comparison(row)
    return {
        "explorations": progress[0],
        "ended": progress[1],
        "builds": found.get("builds"),
        "regression_count": found.get("regression_count", 0),
        "improvement_count": found.get("improvement_count", 0),
        "index": found.get("index"),
        "accepted": found.get("accepted"),
        "webhook": found.get("webhook"),
    }


def _comparison(row: models.SweepRun) -> Mapping[str, Any]:
    return row.comparison or {}
