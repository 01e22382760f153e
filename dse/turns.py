"""What the islands of an exploration search when.

Between two exchanges an island is a function of the history and its number: whoever runs it, and however often, finds
the same designs. So they run on as many machines as there are, and one that is lost runs again. Two may find the same
accelerator in one turn: it is the design with the lowest number, and what this leaves of the budget is a turn more.
"""

from dataclasses import dataclass

BATCH = 16
"""Designs that a search asks for at once."""
MAX_ISLANDS = 64
EXCHANGES = 4
"""Turns that a budget is divided into: islands that exchange more often find more alike, and cost a start each."""
LEAST = 64
"""Designs of an island's turn, where so many are left: fewer take less time than a machine needs to begin."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one search adds to a history: `count` designs, with numbers from `first`. There may be `islands` searches
    that begin with the same history; `island` says which of them this is, from 0: each starts elsewhere.
    """

    first: int
    count: int
    island: int = 0
    islands: int = 1

    @property
    def end(self) -> int:
        """Behind its numbers."""
        return self.first + self.count


def next_turns(budget: int, islands: int, found: int, first: int) -> tuple[Turn, ...]:
    """What the islands do next where `found` designs are known, with numbers from `first`; nothing where the budget is
    spent. One island never has to wait, so that it has one turn; what is left for less than a batch each is not shared.
    """
    missing = budget - found
    if missing <= 0:
        return ()
    most = missing if islands == 1 else max(LEAST, -(-budget // (islands * EXCHANGES)))
    shared = min(islands, -(-missing // BATCH))
    ends = [min(missing * (island + 1) // shared, most * (island + 1)) for island in range(shared)]
    starts = [0, *ends[:-1]]
    return tuple(
        Turn(first + start, end - start, island, shared)
        for island, (start, end) in enumerate(zip(starts, ends, strict=True))
    )
