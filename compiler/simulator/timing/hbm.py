"""HBM as the timing simulator sees it: at which pace the memory serves the words of one load or store.

A port streams at the rate of its channel. Where the address jumps a new burst starts, and the run of words up to the
next jump takes as long as a burst of that size was measured to take at a random address (`Hbm.random_gb_s`). Ports of
one kernel that lie on the same channel take turns, as a fair arbiter makes them: while a port moves its w words, each
other port p gets min(w, w_p) of its own through. So the last one to finish takes exactly as long as the channel needs
for all of them, and any other at most as long as with the arbiter; what that port leaves unused is not given to others.
Two ports of the same traffic have half of the channel each.
"""

from dataclasses import dataclass
from fractions import Fraction

from compiler.analysis.transfers import burst_ns
from compiler.platforms.platform import Platform

FINEST_PACE = 16  # a pace is a fraction of cycles with a denominator up to this, so that it recurs soon


@dataclass(frozen=True, slots=True)
class Pace:
    """`ii` / `per` cycles from one unit to the next, and `gap` / `per` more before each run but the first."""

    ii: int
    per: int
    gap: int

    def cycles(self, units: int, run: int | None) -> float:
        """Cycles of `units` in runs of `run`, the last one's included."""
        gaps = 0 if run is None else -(-units // run) - 1
        return (units * self.ii + gaps * self.gap) / self.per


def pace(
    platform: Platform,
    run: int | None,
    *,
    unit: Fraction = Fraction(1),
    spread: bool = False,
    slowdown: Fraction = Fraction(1),
) -> Pace:
    """Pace of units, each a `unit` part of a word, in runs of `run` units (None: the address never jumps), of
    each port of a transfer.

    `spread`: the memory of a port lies over several channels. `slowdown`: how many times longer everything takes.
    """
    hbm, factor = platform.hbm, float(slowdown)
    size = float(unit) * hbm.port_bits / 8
    cycles = size / platform.channel_bytes_per_cycle * factor
    if run is None:
        return _fitted(cycles, 1, cycles)
    table = hbm.spread_gb_s if spread else hbm.random_gb_s
    burst = burst_ns(table, round(run * size), hbm.channel_gb_s) * platform.clock_mhz * 1e-3 * factor
    return _fitted(cycles, run, max(run * cycles, burst))


def _fitted(unit: float, run: int, burst: float) -> Pace:
    """The pace nearest to `unit` cycles a unit and `burst` cycles a run; of equally near ones the one that recurs
    soonest.
    """
    cycles = unit if run > 1 else burst

    def at(per: int) -> Pace:
        ii = max(per, round(cycles * per))
        return Pace(ii, per, max(0, round(burst * per - run * ii)))

    def error(found: Pace) -> float:
        return abs(found.cycles(1, None) / cycles - 1) + abs((run * found.ii + found.gap) / found.per / burst - 1)

    return min(map(at, range(1, FINEST_PACE + 1)), key=lambda found: (round(error(found), 6), found.per))
