"""A stored workload is the compiler's value of it, and what is new to choose changes nothing of the others."""

from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from compiler.options import Workload
from db import models
from worker.farm import Farm
from worker.ladder.versions import digest
from worker.ladder.workloads import compiler_workload, put

WHOLE = Workload("net", "prefill", 1, "w8a8", batch=8, ports="i8")


@pytest.fixture
def model(farm: Farm) -> models.Model:
    return models.Model(id="mdl_net", name="net", kind="onnx", config={}, digest="n" * 64)


def stored(session: Session, model: models.Model, workload: Workload) -> models.Workload:
    session.add(model)
    session.flush()
    return put(session, model, workload)


def test_it_is_read_as_it_was_written(farm: Farm, model: models.Model) -> None:
    with farm.database.write() as session:
        assert compiler_workload(stored(session, model, WHOLE)) == WHOLE


def test_ports_of_f32_leave_the_digest_as_it_was(farm: Farm, model: models.Model) -> None:
    plain = replace(WHOLE, ports="f32")
    before = {"phase": "prefill", "length": 1, "precision": "w8a8", "batch": 8, "layers": 1}
    with farm.database.write() as session:
        row = stored(session, model, plain)
        assert row.digest == digest(model.id, model.digest, before)
        assert put(session, model, WHOLE).id != row.id
