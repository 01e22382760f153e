"""Models and workloads as replies."""

from api.schemas import catalog as replies
from db import models


def model_ref(row: models.Model) -> replies.ModelRef:
    return replies.ModelRef.of(row)


def model(row: models.Model) -> replies.Model:
    return replies.Model.of(row)


def workload_shape(row: models.Workload) -> replies.WorkloadShape:
    return replies.WorkloadShape.of(row)


def workload(row: models.Workload) -> replies.Workload:
    return replies.Workload.of(row, model=model_ref(row.model))
