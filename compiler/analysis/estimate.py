"""Latency, area, power and energy of a TaskGraph, without simulating it. Fidelity `estimate`.

Cycles are those of `compiler.analysis.schedule`, kernel after kernel; HBM bounds them from below. They are of the clock
that a design of this shape reaches (`compiler.platforms.clock`): where that is lower, memory brings more in each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from compiler.analysis.design_area import DesignArea
from compiler.analysis.memory_kinds import fit_board
from compiler.analysis.nest_run import TaskTime
from compiler.analysis.placement.fit_dies import DieFit, fit_dies
from compiler.analysis.provenance import guessed_luts
from compiler.analysis.resources import Resources, on_chip_bits
from compiler.analysis.schedule import schedule
from compiler.analysis.transfers import hbm_bytes, hbm_cycles
from compiler.errors import Violation
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.program import COUNT, LOAD, Argument
from compiler.graph.task_graph import CHOOSE, ConverterTask, TaskGraph, told
from compiler.metrics import Fidelity, Metric
from compiler.platforms.platform import Platform, PowerModel
from compiler.whole_token import Lengths, Reply, least_bytes, positions_of

DIE_RESOURCES = ("lut", "ff", "dsp", "bram36", "uram")
# What `fit_dies` checks, by the name that its violation has.
DIE_BOUNDS = (*(f"slr_{resource}" for resource in DIE_RESOURCES), "sll")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Objectives of a design, its metrics and the budgets it exceeds. As `compiler.analysis.placement.fit_dies` found
    them: `fullest_die`, the share of the fullest resource of a die; `crossed`: streams cross between dies; `placed`: it
    is known to have a placement. One without violations that is not placed needs the exact placer. `tasks` is what was
    estimated: with relays where streams cross.
    """

    latency_us: float
    energy_uj: float
    metrics: tuple[Metric, ...]
    violations: tuple[Violation, ...]
    fullest_die: float
    crossed: bool
    placed: bool
    tasks: TaskGraph = field(compare=False)

    @property
    def feasible(self) -> bool:
        return not self.violations


def _dynamic_watts(area: Resources, clock_mhz: float, power: PowerModel) -> float:
    return (
        area.dsp * power.dsp_mw * 1e-3
        + area.bram36 * power.bram36_mw * 1e-3
        + area.uram * power.uram_mw * 1e-3
        + (area.lut * power.lut_uw + area.ff * power.ff_uw) * 1e-6
    ) * (clock_mhz / power.clock_mhz)


def _active_watts(
    times: Mapping[str, TaskTime],
    areas: DesignArea,
    cycles: float,
    clock_mhz: float,
    power: PowerModel,
) -> float:
    """Power of the design's logic and memories: a task's area while it computes, `waiting_share` of that while not. Of
    a task and its copies for other rows the one computes.
    """
    waiting = power.waiting_share
    watts = _dynamic_watts(areas.all_fifos, clock_mhz, power) * waiting
    for name, time in times.items():
        active = min(1.0, time.busy / cycles) / areas.design.copies(name)
        watts += _dynamic_watts(areas.tasks[name], clock_mhz, power) * (waiting + (1.0 - waiting) * active)
    return watts


def largest_share(area: Resources, platform: Platform) -> float:
    """Percent of what a design may use, of the resource that it uses most of."""
    limits = {name: platform.limit(name) for name in DIE_RESOURCES}
    return 100 * max(getattr(area, name) / limit for name, limit in limits.items() if limit)


def violations_of(area: DesignArea, dies: DieFit, platform: Platform) -> tuple[Violation, ...]:
    """Budgets that the design exceeds, all of its kernels together: the board's by `area`, those of the dies and of the
    wires between them as `dies` found, an HBM channel's by memory images.
    """
    demands = [(name, getattr(area.whole, name), platform.limit(name)) for name in (*DIE_RESOURCES, "hbm_ports")]
    demands.append(("kernel_hbm_ports", max(area.ports, default=0), platform.hbm.kernel_ports))
    image = max((t.dma.channel_bytes for t in area.design.transfers), default=0)
    demands.append(("hbm_channel_bytes", image, platform.hbm.channel_bytes))
    board = (Violation(name, float(demand), float(bound)) for name, demand, bound in demands if demand > bound)
    return (*board, *dies.violations)


def estimate(tasks: TaskGraph, platform: Platform, network: LinalgGraph | None = None) -> Estimate:
    """Latency (us) and energy (uJ) of one run of all kernels in sequence, area, and violations of the board's budget;
    with relays where streams cross between dies, as a quick test spreads it over them. What whole replies take, where
    it is told which `network` it is of, and that chooses tokens.
    """
    area = DesignArea.of(tasks, platform)
    fitted = fit_board(tasks, area.whole, platform)
    if fitted is not tasks:
        area = DesignArea.of(fitted, platform)
    dies = fit_dies(area, platform)
    if dies.tasks is not fitted:
        area = DesignArea.of(dies.tasks, platform, known=area)  # but for relays, all is as it was
    return _estimated(dies, area, platform, network)


def estimate_placed(dies: DieFit, platform: Platform, network: LinalgGraph | None = None) -> Estimate:
    """The same of a design that lies on its dies, with its relays."""
    return _estimated(dies, DesignArea.of(dies.tasks, platform), platform, network)


class _Launch(NamedTuple):
    """What one launch takes; `watts` above the idle board, HBM included."""

    cycles: float
    seconds: float
    watts: float
    traffic: float

    @property
    def latency_us(self) -> float:
        return self.seconds * 1e6

    @property
    def energy_uj(self) -> float:
        return self.watts * self.seconds * 1e6


def _launch(tasks: TaskGraph, areas: DesignArea, clock: float, platform: Platform) -> _Launch:
    """Of the largest arguments that `tasks` leaves open."""
    times, lengths = schedule(tasks, platform)
    traffic = hbm_bytes(tasks)
    cycles = sum(map(max, lengths, hbm_cycles(tasks, platform)))
    seconds = cycles / (clock * 1e6)
    watts = _active_watts(times, areas, cycles, clock, platform.power)
    return _Launch(cycles, seconds, watts + traffic * platform.power.hbm_pj_per_byte * 1e-12 / seconds, traffic)


@lru_cache(maxsize=1024)
def _mean_trip(position: Argument, places: range) -> float:
    return fmean(map(position.trip, places))


class _Positions(NamedTuple):
    """What a launch takes in the middle of its positions and at the last. All of it grows with the tiles that a
    position begins, as good as linearly: so it follows for the others. `position` is None where they are alike.
    """

    position: Argument | None
    middle: _Launch
    last: _Launch

    @classmethod
    def of(cls, last: _Launch, tasks: TaskGraph, areas: DesignArea, clock: float, platform: Platform) -> "_Positions":
        positions = [argument for argument in tasks.arguments if argument.name not in (CHOOSE, COUNT, LOAD)]
        if not positions:
            return cls(None, last, last)
        (position,) = positions
        middle = position.most // 2
        if position.trip(middle) == position.trip(position.most):
            return cls(None, last, last)
        return cls(position, _launch(tasks.at({position.name: middle}), areas, clock, platform), last)

    def mean(self, of: Callable[[_Launch], float], places: range | None = None) -> float:
        """Of these positions (None: of all)."""
        position, in_middle, at_last = self.position, of(self.middle), of(self.last)
        if position is None:
            return at_last
        of_middle, most = position.trip(position.most // 2), position.trip(position.most)
        trip = _mean_trip(position, range(position.most + 1) if places is None else places)
        return in_middle + (trip - of_middle) / (most - of_middle) * (at_last - in_middle)


def _lengths(at: _Positions, network: LinalgGraph | None) -> Lengths:
    """By which designs are measured."""
    positions = None if network is None else positions_of(network)
    most = 0 if at.position is None else at.position.most
    return Lengths.within(most + 1 if positions is None else positions)


class _Prompt(NamedTuple):
    """Cycles of a token in the middle of a prompt, which chooses none: the first of a chunk, and by how much each of
    the others makes that longer: they follow each other at the pace of the task that works longest.
    """

    first: float
    other: float
    tokens: int
    rows: int

    @classmethod
    def of(cls, at: _Positions, tasks: TaskGraph, lengths: Lengths, platform: Platform) -> "_Prompt":
        there = {} if at.position is None else {at.position.name: min(at.position.most, lengths.prompt // 2)}
        times, cycles = schedule(tasks, platform, {**there, CHOOSE: 0})
        busy = (time.busy / tasks.rows_at_once(name) for name, time in times.items())
        rows = 1 if tasks.control is None else tasks.control.rows
        return cls(sum(cycles), max(busy), lengths.prompt, rows)

    @property
    def chunks(self) -> list[float]:
        """Cycles of each."""
        rows = [min(self.rows, self.tokens - begin) for begin in range(0, self.tokens, self.rows)]
        return [self.first + (count - 1) * self.other for count in rows]


def _reply(
    at: _Positions, prompt: _Prompt, lengths: Lengths, tasks: TaskGraph, network: LinalgGraph, platform: Platform
) -> Reply | None:
    """One of the lengths by which designs are measured; None where the network chooses no tokens."""
    if positions_of(network) is None:
        return None
    clock = platform.clock_mhz
    chunks = [cycles / clock for cycles in prompt.chunks]
    chosen = at.mean(lambda launch: launch.latency_us, range(lengths.prompt - 1, lengths.prompt))
    chunks[-1] += max(0.0, chosen - prompt.first / clock)
    token = at.mean(lambda launch: launch.latency_us, lengths.later)
    return Reply(
        tasks.kernels,
        tuple(chunks),
        (token,) * lengths.steps,
        at.last.energy_uj,
        least_bytes(network, lengths.later),
        platform.power.static_w,
        tasks.control is not None,
        fidelity=Fidelity.ESTIMATE,
    )


def _input_interval(last: _Launch, tasks: TaskGraph, areas: DesignArea, clock: float, platform: Platform) -> float:
    """Time (us) by which a launch takes longer for its last input: where it always takes all, its share of that."""
    if not any(argument.name == COUNT for argument in tasks.arguments):
        return last.latency_us / tasks.inputs
    return last.latency_us - _launch(tasks.at({COUNT: tasks.inputs - 1}), areas, clock, platform).latency_us


def _estimated(dies: DieFit, areas: DesignArea, platform: Platform, network: LinalgGraph | None) -> Estimate:
    """Energy is power times time with the idle board subtracted, as it is measured on a board (design section 4): each
    task's area while it computes, `waiting_share` of that while it waits, HBM by the byte. `energy_with_idle` adds the
    board at rest.
    """
    tasks, area = dies.tasks, areas.whole
    clock = platform.clock.mhz(dies.clock_shape(platform.dies), area.lut, area.dsp, platform.clock_mhz)
    platform = platform.at(clock)  # what memory does takes as long at any
    last = _launch(tasks, areas, clock, platform)
    cycles, seconds, watts, traffic = last
    total_watts = watts + platform.power.static_w
    numbers = {
        "latency": (last.latency_us, "us"),
        "cycles": (cycles, "cycles"),
        "clock": (clock, "MHz"),
        "energy": (last.energy_uj, "uJ"),
        "energy_with_idle": (total_watts * seconds * 1e6, "uJ"),
        "power": (total_watts, "W"),
        "area": (largest_share(area, platform), "%"),
        "lut": (area.lut, "LUT"),
        "lut_guessed": (guessed_luts(tasks, platform), "LUT"),
        "ff": (area.ff, "FF"),
        "dsp": (area.dsp, "DSP"),
        "bram36": (area.bram36, "BRAM36"),
        "uram": (area.uram, "URAM"),
        "hbm_ports": (area.hbm_ports, "ports"),
        "hbm_traffic": (traffic, "bytes"),
        "hbm_bandwidth": (traffic / seconds / 1e9, "GB/s"),
        "on_chip_memory": (on_chip_bits(tasks) / 8, "bytes"),
        "slowest_ii": (float(max(t.timing.ii for t in tasks.tasks)), "cycles"),
        "kernels": (float(tasks.kernels), "kernels"),
        "tasks": (float(len(tasks.tasks)), "tasks"),
        "padding_share": (100 * tasks.padding_share, "%"),
        "converters": (float(sum(isinstance(t, ConverterTask) for t in tasks.tasks)), "converters"),
    }
    reply = None
    if any(map(told, tasks.steady.tasks)):
        at = _Positions.of(last, tasks, areas, clock, platform)
        lengths = _lengths(at, network)
        prompt = _Prompt.of(at, tasks, lengths, platform)
        numbers["mean_latency"] = (at.mean(lambda launch: launch.latency_us), "us")
        numbers["mean_energy"] = (at.mean(lambda launch: launch.energy_uj), "uJ")
        numbers["prompt_time"] = (sum(prompt.chunks) / max(1, prompt.tokens) / clock, "us")
        reply = _reply(at, prompt, lengths, tasks, network, platform) if network is not None else None
    if tasks.steady is not tasks:
        filling = sum(task.words for task in tasks.transfers) - sum(task.words for task in tasks.steady.transfers)
        numbers["first_latency"] = (last.latency_us + filling / clock, "us")
        numbers["first_traffic"] = (traffic + filling * tasks.port_bits / 8, "bytes")
    if tasks.inputs > 1:
        numbers["inputs_per_second"] = (tasks.inputs / seconds, "1/s")
        numbers["input_interval"] = (_input_interval(last, tasks, areas, clock, platform), "us")
    metrics = tuple(Metric(name, float(value), unit, Fidelity.ESTIMATE) for name, (value, unit) in numbers.items())
    metrics += reply.metrics if reply is not None else ()
    violations = violations_of(areas, dies, platform)
    reached = dies.fullest, dies.crossed, dies.placed
    return Estimate(last.latency_us, last.energy_uj, metrics, violations, *reached, tasks)
