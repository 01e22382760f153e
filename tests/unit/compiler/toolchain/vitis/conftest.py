from pathlib import Path

import pytest
from needed import need
from vitis_standin.bench import Bench, make_bench
from vitis_standin.designs import write_layer_norm

from compiler.graph.task_graph import TaskGraph


@pytest.fixture(scope="session")
def small_design(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TaskGraph]:
    folder = tmp_path_factory.mktemp("vitis") / "design"
    return folder, write_layer_norm(folder)


@pytest.fixture
def bench(tmp_path: Path, small_design: tuple[Path, TaskGraph]) -> Bench:
    need("tclsh")
    return make_bench(tmp_path, *small_design)
