"""The depths that keep a kernel from deadlocking, found in one run: where it deadlocks, a FIFO grows and it goes on.

T. M. Parks, Bounded Scheduling of Process Networks (1995): tasks that wait for one another in a circle go on when a
full FIFO of the circle gets deeper; some FIFO of it must. Here it is one that is planned to be deeper, where there is
such a one, and of those the one whose next step of memory costs least; by that whole step, since what is between two of
them is free.
"""

from collections.abc import Mapping

from compiler.analysis.memory_steps import free_depth, price
from compiler.errors import VerificationError
from compiler.platforms.memories import Memories
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import Outcome
from compiler.simulator.timing.waits import causes_of, waits_of


def deadlock_free(
    plan: Plan,
    shallow: Mapping[str, int],
    width: Mapping[str, int],
    memories: Memories,
    planned: Mapping[str, int] | None = None,
) -> tuple[dict[str, int], Outcome]:
    """Depths, at least `shallow`, with which the network comes to its end, and that run of it. `width` of the tokens in
    bits, `planned` depths of FIFOs that are going to be deep anyway.

    Raises VerificationError where it deadlocks with FIFOs of any depth: a writer and a reader disagree.
    """
    plans = planned or {}

    def grow(outcome: Outcome, depths: Mapping[str, int]) -> dict[str, int]:
        causes = causes_of(waits_of(plan.network, outcome, depths))
        full = [wait.fifo for wait in causes if wait.because == "full" and wait.fifo in depths]
        deeper = {fifo: free_depth(width[fifo], depths[fifo] + 1, memories) for fifo in full}
        prices = {fifo: [price(width[fifo], d[fifo], memories) for d in (deeper, depths)] for fifo in full}
        added = {fifo: more - less for fifo, (more, less) in prices.items()}
        if not full:
            ended = ", ".join(wait.task for wait in causes)
            raise VerificationError(f"the kernel deadlocks with FIFOs of any depth: {ended} wait for one another")
        cheapest = min(full, key=lambda fifo: (depths[fifo] >= plans.get(fifo, 0), added[fifo], fifo))
        return {cheapest: deeper[cheapest]}

    return plan.growing_run(shallow, grow)
