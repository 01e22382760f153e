"""A board: budgets, HBM, memories, power and operator cores, read from a TOML file: one beside this, or any other."""

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from compiler.errors import InvalidInputError
from compiler.platforms.area import AreaModel, area_model
from compiler.platforms.clock import ClockCoefficients, ClockModel, LargeDesigns
from compiler.platforms.memories import Memories, memories_from
from compiler.platforms.overlay import calibrated

PORT_WIDTHS = (64, 128, 256, 512, 1024)  # of AXI in bits, as far as memory images hold whole 64-bit limbs


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

    `comfort` is the share of a die's LUTs, FFs, DSPs and memories up to which it still routes well, `fill` the share of
    each of them, and of the wires, that a design may use at most; `port_wires` the wires of one m_axi port: address,
    data and handshakes, both directions.
    """

    slrs: tuple[Slr, ...]
    sll: tuple[int, ...]
    comfort: float
    fill: float
    port_wires: int


@dataclass(frozen=True, slots=True)
class Hbm:
    """Pseudo-channels: `channel_gb_s` GB/s (1e9 bytes/s) each for sequential access through a `port_bits` port, in
    bursts of `burst_bytes`. A kernel may have `kernel_ports` of these. Cycles from asking for a word until it is there,
    and from the last word of a write until memory has answered (the same as of a read where a board does not say).

    Bursts at random addresses, as (bytes, GB/s): `random_gb_s` of a port with a channel of its own, `spread_gb_s` of
    one whose memory lies over several channels.
    """

    channels: int
    channel_bytes: int
    channel_gb_s: float
    read_latency_cycles: int
    write_response_cycles: int
    port_bits: int
    kernel_ports: int
    burst_bytes: int
    random_gb_s: tuple[tuple[int, float], ...]
    spread_gb_s: tuple[tuple[int, float], ...]

    @property
    def burst_words(self) -> int:
        """Words of a port in a burst."""
        return self.burst_bytes * 8 // self.port_bits


@dataclass(frozen=True, slots=True)
class PowerModel:
    """Coefficients of the power estimate: watts at rest, share of its power that a waiting task draws, then power of
    each resource while it switches at `clock_mhz`.
    """

    clock_mhz: float
    static_w: float
    waiting_share: float
    dsp_mw: float
    lut_uw: float
    ff_uw: float
    bram36_mw: float
    uram_mw: float
    hbm_pj_per_byte: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What no design on this card can exceed (`idle_w`: go under). `part` is the whole part, by resource;
    `dsp_products` of 4 bits fit a DSP, a product of LUTs takes at least `product_luts`.
    """

    clock_mhz: float
    idle_w: float
    card_w: float
    hbm_gb_s: float
    dsp_products: int
    product_luts: int
    part: dict[str, int]


@dataclass(frozen=True, slots=True)
class RoutedFactor:
    """Routed over csynth's amount of one resource: median, and the range that held four fifths of the kernels seen."""

    factor: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator core: latency in cycles, area, and the result bits that a data path registers around a deep core.
    `guess`: no report that we know gives its area.
    """

    latency: int
    dsp: float
    lut: float
    ff: float
    bits: int = 0
    guess: bool = False


@dataclass(frozen=True)
class Platform:
    """A board that designs are compiled for, at `clock_mhz` if they reach it (`clock`). `calibration` says in words
    what its area and power figures rest on; `text` is the file that it was read from, None where that is shipped.
    """

    name: str
    title: str
    part: str
    shell: str
    clock_mhz: float
    clock: ClockModel
    budget: Budget
    dies: Dies
    hbm: Hbm
    memories: Memories
    limits: Limits
    power: PowerModel
    area: AreaModel
    routed: dict[str, RoutedFactor]
    operators: dict[str, Operator]
    calibration: str
    text: str | None = None

    def __hash__(self) -> int:
        return hash((self.name, self.clock_mhz, self.calibration))

    def limit(self, resource: str) -> float:
        """What a design may use of a resource of the budget: `Dies.fill` of it, and every HBM port."""
        share = 1.0 if resource == "hbm_ports" else self.dies.fill
        return share * getattr(self.budget, resource)

    def at(self, clock_mhz: float) -> "Platform":
        """The board as a design sees it that runs at this clock: memory is as fast, so a cycle brings more bytes of it,
        or fewer.
        """
        return self if clock_mhz == self.clock_mhz else replace(self, clock_mhz=clock_mhz)

    @property
    def on_chip_bytes(self) -> int:
        """What the block RAM and URAM of the budget hold, parity bits included."""
        return self.budget.bram36 * self.memories.bram36_bytes + self.budget.uram * self.memories.uram_bytes

    @property
    def channel_bytes_per_cycle(self) -> float:
        """Bytes that one HBM channel delivers in a kernel clock cycle, at most a port's width."""
        return min(self.hbm.port_bits / 8, self.hbm.channel_gb_s * 1e3 / self.clock_mhz)


def platform_names() -> tuple[str, ...]:
    """Names that `load_platform` knows."""
    folder = files("compiler.platforms")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def _hbm(data: dict[str, Any], ports: int) -> Hbm:
    plain = {"kernel_ports": ports} | {k: value for k, value in data.items() if not isinstance(value, list)}
    bits, burst = data["port_bits"], data["burst_bytes"]
    if bits not in PORT_WIDTHS or burst % (bits // 8):
        raise ValueError(f"[hbm] ports have one of {PORT_WIDTHS} bits, and bursts whole words, not {bits} and {burst}")
    plain.setdefault("write_response_cycles", plain["read_latency_cycles"])
    return Hbm(**plain, random_gb_s=_curve(data["random_gb_s"]), spread_gb_s=_curve(data["spread_gb_s"]))


def _curve(points: list[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    return tuple((size, speed) for size, speed in points)


def _dies(data: dict[str, Any]) -> Dies:
    slrs = tuple(Slr(**entry) for entry in data["slr"])
    if len(data["sll"]) != len(slrs) - 1 or sum(slr.hbm for slr in slrs) != 1:
        raise ValueError("[dies] needs one die with hbm = true, and in sll the wires between each two neighbours")
    fill = data.get("fill", data["comfort"])
    if not 0 < data["comfort"] <= fill <= 1:
        raise ValueError(f"[dies] needs 0 < comfort <= fill <= 1, not {data['comfort']} and {fill}")
    return Dies(slrs, tuple(data["sll"]), data["comfort"], fill, data["port_wires"])


def _clock(data: dict[str, Any] | None, asked: float) -> ClockModel:
    """A board that has no model reaches what is asked for."""
    if data is None:
        return ClockModel(ClockCoefficients(1e3 / asked))
    plain = {k: value for k, value in data.items() if k != "large"}
    if plain["base"] <= 0 or min(plain.values()) < 0:
        raise ValueError(f"[clock] needs a base above 0 and no coefficient below, not {plain}")
    return ClockModel(ClockCoefficients(**plain), LargeDesigns(**data["large"]) if "large" in data else None)


def load_platform(board: str | Path, calibration: Path | None = None) -> Platform:
    """The shipped platform of that name, or the one that a TOML file describes, with the tables of a calibration file
    (`millrace calibrate --write`) laid over it. `u55c@85` is u55c of which a design may use 85 % (`Dies.fill`). Raises
    InvalidInputError that lists the known platforms, or says what is wrong with a file.
    """
    return _read(board, calibration) if isinstance(board, Path) else _shipped(board, calibration)


def named_platform(board: str, calibration: Path | None = None) -> Platform:
    """The same for what a person names: a shipped platform, or the path of a .toml file."""
    return load_platform(Path(board) if board.endswith(".toml") else board, calibration)


@cache
def _shipped(name: str, calibration: Path | None) -> Platform:
    board, asks, percent = name.partition("@")
    if board not in platform_names():
        raise InvalidInputError(f"unknown platform {board!r}; known are {', '.join(platform_names())}")
    text = files("compiler.platforms").joinpath(f"{board}.toml").read_text()
    platform = _platform(tomllib.loads(text), calibration)
    return _filled(platform, name, percent) if asks else platform


def _filled(platform: Platform, name: str, percent: str) -> Platform:
    least = round(100 * platform.dies.comfort)
    if not percent.isdecimal() or not least <= int(percent) <= 100:
        raise InvalidInputError(
            f"{name!r} asks for no share of {platform.name}; write {platform.name}@{least} to {platform.name}@100"
        )
    return replace(platform, name=name, dies=replace(platform.dies, fill=int(percent) / 100))


def _read(file: Path, calibration: Path | None) -> Platform:
    try:
        text = file.read_text()
        return replace(_platform(tomllib.loads(text), calibration), text=text)
    except OSError as error:
        raise InvalidInputError(f"the board {file} can not be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InvalidInputError(
            f"{file} describes no board: {reason}; compare it with u55c.toml of Millrace"
        ) from error


def _platform(board: dict[str, Any], calibration: Path | None) -> Platform:
    data = board if calibration is None else calibrated(board, calibration)
    return Platform(
        **{k: data[k] for k in ("name", "title", "part", "shell", "clock_mhz")},
        clock=_clock(data.get("clock"), data["clock_mhz"]),
        budget=Budget(**data["budget"]),
        dies=_dies(data["dies"]),
        hbm=_hbm(data["hbm"], data["budget"]["hbm_ports"]),
        memories=memories_from(data["memories"], data["limits"]["part"]),
        limits=Limits(**data["limits"]),
        power=PowerModel(**data["power"]),
        area=area_model(data["area"]),
        routed={k: RoutedFactor(**v) for k, v in data["routed"].items()},
        operators={k: Operator(**v) for k, v in data["operators"].items()},
        calibration=data["area"]["calibration"],
    )
