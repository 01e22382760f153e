"""The design space of one workload on one board: the knobs of all three levels as named parameters (design 3.3).

Level 1: tile size, unroll target, who gets lanes and loop order for the whole network, then tile, unroll and loop order
of the heaviest operations, padding. Level 2: fusion plan and budget, converters, and where a kernel begins, if one may
not hold all. Level 3: FIFO strategy, HBM channels, stream width, weight prefetch, multiplier, shared engines, their
slices and their loads, weights on the chip, of the network and of the heaviest operations; rows of a prompt side by
side, where the time of one is an objective. Sizes are powers of two (the analysis rounds down to a divisor of the
loop); None leaves an operation to the network's default.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from itertools import permutations, product
from math import prod
from typing import Any, cast, get_args

import optuna

from compiler.analysis.fusion_costs import FusionCosts
from compiler.analysis.itensors import read_itensors, write_itensors
from compiler.analysis.loop_order import loop_orders
from compiler.analysis.rows import given_rows, kept_rows
from compiler.analysis.tiling import plan_nests
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.options import (
    ConverterRule,
    Engines,
    FifoStrategy,
    FusionPlan,
    Kernel,
    Knobs,
    Loads,
    LoopOrder,
    Multiplier,
    TaskOverride,
    Unrolling,
    Weights,
)
from compiler.platforms.platform import Platform
from dse.objectives import PROMPT_TIME

Choice = int | str | None
Params = Mapping[str, Choice]

MAX_ORDERS = 6
_HELD = 0.25  # of the chip
MAX_TASK_LANES = 1024
MAX_TASK_TILE = 4096

_TILES = tuple(1 << k for k in range(2, 9))
_UNROLLS = tuple(1 << k for k in range(5, 15))
_FUSION_BUDGETS = tuple(1 << k for k in range(16, 26))  # 64 KiB to 32 MiB
_STREAM_WIDTHS = tuple(1 << k for k in range(7, 13))
_HBM_CHANNELS = (1, 2, 4, 8, 16, 32)  # more than are left are dealt out
_PADDINGS = (0, 12, 25)  # percent
_SLICES = (1, 2, 4, 8)
_ROWS = (1, 2, 3, 4)
_PREFETCHES = (0, 256, 512, 1024, 2048, 4096, 8192)  # KiB
# Not `normal`: an estimate, which takes FIFOs as deep enough, sees what that costs and not what it gains.
_FIFOS: tuple[FifoStrategy, ...] = ("conservative", "whole")

# Fields of Knobs by the name of their parameter; per-task parameters are called `<operation>.<field>`.
_FIELDS = {
    "tile": "default_tile_size",
    "unroll": "overall_unroll",
    "order": "order",
    "padding": "max_padding",
    "fusion_plan": "fusion_plan",
    "fusion_budget": "fusion_budget",
    "converters": "converters",
    "fifo": "fifo",
    "hbm_channels": "hbm_channels",
    "stream_width": "stream_width",
    "prefetch": "prefetch_kib",
    "multiplier": "multiplier",
    "engines": "engines",
    "slices": "slices",
    "loads": "loads",
    "unrolling": "unrolling",
    "weights": "weights",
}
_OF_PROMPTS = {"rows": "rows"}  # that change nothing else
_TRIED: Mapping[str, tuple[int | str, ...]] = {
    "default_tile_size": _TILES,
    "overall_unroll": _UNROLLS,
    "order": get_args(LoopOrder),
    "max_padding": _PADDINGS,
    "fusion_plan": get_args(FusionPlan),
    "fusion_budget": _FUSION_BUDGETS,
    "converters": get_args(ConverterRule),
    "fifo": _FIFOS,
    "hbm_channels": _HBM_CHANNELS,
    "stream_width": _STREAM_WIDTHS,
    "prefetch_kib": _PREFETCHES,
    "multiplier": get_args(Multiplier),
    "engines": get_args(Engines),
    "slices": _SLICES,
    "loads": get_args(Loads),
    "unrolling": get_args(Unrolling),
    "weights": get_args(Weights),
    "rows": _ROWS,
}
TASK_FIELDS = ("tile", "unroll", "order", "weights", "kernel")
_KNOBS, _USUAL = tuple(field.name for field in fields(Knobs)), Knobs()

# Engines that one load feeds, and lanes where they save most for their area.
_JOINT = Knobs(default_tile_size=128, stream_width=2048, engines="shared", loads="joint", unrolling="worth")
# One for all products, as wide as all ports together, in slices that may lie on different dies; then one whose groups
# are added up at one engine, too, and that in narrower tokens, and with attention as wide as many positions take.
_ALL_PORTS = replace(
    _JOINT, overall_unroll=16384, hbm_channels=32, multiplier="dsp_packed", prefetch_kib=8192, slices=4
)
WHOLE = (
    _ALL_PORTS,
    replace(_ALL_PORTS, order="reduction-outer"),
    replace(_ALL_PORTS, order="reduction-outer", stream_width=1024),
    replace(_ALL_PORTS, order="reduction-outer", stream_width=4096),
)
# Parameters stay on the chip as far as they fit.
_RESIDENT = Knobs(default_tile_size=64, stream_width=2048, multiplier="dsp_packed", weights="resident")
_LITTLE = replace(_RESIDENT, hbm_channels=8, unrolling="worth")
_IN_PARTS = replace(_LITTLE, hbm_channels=1, weights="streamed", fusion_budget=1 << 20)
_SHARED = replace(_LITTLE, default_tile_size=128, engines="shared", loads="joint")
_EACH_PORT = replace(_JOINT, overall_unroll=8192, order="reduction-outer", hbm_channels=32, prefetch_kib=4096)
# Designs that a search evaluates first. The paper's heuristics with a growing unroll target, and streams and ports that
# widen with it (or they would be the limit), span the front from its small end to its fast end within a dozen trials.
_SEEDS = (
    Knobs(overall_unroll=32, stream_width=128),
    Knobs(overall_unroll=128, stream_width=256),
    Knobs(),
    Knobs(overall_unroll=512, stream_width=1024),
    Knobs(overall_unroll=1024, hbm_channels=2, stream_width=1024),
    Knobs(overall_unroll=2048, hbm_channels=2, stream_width=2048),
    Knobs(overall_unroll=4096, stream_width=2048),
    Knobs(default_tile_size=32, overall_unroll=4096, stream_width=2048),
    Knobs(default_tile_size=128, overall_unroll=4096, hbm_channels=4, stream_width=2048, prefetch_kib=2048),
    Knobs(default_tile_size=64, overall_unroll=1024, hbm_channels=2, stream_width=1024, multiplier="dsp"),
    # Of prompts so long that what is kept for an engine's turns, or as weights, fits nowhere.
    Knobs(default_tile_size=32, overall_unroll=8192, stream_width=2048, multiplier="dsp_packed", unrolling="worth"),
    Knobs(overall_unroll=1024, order="reduction-outer", hbm_channels=2, stream_width=1024, fifo="whole"),
    Knobs(overall_unroll=512, stream_width=1024, fusion_budget=1 << 18),
    Knobs(default_tile_size=128, overall_unroll=1024, hbm_channels=4, stream_width=2048, engines="shared"),
    replace(_JOINT, overall_unroll=4096, hbm_channels=8),
    replace(_JOINT, overall_unroll=4096, hbm_channels=4, multiplier="dsp_packed"),
    replace(_JOINT, overall_unroll=8192, hbm_channels=8, multiplier="dsp_packed"),
    # What a layer's weights load while its lanes rest; then twice as many lanes, of which each takes half as long.
    replace(_JOINT, overall_unroll=8192, hbm_channels=8, multiplier="dsp_packed", prefetch_kib=8192),
    replace(_JOINT, overall_unroll=8192, hbm_channels=16, multiplier="dsp_packed", prefetch_kib=8192),
    # A port for each slice of as many lanes; and of less energy, which products in the fabric take.
    replace(_EACH_PORT, multiplier="dsp_packed"),
    replace(_EACH_PORT, multiplier="fabric", slices=2),
    *WHOLE,
)
# And where the time of a prompt is an objective: rows of it side by side, at copies of an engine that ports keep busy,
# or in turns at one that waits for its weights, and at two of those.
FOR_PROMPTS = (
    replace(
        _JOINT,
        overall_unroll=8192,
        order="reduction-outer",
        hbm_channels=16,
        multiplier="dsp_packed",
        prefetch_kib=2048,
        slices=2,
        rows=2,
    ),
    replace(WHOLE[2], rows=2),
    replace(WHOLE[2], rows=4),
    replace(WHOLE[3], rows=4),
)
# And where parameters may stay on the chip, with windows before all others: many small weights have no ports enough.
_ON_CHIP = (
    replace(_RESIDENT, overall_unroll=256, stream_width=512),
    replace(_RESIDENT, overall_unroll=1024, stream_width=1024),
    replace(_RESIDENT, overall_unroll=8192),
    replace(_RESIDENT, overall_unroll=8192, unrolling="worth"),
)
# And with few ports and lanes, where parameters may stay on the chip, or a resource is an objective.
_LITTLE_AREA = (
    replace(_SHARED, overall_unroll=64, stream_width=128),
    replace(_SHARED, overall_unroll=512, stream_width=128),
    replace(_SHARED, overall_unroll=512, stream_width=512),
    replace(_SHARED, overall_unroll=2048, stream_width=512),
    replace(_LITTLE, default_tile_size=8, overall_unroll=2048),
    replace(_LITTLE, default_tile_size=8, overall_unroll=2048, order="reduction-outer"),
    replace(_LITTLE, default_tile_size=32, overall_unroll=8192),
    # Of long prompts even that is much, but for kernels that hold little each.
    replace(_IN_PARTS, default_tile_size=4, overall_unroll=256),
    replace(_IN_PARTS, default_tile_size=8, overall_unroll=1024),
)
_RESOURCES = {"area", "lut", "ff", "dsp", "bram36", "uram"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One axis of the space. `ordered`: neighbouring choices are similar (sizes), so that a sampler may interpolate."""

    name: str
    choices: tuple[Choice, ...]
    ordered: bool

    @property
    def distribution(self) -> optuna.distributions.BaseDistribution:
        """Samplers see the index of a choice: as a number where choices are ordered, else as a category."""
        if self.ordered:
            return optuna.distributions.IntDistribution(0, len(self.choices) - 1)
        return optuna.distributions.CategoricalDistribution(range(len(self.choices)))

    def suggest(self, trial: optuna.Trial) -> int:
        if self.ordered:
            return trial.suggest_int(self.name, 0, len(self.choices) - 1)
        return trial.suggest_categorical(self.name, range(len(self.choices)))


def heaviest_ops(graph: LinalgGraph, count: int) -> tuple[LinalgOp, ...]:
    """The `count` operations with most iterations, contractions before all others; ties in program order."""
    generic = [op for op in graph.ops if op.kind == "generic"]
    return tuple(sorted(generic, key=lambda op: (not op.is_contraction, -op.iterations))[:count])


def order_choices(op: LinalgOp) -> tuple[tuple[int, ...], ...]:
    """Orders of the operation's loop groups on offer, outermost first; at most `MAX_ORDERS`.

    Up to three groups: every permutation. Above: parallel loops outermost, reductions outermost, both with the parallel
    loops reversed, and the two mixed orders with the reductions inside the first and outside the last parallel loop.
    """
    groups = tuple(dict.fromkeys(op.groups))
    if len(groups) <= 3:
        return tuple(permutations(groups))
    reductions = tuple(g for g in groups if op.iterators[op.groups.index(g)] == "reduction")
    parallels = tuple(g for g in groups if g not in reductions)
    reverse = parallels[::-1]
    offered = (
        parallels + reductions,
        reductions + parallels,
        parallels[:1] + reductions + parallels[1:],
        parallels[:-1] + reductions + parallels[-1:],
        reverse + reductions,
        reductions + reverse,
    )
    return tuple(dict.fromkeys(offered))


def _order_name(order: Sequence[int] | None) -> str | None:
    return None if order is None else ",".join(map(str, order))


def _order_value(name: Choice) -> tuple[int, ...] | None:
    return None if name is None else tuple(int(g) for g in str(name).split(","))


def _task_tiles(op: LinalgOp) -> tuple[int, ...]:
    """Powers of two below the longest loop group, and that group whole."""
    extent = max(prod(n for n, g in zip(op.loops, op.groups, strict=True) if g == group) for group in op.groups)
    whole = (extent,) if extent <= MAX_TASK_TILE else ()
    return tuple(t for t in _TILES if t < extent) + whole


def _task_unrolls(op: LinalgOp) -> tuple[int, ...]:
    return tuple(1 << k for k in range(MAX_TASK_LANES.bit_length()) if 1 << k <= op.iterations)


def _has_weights(graph: LinalgGraph, op: LinalgOp) -> bool:
    """Whether it reads what may stay on the chip (`compiler.analysis.resident`)."""
    return not kept_rows(graph) and any(
        graph.value[operand.value].role == "param" and graph.value[operand.value].shape for operand in op.inputs
    )


def _may_be_cut(graph: LinalgGraph, platform: Platform) -> bool:
    """Whether one kernel, with the usual knobs, would hold so much on the chip that several may do better. What
    repeats, or stays, is of one.
    """
    if graph.layers is not None or kept_rows(graph):
        return False
    graph = graph.in_order
    nests = plan_nests(graph, _USUAL, platform)
    costs = FusionCosts(graph, read_itensors(graph, nests), write_itensors(graph, nests))
    return costs.on_chip_bytes(dict.fromkeys(graph.op, 0)) > _HELD * platform.on_chip_bytes


def _task_parameters(graph: LinalgGraph, op: LinalgOp, *, cut: bool) -> tuple[Parameter, ...]:
    orders = tuple(_order_name(order) for order in order_choices(op))
    weights = (Parameter(f"{op.name}.weights", (None, *get_args(Weights)), ordered=False),)
    return (
        Parameter(f"{op.name}.tile", (None, *_task_tiles(op)), ordered=False),
        Parameter(f"{op.name}.unroll", (None, *_task_unrolls(op)), ordered=False),
        Parameter(f"{op.name}.order", (None, *orders), ordered=False),
        *(weights if _has_weights(graph, op) else ()),
        *((Parameter(f"{op.name}.kernel", (None, *get_args(Kernel)), ordered=False),) if cut else ()),
    )


def tried(field: str, platform: Platform, graph: LinalgGraph) -> tuple[int | str, ...]:
    """The values of a field of Knobs that a search of a graph tries on this board; for sizes in increasing order."""
    values = _TRIED[field]
    if field == "stream_width" and not _keeps_integers(graph):
        return values[:-1]
    if field == "hbm_channels":
        return tuple(c for c in _HBM_CHANNELS if c <= platform.budget.hbm_ports) or values[:1]
    return values


def _keeps_integers(graph: LinalgGraph) -> bool:
    """Whether attention walks a cache of them, which its widest tokens are for: of floats they take too many wires."""
    return any(value.role == "state" and value.dtype.startswith("i") for value in graph.values)


def _network_parameter(name: str, choices: tuple[int | str, ...]) -> Parameter:
    return Parameter(name, choices, ordered=isinstance(choices[0], int))


class DesignSpace:
    """The parameters of a search over `graph` on `platform` for `objectives`, with overrides for its `heaviest`
    operations.
    """

    def __init__(self, graph: LinalgGraph, platform: Platform, heaviest: int = 4, objectives: Sequence[str] = ()):
        self._graph = graph
        self._ops = heaviest_ops(graph, heaviest)
        self._cut = _may_be_cut(graph, platform)
        self._fields = _FIELDS | (_OF_PROMPTS if PROMPT_TIME in objectives and given_rows(graph) else {})
        self.parameters: tuple[Parameter, ...] = (
            *(_network_parameter(name, tried(field, platform, graph)) for name, field in self._fields.items()),
            *(parameter for op in self._ops for parameter in _task_parameters(graph, op, cut=self._cut)),
        )

    def narrowed(self, choices: Mapping[str, Sequence[Choice]]) -> "DesignSpace":
        """The space with these choices alone of some parameters, by name."""
        found = copy(self)
        found.parameters = tuple(replace(p, choices=tuple(choices.get(p.name, p.choices))) for p in self.parameters)
        return found

    def every(self) -> Iterator[Knobs]:
        """All `size` combinations of choices."""
        names = [p.name for p in self.parameters]
        for values in product(*(p.choices for p in self.parameters)):
            yield self.knobs_of(dict(zip(names, values, strict=True)))

    @property
    def size(self) -> int:
        """How many combinations of choices there are."""
        return prod(len(p.choices) for p in self.parameters)

    @property
    def distributions(self) -> dict[str, optuna.distributions.BaseDistribution]:
        return {p.name: p.distribution for p in self.parameters}

    def default_knobs(self, objectives: Sequence[str] = ()) -> tuple[Knobs, ...]:
        """Designs to try first, each kind in increasing unroll, more where parameters may stay on the chip, or one of
        the `objectives` is a resource or the time of a prompt; without those whose choices the board does not offer.
        """
        has_windows = any(op.kind == "window" for op in self._graph.ops)
        on_chip = () if kept_rows(self._graph) else _ON_CHIP
        first = (*on_chip, *_SEEDS) if has_windows else (*_SEEDS, *on_chip)
        if PROMPT_TIME in objectives:
            first = (*first, *FOR_PROMPTS)
        if on_chip or not _RESOURCES.isdisjoint(objectives):
            first = (*first, *_LITTLE_AREA)
        return tuple(knobs for knobs in first if self.params_of(knobs) is not None)

    def suggest(self, trial: optuna.Trial) -> dict[str, int]:
        """What the sampler proposes in `trial`, as it sees it."""
        return {p.name: p.suggest(trial) for p in self.parameters}

    def at(self, indices: Mapping[str, int]) -> Knobs:
        """The design of these choices, as samplers see them: the inverse of `indices`."""
        return self.knobs_of({p.name: p.choices[indices[p.name]] for p in self.parameters})

    def knobs_of(self, params: Params) -> Knobs:
        """The design with these choices, one for each parameter."""
        values: dict[str, Any] = {field: params[name] for name, field in self._fields.items()}
        overrides: list[TaskOverride] = []
        for op in self._ops:
            tile, unroll, order, weights, kernel = (params.get(f"{op.name}.{field}") for field in TASK_FIELDS)
            walk = _size(tile), _size(unroll), _order_value(order)
            override = TaskOverride(op.name, *walk, cast("Weights | None", weights), cast("Kernel | None", kernel))
            if override != TaskOverride(op.name):
                overrides.append(override)
        return Knobs(**values, overrides=tuple(overrides))

    def params_of(self, knobs: Knobs) -> dict[str, Choice] | None:
        """The inverse of `knobs_of`; None for a design outside this space (made by hand, or by an older version)."""
        params: dict[str, Choice] = {name: getattr(knobs, field) for name, field in self._fields.items()}
        for op in self._ops:
            override = knobs.override(op.name)
            params[f"{op.name}.tile"] = override.tile
            params[f"{op.name}.unroll"] = override.unroll
            params[f"{op.name}.order"] = _order_name(override.order)
            if _has_weights(self._graph, op):
                params[f"{op.name}.weights"] = override.weights
            if self._cut:
                params[f"{op.name}.kernel"] = override.kernel
        searched = {op.name: _has_weights(self._graph, op) for op in self._ops}
        foreign = any(o != TaskOverride(o.op) for o in knobs.overrides if o.op not in searched)
        foreign |= any(o.weights is not None and not searched.get(o.op, True) for o in knobs.overrides)
        foreign |= bool(knobs.begins) and not self._cut
        foreign |= any(getattr(knobs, f) != getattr(Knobs(), f) for f in _OF_PROMPTS.values() if f not in params)
        if foreign or any(params[p.name] not in p.choices for p in self.parameters):
            return None
        return params

    def vary(self, knobs: Knobs, changes: int, rng: random.Random) -> Knobs:
        """`knobs`, a design of this space, with `changes` parameters moved: by one step, or anywhere, as likely."""
        params = self.params_of(knobs)
        assert params is not None
        moved = {p.name: self._move(p, params[p.name], rng) for p in rng.sample(self.parameters, changes)}
        return self.knobs_of(params | moved)

    @staticmethod
    def _move(parameter: Parameter, value: Choice, rng: random.Random) -> Choice:
        if not parameter.ordered or rng.random() < 0.5:
            return rng.choice(parameter.choices)
        here = parameter.choices.index(value)
        return parameter.choices[min(max(0, here + rng.choice((-1, 1))), len(parameter.choices) - 1)]

    def indices(self, params: Params) -> dict[str, int]:
        """The choices as samplers see them, for trials that are enqueued or added finished."""
        return {p.name: p.choices.index(params[p.name]) for p in self.parameters}

    def key(self, knobs: Knobs) -> str:
        """Digest of the design: overrides in order of their operation, those that repeat the default left out.

        Two designs with equal keys are the same accelerator. The converse is not promised.
        """
        for override in knobs.overrides:  # one after the other: what an operation inherits depends on the others
            if (effective := self._effective(knobs, override)) != override:
                knobs = knobs.with_override(effective)
        # Not `to_json`, which copies all: a search asks for the key of every proposal.
        content: dict[str, Any] = {name: getattr(knobs, name) for name in _KNOBS}
        changed = {o.op: o for o in knobs.overrides if o != TaskOverride(o.op)}
        content["overrides"] = [
            {"op": op, **{name: getattr(changed[op], name) for name in TASK_FIELDS}} for op in sorted(changed)
        ]
        if content["engines"] == "own":
            content |= {"slices": _USUAL.slices, "loads": _USUAL.loads}
        if content["loads"] == "own":
            content["rows"] = _USUAL.rows
        # Designs that are stored from before these were knobs keep their digest.
        for said in content["overrides"]:
            for later in ("weights", "kernel"):
                if said[later] is None:
                    del said[later]
        for later in ("engines", "slices", "loads", "unrolling", "weights", "rows"):
            if content[later] == getattr(_USUAL, later):
                del content[later]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def _effective(self, knobs: Knobs, override: TaskOverride) -> TaskOverride:
        """The override without what its operation would get anyway."""
        tile = None if override.tile == knobs.default_tile_size else override.tile
        order = override.order
        if order is not None and override.op in self._graph.op:
            without = knobs.with_override(replace(override, order=None))
            same = loop_orders(self._graph, knobs)[override.op] == loop_orders(self._graph, without)[override.op]
            order = None if same else order
        weights = None if override.weights == knobs.weights == "streamed" else override.weights
        if (tile, order, weights) == (override.tile, override.order, override.weights):
            return override
        return replace(override, tile=tile, order=order, weights=weights)


def _size(choice: Choice) -> int | None:
    return None if choice is None else int(choice)
