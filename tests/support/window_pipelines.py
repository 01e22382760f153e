"""Networks of the timing simulator of windows: line buffers of rows and of pixels between a load and a store."""

from plain_names import plainly_named
from window_networks import greatest, larger

from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import WindowTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.network import Network
from compiler.simulator.timing.translate import networks_of

U55C = load_platform("u55c")


def windowed(graph: LinalgGraph, lanes: int) -> Network:
    """The network of a graph of two windows, one for each of its dimensions."""
    tasks = planned_tasks(graph, Knobs(overall_unroll=lanes), U55C)
    assert sum(isinstance(task, WindowTask) for task in tasks.tasks) == 2
    (network,) = networks_of(tasks, U55C)
    return plainly_named(network)


WINDOWED = {
    "three by three": windowed(greatest(6, 2, kernel=3, padding=1), 1),
    "side by side": windowed(greatest(6, 4, kernel=3, padding=1), 16),
    "not padded": windowed(greatest(6, 2, kernel=3), 1),
    "apart": windowed(greatest(8, 2, kernel=2, stride=2), 1),
    "every other": windowed(greatest(8, 2, kernel=3, padding=1, stride=2), 1),
    "lines left over": windowed(greatest(7, 2, kernel=2, stride=2), 1),
    "larger": windowed(larger(4, 2, 2), 1),
}
