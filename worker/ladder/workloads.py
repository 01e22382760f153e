"""Workloads as rows: what of a model is run, named by the digest of the model and of the choices."""

from typing import cast

from sqlalchemy.orm import Session

from compiler.options import Phase, Ports, Precision, Workload
from db import models
from db.repositories import catalog
from worker.ladder.versions import digest


def put(session: Session, model: models.Model, workload: Workload) -> models.Workload:
    """The stored workload of the model; what was chosen has been checked."""
    values = workload.to_json()
    values.pop("model")
    # Of those that are stored from before ports could be chosen, the digest stays what it was.
    named = {name: value for name, value in values.items() if (name, value) != ("ports", "f32")}
    return catalog.put_workload(session, model, digest=digest(model.id, model.digest, named), **values)


def current(session: Session, workload_id: str) -> models.Workload:
    """The same choices of the model as it is now: a built-in one may be another than when the workload was stored."""
    row = catalog.get_workload(session, workload_id)
    return put(session, row.model, compiler_workload(row))


def compiler_workload(row: models.Workload) -> Workload:
    """The compiler's value of a stored workload."""
    return Workload(
        model=row.model.name,
        phase=cast(Phase, row.phase),
        length=row.length,
        precision=cast(Precision, row.precision),
        batch=row.batch,
        layers=row.layers,
        ports=cast(Ports, row.ports),
    )
