"""A board: budgets, HBM, power and operator cores, read from the TOML file beside this one."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from compiler.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Budget:
    """What a design may use, the shell already subtracted."""

    lut: int
    ff: int
    dsp: int
    bram36: int
    uram: int
    hbm_ports: int


@dataclass(frozen=True, slots=True)
class Slr:
    """One die of the part: what a design may use there, the shell already subtracted. `hbm`: its ports are here."""

    name: str
    lut: int
    ff: int
    dsp: int
    bram36: int
    uram: int
    hbm: bool = False


@dataclass(frozen=True, slots=True)
class Dies:
    """The dies from the bottom up; `sll[k]` wires are free between die k and die k+1.

    `comfort` is the share of a die's LUTs, FFs, DSPs and memories up to which it still routes well; `port_wires` the
    wires of one m_axi port with 512 bits of data: address, data and handshakes, both directions.
    """

    slrs: tuple[Slr, ...]
    sll: tuple[int, ...]
    comfort: float
    port_wires: int


@dataclass(frozen=True, slots=True)
class Hbm:
    """Pseudo-channels: `channel_gb_s` GB/s (1e9 bytes/s) each for sequential access through a `port_bits` port."""

    channels: int
    channel_bytes: int
    channel_gb_s: float
    read_latency_cycles: int
    port_bits: int


@dataclass(frozen=True, slots=True)
class PowerModel:
    """Coefficients of the power estimate: watts at rest, share of its power that a waiting task draws, then power of
    each resource while it switches.
    """

    static_w: float
    waiting_share: float
    dsp_mw: float
    lut_uw: float
    ff_uw: float
    bram36_mw: float
    uram_mw: float
    hbm_pj_per_byte: float


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator core: latency in cycles and area."""

    latency: int
    dsp: int
    lut: int
    ff: int


@dataclass(frozen=True)
class Platform:
    """A board that designs are compiled for."""

    name: str
    title: str
    part: str
    shell: str
    clock_mhz: float
    budget: Budget
    dies: Dies
    hbm: Hbm
    power: PowerModel
    operators: dict[str, Operator]

    @property
    def on_chip_bytes(self) -> int:
        """What the block RAM and URAM of the budget hold, parity bits included."""
        return self.budget.bram36 * 36 * 128 + self.budget.uram * 288 * 128

    @property
    def channel_bytes_per_cycle(self) -> float:
        """Bytes that one HBM channel delivers in a kernel clock cycle, at most a port's width."""
        return min(self.hbm.port_bits / 8, self.hbm.channel_gb_s * 1e3 / self.clock_mhz)


def platform_names() -> tuple[str, ...]:
    """Names that `load_platform` knows."""
    folder = files("compiler.platforms")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def _dies(data: dict[str, Any]) -> Dies:
    slrs = tuple(Slr(**entry) for entry in data["slr"])
    return Dies(slrs, tuple(data["sll"]), data["comfort"], data["port_wires"])


@cache
def load_platform(name: str) -> Platform:
    """The platform called `name`. Raises InvalidInputError that lists the known ones."""
    if name not in platform_names():
        raise InvalidInputError(f"unknown platform {name!r}; known are {', '.join(platform_names())}")
    data: dict[str, Any] = tomllib.loads(files("compiler.platforms").joinpath(f"{name}.toml").read_text())
    return Platform(
        **{k: data[k] for k in ("name", "title", "part", "shell", "clock_mhz")},
        budget=Budget(**data["budget"]),
        dies=_dies(data["dies"]),
        hbm=Hbm(**data["hbm"]),
        power=PowerModel(**data["power"]),
        operators={k: Operator(**v) for k, v in data["operators"].items()},
    )
