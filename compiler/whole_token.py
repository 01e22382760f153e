"""What a whole reply takes, from what its designs take: the prompt, then a token at a time.

All layers are a run of a design, each token ends with a run of the head. A run starts its kernels one after the
other, and every start costs the host `KERNEL_START_US`, which is assumed, not simulated. Definitions:

- first token: all layers of the prompt, the head, and their starts;
- tokens a second: those after the first, over the time from the first token to the last; the prompt is not in it;
- energy of a token: that of its runs, and the board's idle power for all of its time, starts too;
- share: the time in which `HBM_GB_S` bring the least bytes of a token, over the time of a token. Least bytes: each
  weight once at its bits, its scales, the head once, keys and values of the positions before, and the new ones; no
  padding, nothing twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from compiler.graph.itensor import DTYPE_BITS
from compiler.graph.linalg_graph import LinalgGraph
from compiler.metrics import Fidelity, Metric

KERNEL_START_US = 270.0
KERNEL_START_SOURCE = (
    "median from the end of a launch to the next on one kernel, 0.12 to 0.43 ms, TeraFly on a U50 (device trace)"
)
HBM_GB_S = 421.0
HBM_SOURCE = "all 32 channels read in sequence, Shuhai on a U280"


@dataclass(frozen=True, slots=True)
class Part:
    """A design: its kernels, and microseconds and microjoules of a run, without starts and idle power."""

    kernels: int
    time_us: float
    energy_uj: float


@dataclass(frozen=True, slots=True)
class Reply:
    """`steps` tokens after the first. `least_bytes` are those of a token, `idle_w` the board's when nothing runs."""

    prefill: Part
    decode: Part
    head: Part
    steps: int
    least_bytes: float
    idle_w: float
    start_us: float = KERNEL_START_US

    @property
    def first_token_us(self) -> float:
        return self._through(self.prefill)

    @property
    def token_us(self) -> float:
        """Of each token after the first."""
        return self._through(self.decode)

    @property
    def reply_us(self) -> float:
        return self.first_token_us + self.steps * self.token_us

    @property
    def starts_of_a_token(self) -> int:
        return self.decode.kernels + self.head.kernels

    @property
    def energy_uj(self) -> float:
        """Of a token after the first."""
        return self.decode.energy_uj + self.head.energy_uj + self.idle_w * self.token_us

    @property
    def hbm_share(self) -> float:
        return self.least_bytes / (HBM_GB_S * 1e3) / self.token_us

    def _through(self, layers: Part) -> float:
        return layers.time_us + self.head.time_us + (layers.kernels + self.head.kernels) * self.start_us

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All of them. Times are simulated, with starts as assumed; energy rests on the estimate of power."""
        simulated = {
            "first_token_time": (self.first_token_us / 1e3, "ms"),
            "time_per_token": (self.token_us / 1e3, "ms"),
            "tokens_per_second": (1e6 / self.token_us, "1/s"),
            "reply_time": (self.reply_us / 1e3, "ms"),
            "hbm_share": (100 * self.hbm_share, "%"),
        }
        made = [Metric(name, value, unit, Fidelity.SIMULATE) for name, (value, unit) in simulated.items()]
        return (*made, Metric("energy_per_token", self.energy_uj / 1e3, "mJ", Fidelity.ESTIMATE))

    @property
    def assumed(self) -> str:
        """What of the metrics is neither simulated nor estimated."""
        return (
            f"{self.start_us / 1e3:g} ms for each of {self.starts_of_a_token} kernel starts a token "
            f"({KERNEL_START_SOURCE}); {HBM_GB_S:g} GB/s of HBM ({HBM_SOURCE})"
        )


def least_bytes(layers: LinalgGraph, head: LinalgGraph, positions: Sequence[int]) -> float:
    """Bytes of a token at each of `positions`, on average. `layers` is a decode step of all with their caches."""
    weights = _parameter_bytes(layers) + _parameter_bytes(head)
    slot = sum(_bytes(layers, output.value) for output in layers.outputs if output.name.endswith((".k", ".v")))
    return weights + slot * (1 + sum(positions) / len(positions))  # those before are read, its own written


def _parameter_bytes(graph: LinalgGraph) -> float:
    weights = (value.name for value in graph.values if value.role in ("param", "scalar") and value.row is None)
    return sum(_bytes(graph, name) for name in weights)


def _bytes(graph: LinalgGraph, name: str) -> float:
    value = graph.value[name]
    return prod(value.true_shape) * DTYPE_BITS[value.dtype] / 8
