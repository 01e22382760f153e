"""LinalgOp -> dataflow.task -> LinalgOp keeps everything."""

import pytest
from small_graphs import ALL

from compiler.dialects.dataflow_task import TaskOp
from compiler.graph.design import Design
from compiler.ir.write import write_design
from compiler.platforms.platform import load_platform


@pytest.mark.parametrize("name", sorted(ALL))
def test_task_keeps_its_operation(name: str) -> None:
    graph = ALL[name]()
    module = write_design(Design(graph, load_platform("u55c")))
    module.verify()
    assert tuple(op.linalg for op in module.walk() if isinstance(op, TaskOp)) == graph.ops
