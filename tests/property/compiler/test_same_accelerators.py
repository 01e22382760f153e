"""The accelerators of cdb5aca are still planned but where a rule was mended (`bench.accelerators`: all of them)."""

import gzip
import json
from pathlib import Path

import pytest
from importing_here import importing_here

from bench.accelerators import KNOWN, different
from compiler.frontend.bundle import import_model
from compiler.options import Workload

POINTS = json.loads(gzip.decompress(KNOWN.read_bytes()))


@pytest.mark.slow
@pytest.mark.parametrize("name", POINTS)
def test_planned_as_before(name: str, tmp_path: Path) -> None:
    workload = Workload(**POINTS[name]["workload"])
    with importing_here():
        bundle = import_model(workload.model, workload, tmp_path)
    assert [point for point in different(POINTS[name], bundle, planned=16, compiled=0) if point[2] is None] == []
