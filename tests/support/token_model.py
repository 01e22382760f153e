"""Tokens in the FIFO between two pipelines: the paper's counts, exact for the machine of `compiler.simulator.timing`.

Cycles count from the source's first entry. The source enters an iteration every `source_ii` cycles and lets it out
`initial_delay` - 1 cycles later (its pipeline depth, entry and leaving included), so token n is written in cycle
D - 1 + n II_s and may be read from cycle D + n II_s on. L = D + (T - 1) II_s is the source's latency. The target enters
for the first time in cycle `delay` >= D and every `target_ii` cycles from then on; where its token is not there yet, as
soon as it is. Nothing else holds either of them up.

`peak` is what the simulator reports, and the smallest depth with which the source never waits. Both ends of a FIFO are
registered, so a token that is read still takes its place in that cycle. The paper counts

    faster source:  min(T, T - floor((L - delay) / II_t)),  one more where the rest of the division is above 1,
    slower source:  min(T, ceil((delay - D) / II_s)),       one less where a token is written in the cycle in which the
                                                            target starts, or in the one before,

and one less also where both intervals are 1. With `delay` = D its slower source would get no FIFO at all.
"""

from dataclasses import dataclass

from compiler.errors import VerificationError


@dataclass(frozen=True, slots=True)
class TokenModel:
    """`tokens` go from a pipeline of `source_ii` and `initial_delay` cycles to one of `target_ii` that starts `delay`
    cycles after it. Raises VerificationError where the target starts before its first token is there.
    """

    tokens: int
    source_ii: int
    initial_delay: int
    target_ii: int
    delay: int

    def __post_init__(self) -> None:
        if min(self.tokens, self.source_ii, self.initial_delay, self.target_ii) < 1:
            raise VerificationError(f"{self} is no pair of pipelines: all but `delay` must be at least 1")
        if self.delay < self.initial_delay:
            raise VerificationError(
                f"the target starts {self.delay} cycles after the source, whose first token is there after "
                f"{self.initial_delay}; a delay must be at least that"
            )

    @property
    def latency(self) -> int:
        """Cycles from the source's first entry until its last token may be read."""
        return self.initial_delay + (self.tokens - 1) * self.source_ii

    @property
    def peak(self) -> int:
        """Tokens in the FIFO at most, those that are just read included; `FifoRun.peak` of the simulator."""
        if self.source_ii > self.target_ii:
            return self._written_until(self.delay)
        return self.tokens - self._read_until(self.latency - 2)

    def _written_until(self, cycle: int) -> int:
        """Tokens that the source has written by the end of `cycle`. With a slower source the FIFO is fullest when the
        target starts: later it reads at least one token between two that come.
        """
        return min(self.tokens, (cycle + 1 - self.initial_delay) // self.source_ii + 1)

    def _read_until(self, cycle: int) -> int:
        """Tokens read by the end of `cycle` by a target that never finds the FIFO empty. With a faster source the
        FIFO is fullest with the last token: between two that come at most one is read.
        """
        return min(self.tokens, max(0, (cycle - self.delay) // self.target_ii + 1))
