"""What a caller may choose: the workload to compile and the knobs of one design. Plain frozen values, no torch."""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, cast, get_args

from compiler.errors import InvalidInputError

Phase = Literal["prefill", "decode", "step", "head", "token"]
STEPS: tuple[Phase, ...] = ("step", "token")  # a launch says its position, keys and values stay in memory
Precision = Literal["f32", "w8a8", "w4a8", "w8a8kv8", "w4a8kv8"]
Ports = Literal["f32", "i8"]  # what the inputs and results of a network in integers are
INTEGER_CACHES: tuple[Precision, ...] = ("w8a8kv8", "w4a8kv8")  # keys and values of 8 bits, products of attention too
LoopOrder = Literal["reduction-inner", "reduction-outer"]
Equalisation = Literal["conservative", "normal"]
FifoStrategy = Literal["conservative", "normal", "whole"]
FifoEffort = Literal["quick", "full"]
Multiplier = Literal["fabric", "dsp", "dsp_packed"]
FusionPlan = Literal["greedy", "traffic"]
ConverterRule = Literal["exact", "paper"]
Engines = Literal["own", "shared"]
Loads = Literal["own", "joint"]
Unrolling = Literal["slowest", "worth"]
Weights = Literal["streamed", "resident"]
Kernel = Literal["begins"]

MAX_LENGTH = 8192
SLOTS = 16  # lengths of designs are rounded up to a multiple: another prompt often finds its design in the cache
MAX_LAYERS = 128
MAX_BATCH = 1024  # each is computed by the reference
MAX_UNROLL = 1 << 16
MAX_GROUP = 63
MAX_SLICES = 64
MAX_ROWS = 8


def _require_range(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:  # pyright: ignore[reportUnnecessaryIsInstance] # values come from JSON
        raise InvalidInputError(f"{name} is {value}; it must be between {low} and {high}")


def _require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInputError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")


def context_of(needed: int) -> int:
    """The context of a design for so many positions, all of a model's or fewer: attention walks the new row as well as
    those before it, which are tiles of any size where they are a multiple of `SLOTS`.
    """
    return max(2, needed, min(-(-(needed + 1) // SLOTS) * SLOTS - 1, MAX_LENGTH))


@dataclass(frozen=True, slots=True)
class Workload:
    """model x phase x length x batch x precision x layers x ports.

    `length` is the sequence length of a prefill, or the context length of a decode step, the new token included. A
    `step` is a token at any of `length` positions, which its launch says; keys and values stay in memory. What follows
    the last layer, the `head`, takes one row and has neither length nor layers: both are 1. A `token` is a step with
    embedding and head: its launch also says a token, and gives the one that follows. A `batch` are inputs of a network
    from a file, which a launch takes one after the other: that many at most. `ports`: what the inputs and
    results of such a network are, where it is computed in integers.
    """

    model: str
    phase: Phase = "decode"
    length: int = 64
    precision: Precision = "w4a8"
    batch: int = 1
    layers: int = 1
    ports: Ports = "f32"

    def __post_init__(self) -> None:
        _require_choice("phase", self.phase, get_args(Phase))
        _require_choice("ports", self.ports, get_args(Ports))
        _require_choice("precision", self.precision, get_args(Precision))
        _require_range("length", self.length, 2 if self.phase in ("decode", *STEPS) else 1, MAX_LENGTH)
        _require_range("batch", self.batch, 1, MAX_BATCH)
        _require_range("layers", self.layers, 1, MAX_LAYERS)
        if self.phase == "head" and (self.length, self.layers) != (1, 1):
            raise InvalidInputError(
                f"length is {self.length}, layers are {self.layers}; a head has one row and no layers: leave both out"
            )

    @property
    def rows(self) -> int:
        """Positions computed by one run: the whole sequence in prefill, else one."""
        return self.length if self.phase == "prefill" else 1

    @property
    def steps(self) -> bool:
        """Whether a launch says its position, and keys and values stay in memory."""
        return self.phase in STEPS

    @property
    def slots(self) -> int:
        """Positions of the cache that a run reads."""
        return self.length if self.steps else self.length - self.rows

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TaskOverride:
    """Knobs of one operation that replace the defaults; None keeps the default.

    `order` permutes the operation's loop groups, outermost first (see `LinalgOp.groups`). `weights`: where the
    parameters are that it reads; those that are to be `resident` have room on the chip before all others. `kernel`: one
    `begins` with it, whatever the fusion plan would do; layers of a network, or what keeps rows, are one anyway.
    """

    op: str
    tile: int | None = None
    unroll: int | None = None
    order: tuple[int, ...] | None = None
    weights: Weights | None = None
    kernel: Kernel | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            _require_choice(f"weights of {self.op}", self.weights, get_args(Weights))
        if self.kernel is not None:
            _require_choice(f"kernel of {self.op}", self.kernel, get_args(Kernel))
        if self.tile is not None:
            _require_range(f"tile of {self.op}", self.tile, 1, MAX_UNROLL)
        if self.unroll is not None:
            _require_range(f"unroll of {self.op}", self.unroll, 1, MAX_UNROLL)
        for group in self.order or ():
            _require_range(f"a loop group in the order of {self.op}", group, 0, MAX_GROUP)

    @property
    def walks(self) -> bool:
        """Whether it says how the operation walks its loops."""
        return (self.tile, self.unroll, self.order) != (None, None, None)

    def only(self, names: Collection[str]) -> "TaskOverride | None":
        """What it says of these; None where that is nothing."""
        said = {name: value for name in names if (value := getattr(self, name)) is not None}
        return TaskOverride(self.op, **said) if said else None

    @staticmethod
    def from_json(data: Any) -> "TaskOverride":
        """Raises InvalidInputError for anything that `asdict` of an override would not give."""
        known = set(TaskOverride.__dataclass_fields__)
        if not isinstance(data, dict):
            raise InvalidInputError(f"override {data!r} must be an object with some of {sorted(known)}")
        values = cast("dict[str, Any]", data)
        if not isinstance(values.get("op"), str) or set(values) - known:
            raise InvalidInputError(f"override {values} must name its op, and have no more than {sorted(known)}")
        order: Any = values.get("order")
        if order is not None and not isinstance(order, list | tuple):
            raise InvalidInputError(f"order of {values['op']} is {order!r}; it must be a list of loop groups")
        groups = None if order is None else tuple(cast("Iterable[int]", order))
        tile, unroll, weights, kernel = map(values.get, ("tile", "unroll", "weights", "kernel"))
        return TaskOverride(values["op"], tile, unroll, groups, weights, kernel)


@lru_cache(maxsize=4096)
def _default(op: str) -> TaskOverride:
    """An override that replaces nothing; the search asks for one for most operations of every design."""
    return TaskOverride(op)


@dataclass(frozen=True, slots=True)
class Knobs:
    """One point of the three-level design space (design 3.3).

    Tiling: `default_tile_size` elements a loop group, `overall_unroll` lanes over all tasks, `order` of the tile loops,
    `overrides` for single operations, `max_padding` percent of a dimension's points may be padding. Fusion:
    `fusion_budget` bytes of converter memory a kernel may hold, `fusion_plan` the paper's greedy rule or the cuts that
    move the fewest bytes. Resources: `fifo` strategy, `hbm_channels` ports for one weight tensor at most,
    `stream_width` bits of one token at most, `multiplier` realisation of integer products, `prefetch_kib` KiB on chip
    for weights that load before their task starts, `converters` the paper's buffer for each or the cheapest that keeps
    the throughput, `engines` whether matrix products have lanes of their own or take turns, `slices` equal tasks
    that the lanes of an engine are dealt out to at most, `loads` whether each weight of an engine has ports of its own
    or all come through the same ones, in the order of its turns. `unrolling`: lanes go to the slowest operation, as in
    the paper, or to the one where they are worth most. `weights`: what a launch does not change comes from HBM in each
    of them, or stays on the chip as far as that has room; an override says it of single operations. `rows` of a prompt
    that engines compute side by side, with the same weights.
    """

    default_tile_size: int = 16
    overall_unroll: int = 256
    order: LoopOrder = "reduction-inner"
    overrides: tuple[TaskOverride, ...] = field(default=())
    fusion_budget: int = 16 << 20
    fifo: FifoStrategy = "conservative"
    hbm_channels: int = 1
    stream_width: int = 512
    multiplier: Multiplier = "fabric"
    fusion_plan: FusionPlan = "traffic"
    prefetch_kib: int = 0
    max_padding: int = 12
    converters: ConverterRule = "exact"
    engines: Engines = "own"
    slices: int = 1
    loads: Loads = "own"
    unrolling: Unrolling = "slowest"
    weights: Weights = "streamed"
    rows: int = 1

    def __post_init__(self) -> None:
        _require_range("default_tile_size", self.default_tile_size, 1, 4096)
        _require_range("overall_unroll", self.overall_unroll, 1, MAX_UNROLL)
        _require_range("fusion_budget", self.fusion_budget, 0, 1 << 34)
        _require_range("hbm_channels", self.hbm_channels, 1, 32)
        _require_range("stream_width", self.stream_width, 32, 16384)
        _require_range("max_padding", self.max_padding, 0, 50)
        _require_choice("order", self.order, get_args(LoopOrder))
        _require_choice("fifo", self.fifo, get_args(FifoStrategy))
        _require_choice("multiplier", self.multiplier, get_args(Multiplier))
        _require_choice("fusion_plan", self.fusion_plan, get_args(FusionPlan))
        _require_range("prefetch_kib", self.prefetch_kib, 0, 1 << 16)
        _require_choice("converters", self.converters, get_args(ConverterRule))
        _require_choice("engines", self.engines, get_args(Engines))
        _require_range("slices", self.slices, 1, MAX_SLICES)
        _require_choice("loads", self.loads, get_args(Loads))
        _require_choice("unrolling", self.unrolling, get_args(Unrolling))
        _require_choice("weights", self.weights, get_args(Weights))
        _require_range("rows", self.rows, 1, MAX_ROWS)

    def override(self, op: str) -> TaskOverride:
        """The override of operation `op`, an empty one if there is none."""
        for override in self.overrides:
            if override.op == op:
                return override
        return _default(op)

    @property
    def walked_apart(self) -> frozenset[str]:
        """Operations whose overrides say how they walk."""
        return frozenset(override.op for override in self.overrides if override.walks)

    @property
    def begins(self) -> frozenset[str]:
        """Operations with which kernels begin."""
        return frozenset(override.op for override in self.overrides if override.kernel == "begins")

    def overriding(self, names: Collection[str]) -> tuple[TaskOverride, ...]:
        """What overrides say of these, without those that say nothing."""
        said = (override.only(names) for override in self.overrides) if names else ()
        return tuple([override for override in said if override is not None])

    def with_override(self, override: TaskOverride) -> "Knobs":
        others = tuple(o for o in self.overrides if o.op != override.op)
        return replace(self, overrides=(*others, override))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Any) -> "Knobs":
        """Raises InvalidInputError for what is no object, unknown names, or values out of range."""
        known = set(Knobs.__dataclass_fields__)
        if not isinstance(data, dict):
            raise InvalidInputError(f"knobs are {data!r}; they must be an object with some of {sorted(known)}")
        data = cast("dict[str, Any]", data)
        if unknown := set(data) - known:
            raise InvalidInputError(f"unknown knobs {sorted(unknown)}; the knobs are {sorted(known)}")
        overrides: Any = data.get("overrides", ())
        if not isinstance(overrides, list | tuple):
            raise InvalidInputError(f"overrides is {overrides!r}; it must be a list, one entry per operation")
        entries = cast("Iterable[Any]", overrides)
        values: dict[str, Any] = {**data, "overrides": tuple(TaskOverride.from_json(o) for o in entries)}
        return Knobs(**values)
