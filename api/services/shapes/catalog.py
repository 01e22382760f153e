"""Models and workloads as replies."""

from api.schemas import catalog as replies
from db import models


def model_ref(row: models.Model) -> replies.ModelRef:
    return replies.ModelRef(id=row.id, name=row.name, kind=row.kind)


def model(row: models.Model) -> replies.Model:
    return replies.Model(
        id=row.id, name=row.name, kind=row.kind, config=row.config, digest=row.digest, created_at=row.created_at
    )


def workload_shape(row: models.Workload) -> replies.WorkloadShape:
    return replies.WorkloadShape(
        phase=row.phase, length=row.length, batch=row.batch, precision=row.precision, layers=row.layers
    )


def workload(row: models.Workload) -> replies.Workload:
    return replies.Workload(
        id=row.id,
        model=model_ref(row.model),
        created_at=row.created_at,
        **workload_shape(row).model_dump(),
    )
