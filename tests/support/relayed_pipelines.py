"""Networks of the timing simulator whose processes lie on different dies."""

from route_designs import routes
from small_pipelines import PIPELINES

from compiler.analysis.relays import relayed
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.network import Network
from compiler.simulator.timing.translate import networks_of

U55C = load_platform("u55c")


def relayed_network(network: Network) -> Network:
    """The network with relays: its processes lie on the three dies in turn, so that streams cross one border or two."""
    tasks = routes({"n": network})
    (found,) = networks_of(relayed(tasks, {task.name: n % 3 for n, task in enumerate(tasks.tasks)}).tasks, U55C)
    return found


KINDS = ("chain, depth 1", "II 2, stalling", "reduction", "fork and join, flushable", "restarts that drain")
RELAYED = {name: relayed_network(PIPELINES[name]) for name in KINDS}
