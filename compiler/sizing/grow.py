"""The depths that keep a kernel from deadlocking, found in one run: where it deadlocks, a FIFO grows and it goes on.

T. M. Parks, Bounded Scheduling of Process Networks (1995): tasks that wait for one another in a circle go on when a
full FIFO of the circle gets deeper; some FIFO of it must. Here it is the one whose next step of memory costs least, and
by that whole step, since what is between two of them is free.
"""

from collections.abc import Mapping

from compiler.simulator.timing.network import Outcome
from compiler.simulator.timing.waits import cycle_of, waits_of
from compiler.sizing.steps import free_depth, price
from compiler.sizing.trial import Depths, Trial


def deadlock_free(trial: Trial) -> Depths:
    """Depths with which the kernel comes to its end, those of its loads as they are."""
    shallow = {
        name: stream.depth if name in trial.loads else free_depth(stream.width, 2)
        for name, stream in trial.streams.items()
    }

    def grow(outcome: Outcome, depths: Mapping[str, int]) -> Depths:
        cycle = cycle_of(waits_of(trial.plan.network, outcome, depths))
        full = [wait.fifo for wait in cycle if wait.because == "full" and wait.fifo in depths]
        steps = {fifo: free_depth(trial.width(fifo), depths[fifo] + 1) for fifo in full}
        cheapest = min(steps, key=lambda fifo: _added(trial.width(fifo), depths[fifo], steps[fifo]), default=None)
        return {} if cheapest is None else {cheapest: steps[cheapest]}

    return trial.plan.growing_run(shallow, grow)


def _added(width: int, depth: int, deeper: int) -> float:
    return price(width, deeper) - price(width, depth)
