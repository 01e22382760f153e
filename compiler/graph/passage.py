"""When a loop nest makes an access: which iterations move a token, and which token that is."""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

Gates = tuple[tuple[int, int, int], ...]  # as `compiler.graph.program.Gate`: a loop, and its iterations [low, high)


@dataclass(frozen=True, slots=True, eq=False)  # there is one of each (`passage`): the search compares them by identity
class Passage:
    """First and last iteration that moves a token, and how many are moved.

    `digits` are the loops by which iterations and tokens are counted, innermost first: (trip count, first iteration
    that moves tokens, how many do). Neighbours that are not gated count as one loop; there are none where every
    iteration moves a token.
    """

    first: int
    last: int
    tokens: int
    digits: tuple[tuple[int, int, int], ...]

    def until(self, iteration: int) -> int:
        """Tokens moved in iterations 0 .. `iteration`, both included. O(gates)."""
        if not self.digits:
            return iteration + 1
        count = admitted = 1  # of the loops inside: up to where they are, and in all
        for trip, low, moving in self.digits:
            iteration, index = divmod(iteration, trip)
            if index < low:
                count = 0
            elif index < low + moving:
                count += (index - low) * admitted
            else:
                count = moving * admitted
            admitted *= moving
        return count

    def iteration_of(self, token: int) -> int:
        """The iteration that moves token number `token` (from 0). O(gates)."""
        if not self.digits:
            return token
        iteration, stride = 0, 1
        for trip, low, moving in self.digits:
            token, index = divmod(token, moving)
            iteration += (low + index) * stride
            stride *= trip
        return iteration


@lru_cache(maxsize=65536)
def passage(trips: tuple[int, ...], gates: Gates) -> Passage:
    """Of an access with these gates in a nest of `trips`, outermost first. O(loops)."""
    gated = {loop: (low, high - low) for loop, low, high in gates}
    first, last, stride = 0, prod(trips) - 1, 1
    digits: list[tuple[int, int, int]] = []
    for loop in reversed(range(len(trips))):
        trip = trips[loop]
        low, moving = gated.get(loop, (0, trip))
        first += low * stride
        last -= (trip - low - moving) * stride
        stride *= trip
        if moving == trip and digits and digits[-1][0] == digits[-1][2]:
            trip = moving = digits.pop()[0] * trip
        digits.append((trip, low, moving))
    tokens = prod(moving for _, _, moving in digits)
    return Passage(first, last, tokens, tuple(digits) if tokens < stride else ())
