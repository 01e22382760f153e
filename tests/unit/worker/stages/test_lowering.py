"""What a stored network is imported from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx_models import mlp, save

from compiler.frontend.inputs.source import whole_network
from compiler.options import Precision
from db import models
from db.repositories import catalog
from worker.farm import Farm
from worker.ladder import workloads
from worker.stages.functions import Stages
from worker.stages.lowering import open_bundle


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "calibration"), [("w8a8", "3 samples given of each input"), ("f32", None)])
def test_samples_that_are_stored_with_a_network_calibrate_its_integers(
    farm: Farm, tmp_path: Path, precision: Precision, calibration: str | None
) -> None:
    workload = _stored(farm, tmp_path, precision)
    bundle = open_bundle(farm, Stages(), workload, lambda _: None)
    assert bundle.meta.get("quantised", {}).get("calibration") == calibration


def _stored(farm: Farm, folder: Path, precision: Precision) -> models.Workload:
    samples = folder / "inputs.npz"
    np.savez(samples, x=np.linspace(-2, 2, 36, dtype=np.float32).reshape(3, 12))
    files = {"digest": save(mlp(1, (12, 8, 4)), folder / "net.onnx"), "samples": samples}
    config = {name: _digest(farm, path) for name, path in files.items()}
    with farm.database.write() as session:
        model = catalog.put_model(session, "net", "onnx", config, "m" * 64)
        return workloads.put(session, model, replace(whole_network("net"), precision=precision))


def _digest(farm: Farm, path: Path) -> str:
    with path.open("rb") as file:
        return farm.store.put_stream(file)[0]
