"""LinalgOp -> dataflow.task -> LinalgOp keeps everything."""

import pytest
from small_graphs import ALL

from compiler.analysis.read_back import tasks_of
from compiler.transforms.import_linalg import import_linalg


@pytest.mark.parametrize("name", sorted(ALL))
def test_task_keeps_its_operation(name: str) -> None:
    graph = ALL[name]()
    module = import_linalg(graph)
    module.verify()
    assert tuple(task.linalg for task in tasks_of(module)) == graph.ops
