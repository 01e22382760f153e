"""Kernels run in an order in which every tensor is made before it is read, whatever the plan puts together."""

from small_graphs import mlp

from compiler.analysis.read_back import kernels_of
from compiler.dialects.context import design_context
from compiler.options import Knobs
from compiler.passes.runner import run_passes
from compiler.platforms.platform import load_platform
from compiler.transforms.import_linalg import import_linalg
from compiler.transforms.pipeline_passes import design_passes


def test_budget_of_nothing_still_connects_equal_streams() -> None:
    kernels: dict[int, int] = {}
    for budget in (0, 1 << 20):
        module = import_linalg(mlp())
        knobs = Knobs(default_tile_size=8, overall_unroll=16, fusion_budget=budget)
        run_passes(module, design_passes(knobs, load_platform("u55c")), design_context())
        kernels[budget] = len(kernels_of(module))
    assert kernels[0] > 1
    assert kernels[1 << 20] == 1
