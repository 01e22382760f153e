"""What a whole reply takes, from what its tokens take, those of the prompt too.

A launch makes a whole reply, from the prompt's first token on, where the design is one kernel, else each token of both
is a launch. In one launch the prompt may go through in chunks of several tokens. A launch starts its kernels one after
the other, and every start costs the host `KERNEL_START_US`, which is assumed, not simulated. Definitions:

- first token: the prompt's tokens, or chunks, one after the other, the last of which gives it, and the starts before;
- tokens a second: those after the first, over the time from the first token to the last; the prompt is not in it;
- energy of a token: that of its launch, and the board's idle power for all of its time, starts too;
- share: the time in which `HBM_GB_S` bring the least bytes of a token, over the time of a token. Least bytes: each
  weight once at its bits, its scales, the head once, keys and values of the positions before, and the new ones; no
  padding, nothing twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from compiler.assumed import HBM_GB_S, KERNEL_START_US, assumed
from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.layers import launched
from compiler.graph.linalg_graph import LinalgGraph
from compiler.host.session import POSITION, TOKEN
from compiler.metrics import Fidelity, Metric


class Lengths(NamedTuple):
    """Tokens of a prompt, and of its reply behind the first."""

    prompt: int
    steps: int

    @property
    def later(self) -> range:
        """Positions of the tokens behind the first; of one, where there are none."""
        return range(self.prompt, self.prompt + max(1, self.steps))

    @classmethod
    def within(cls, positions: int) -> "Lengths":
        """What a design of so many positions is measured by: `MEASURED`, where it has fewer positions half of them."""
        prompt = min(MEASURED.prompt, positions // 2)
        return cls(prompt, min(MEASURED.steps, positions - prompt))


MEASURED = Lengths(128, 128)


@dataclass(frozen=True, slots=True)
class Reply:
    """A design of `kernels`, and microseconds without starts, known with this `fidelity`: of the `prompt`'s tokens, or
    chunks, the last of which gives the first token, and of each token after that. `energy_uj` is that of a token
    without idle power, `least_bytes` are those of a token, `idle_w` is the board's power when nothing runs.
    `one_launch` makes all of it.
    """

    kernels: int
    prompt_us: tuple[float, ...]
    later_us: tuple[float, ...]
    energy_uj: float
    least_bytes: float
    idle_w: float
    one_launch: bool = False
    start_us: float = KERNEL_START_US
    fidelity: Fidelity = Fidelity.SIMULATE

    @property
    def first_token_us(self) -> float:
        return sum(self.prompt_us) + (1 if self.one_launch else len(self.prompt_us)) * self._starts_us

    @property
    def token_us(self) -> float:
        """Of a token after the first, on average; of the prompt's last part, where that gives the only one."""
        times = self.later_us or self.prompt_us[-1:]
        return sum(times) / len(times) + (0 if self.one_launch else self._starts_us)

    @property
    def reply_us(self) -> float:
        return self.first_token_us + (self.token_us * len(self.later_us))

    @property
    def token_energy_uj(self) -> float:
        return self.energy_uj + self.idle_w * self.token_us

    @property
    def hbm_share(self) -> float:
        return self.least_bytes / (HBM_GB_S * 1e3) / self.token_us

    @property
    def _starts_us(self) -> float:
        """Of a launch."""
        return self.kernels * self.start_us

    @property
    def timed(self) -> tuple[Metric, ...]:
        """Times, with starts as assumed, and what follows from them alone."""
        found = {
            "first_token_time": (self.first_token_us / 1e3, "ms"),
            "time_per_token": (self.token_us / 1e3, "ms"),
            "tokens_per_second": (1e6 / self.token_us, "1/s"),
            "reply_time": (self.reply_us / 1e3, "ms"),
            "hbm_share": (100 * self.hbm_share, "%"),
        }
        return tuple(Metric(name, value, unit, self.fidelity) for name, (value, unit) in found.items())

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All of them; energy rests on the estimate of power."""
        return (*self.timed, Metric("energy_per_token", self.token_energy_uj / 1e3, "mJ", Fidelity.ESTIMATE))

    @property
    def assumed(self) -> str:
        """What of the metrics is neither simulated nor estimated."""
        what = "reply" if self.one_launch else "token"
        return assumed(self.start_us, f"each of {self.kernels} kernel starts a {what}")


def positions_of(network: LinalgGraph) -> int | None:
    """How many positions a network has that takes a token and chooses the next; None where it does not."""
    rows = {value.row.argument: value.row.count for value in network.values if value.row is not None}
    return rows[POSITION] if rows.keys() >= {TOKEN, POSITION} else None


def least_bytes(network: LinalgGraph, positions: Sequence[int]) -> float:
    """Bytes of a token at each of `positions`, on average. `network` takes a token and has its caches."""
    network = launched(network)
    parameters = (v.name for v in network.values if v.role in ("param", "scalar") and v.row is None)
    kept = {output.value for output in network.outputs if output.name.endswith((".k", ".v"))}
    slot = sum(_bytes(network, value) for value in kept)
    weights = sum(_bytes(network, name) for name in parameters)
    return weights + slot * (1 + sum(positions) / len(positions))  # those before are read, its own written


def _bytes(graph: LinalgGraph, name: str) -> float:
    value = graph.value[name]
    return prod(value.true_shape) * DTYPE_BITS[value.dtype] / 8
