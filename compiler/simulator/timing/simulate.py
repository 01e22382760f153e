"""Simulate a design: its kernels one after the other, each from an idle board to its last word in memory."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from compiler.errors import InvalidInputError, ToolError
from compiler.graph.program import LOAD, Values
from compiler.graph.task_graph import TaskGraph, TimingSpec
from compiler.platforms.platform import Platform
from compiler.platforms.stored import OLDEST, stored_platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.deadlock import Deadlock, explain
from compiler.simulator.timing.design import TimedDesign, timed_design
from compiler.simulator.timing.design_json import task_timing_from_json
from compiler.simulator.timing.network import Outcome
from compiler.simulator.timing.results import KernelRun, collect
from compiler.simulator.timing.simulation import Simulation, StallingRun
from compiler.simulator.timing.translate import networks_of_design

SECONDS = 60.0  # of the processor, whatever else it does; a design whose state never recurs is moved token by token
FIRST_WORK, GROWTH = 1 << 24, 4  # cycles x processes of the first try, and how many times more cycles of the next
MOST_CYCLES = 1 << 56  # that the core counts, with parts of them
MAX_BUCKETS = 200
MAX_FILE_BYTES = 256 << 20


def simulate(
    tasks: TaskGraph,
    platform: Platform,
    *,
    channels: Mapping[str, Sequence[int]] | None = None,
    clock_mhz: float | None = None,
    launches: Sequence[Values] = ({},),
    buckets: int = 120,
    seconds: float = SECONDS,
) -> Simulation:
    """Simulate `tasks`; `channels` of loads and stores, None: as the compiler assigns them. See `simulate_design`."""
    design = timed_design(tasks, platform, channels)
    return simulate_design(design, platform, clock_mhz=clock_mhz, launches=launches, buckets=buckets, seconds=seconds)


def simulate_design(
    design: TimedDesign,
    platform: Platform,
    *,
    clock_mhz: float | None = None,
    launches: Sequence[Values] = ({},),
    buckets: int = 120,
    seconds: float = SECONDS,
    try_depths: bool = True,
) -> Simulation:
    """Simulate each kernel of `design` until one deadlocks. The timeline has at most `buckets` parts. With `try_depths`
    a deadlock is told with the depths that would end it, which may take many runs.

    Cycles are of `clock_mhz`, the design's own (None: what the board is asked for): a channel brings as many bytes a
    second at any. `launches`: values of the design's arguments, once for each of several that follow each other
    without a gap; an argument that is not named has its largest. Raises ToolError where it takes more than `seconds` of
    the processor, InvalidInputError for values that the arguments can not take, VerificationError where hazards can not
    be looked for.
    """
    platform = platform if clock_mhz is None else platform.at(clock_mhz)
    hazards = dict.fromkeys(hazard for values in launches for hazard in design.at((values,)).hazards)
    design = design.at(launches)
    deadline = time.thread_time() + seconds
    runs: list[KernelRun] = []
    found: Deadlock | None = None
    for network in networks_of_design(design, platform):
        plan = Plan(network)
        outcome = _run(plan, {}, min(buckets, MAX_BUCKETS), deadline)
        runs.append(KernelRun(network, outcome))
        if outcome.deadlocked:
            again = partial(_run, plan, buckets=0, deadline=deadline) if try_depths else None
            found = explain(network, outcome, again)
            break
    simulation = collect(design, runs, platform, min(buckets, MAX_BUCKETS))
    return replace(simulation, deadlock=found, hazards=tuple(hazards))


def simulate_stalling(design: TimedDesign, platform: Platform, seconds: float = SECONDS) -> StallingRun:
    """One more run of `design`, with every task's pipeline a stalling one, for at most `seconds` of the processor."""
    try:
        found = simulate_design(design.stalling(), platform, buckets=0, seconds=seconds, try_depths=False)
    except ToolError:
        return StallingRun(None)
    if found.deadlock is None:
        return StallingRun(True, found.cycles)
    return StallingRun(False, found.cycles, found.deadlock.fifo, found.deadlock.text)


def _run(plan: Plan, depths: Mapping[str, int | None], buckets: int, deadline: float) -> Outcome:
    """The run to its end, by limits of cycles that grow while there is time: the core is not interrupted."""
    limit = max(1, FIRST_WORK // max(1, len(plan.network.processes)))
    while True:
        begun = time.thread_time()
        outcome = plan.run(depths, limit=limit, buckets=buckets)
        if not outcome.stopped:
            return outcome
        now = time.thread_time()
        if now + GROWTH * (now - begun) > deadline or GROWTH * limit > MOST_CYCLES:
            raise ToolError(
                f"the simulation is not at its end after {limit:,} cycles and takes too long to go on; "
                "give it more time, or check the trip counts of dataflow.json"
            )
        limit *= GROWTH


@dataclass(frozen=True)
class StoredDesign:
    """A design as its directory describes it; clock, `estimate_cycles`, `stalling` where its description has them."""

    design: TimedDesign
    platform: Platform
    clock_mhz: float | None = None
    estimate_cycles: float | None = None
    stalling: StallingRun | None = None

    @property
    def board(self) -> Platform:
        """At the design's clock."""
        return self.platform if self.clock_mhz is None else self.platform.at(self.clock_mhz)


def simulate_directory(
    directory: Path,
    *,
    timing: Mapping[str, TimingSpec] | None = None,
    buckets: int = 120,
    seconds: float = SECONDS,
) -> Simulation:
    """Simulate the `dataflow.json` in `directory`, with the timing of tasks in `timing` replaced.

    `design.json`, where it is there, says for which board, and what was estimated, its clock too; U55C otherwise.
    Whether the design also ends with stalling pipelines it says of its own `dataflow.json`; else that is simulated,
    too. Raises InvalidInputError where a file is missing or damaged, ToolError where the run takes more than
    `seconds` of the processor.
    """
    stored = read_directory(directory)
    design = stored.design.with_timing(timing or {})
    simulation = simulate_design(design, stored.platform, clock_mhz=stored.clock_mhz, buckets=buckets, seconds=seconds)
    stalling = stored.stalling if design == stored.design else None
    if stalling is None and simulation.deadlock is None:
        stalling = simulate_stalling(design, stored.board, seconds)
    first = _first(design, stored.board, seconds) if LOAD in design.arguments and not simulation.deadlock else None
    return replace(simulation, estimate_cycles=stored.estimate_cycles, stalling=stalling, first_cycles=first)


def _first(design: TimedDesign, platform: Platform, seconds: float) -> int | None:
    """Cycles of a launch that fills memories; None where it deadlocks."""
    found = simulate_design(design, platform, launches=({LOAD: 1},), buckets=0, seconds=seconds, try_depths=False)
    return found.cycles if found.deadlock is None else None


def write_simulation(simulation: Simulation, directory: Path) -> Path:
    """Keep `simulation` beside the design, in `simulation.json`."""
    file = directory / "simulation.json"
    file.write_text(json.dumps(simulation.to_json(), indent=1))
    return file


def read_directory(directory: Path) -> StoredDesign:
    """What of the design in `directory` is simulated. Raises InvalidInputError."""
    file = directory / "dataflow.json"
    data = _json(file, f"{directory} holds no design; one of an exploration is written by `millrace design export`")
    try:
        design = task_timing_from_json(data)
    except InvalidInputError as error:
        raise InvalidInputError(f"{file}: {error}") from error
    description = directory / "design.json"
    known: Any = _json(description, "") if description.exists() else {}
    if not isinstance(known, dict):
        raise InvalidInputError(f"{description} is no JSON object; compile the design again")
    fields = cast("dict[str, Any]", known)
    platform = stored_platform(directory, str(fields.get("platform", OLDEST)))
    clock, cycles = (_estimate(fields, name) for name in ("clock", "cycles"))
    return StoredDesign(design, platform, clock, cycles, _stalling(fields, file))


def _estimate(description: Mapping[str, Any], name: str) -> float | None:
    """None where it has none above 0: a design of an older release has no clock."""
    metrics: Any = description.get("metrics")
    for metric in cast("list[Any]", metrics) if isinstance(metrics, list) else []:
        match metric:
            case {"name": str() as known, "fidelity": "estimate", "value": int() | float() as value} if known == name:
                return float(value) if value > 0 else None
            case _:
                pass
    return None


def _stalling(description: Mapping[str, Any], dataflow: Path) -> StallingRun | None:
    """What the compiler found, where it was of this very `dataflow.json`."""
    match description:
        case {
            "digests": {"dataflow.json": str() as digest},
            "stalling": {"ends": bool() as ends, "cycles": int() as cycles, "fifo": fifo, "deadlock": deadlock},
        } if digest == hashlib.sha256(dataflow.read_bytes()).hexdigest():
            return StallingRun(ends, cycles, fifo, deadlock)
        case _:
            return None


def _json(file: Path, missing: str) -> Any:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInputError(f"{file} is larger than {MAX_FILE_BYTES >> 20} MiB; it is no design")
        return json.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InvalidInputError(f"{missing}: it has no {file.name}; `millrace compile` writes one") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{file} can not be read ({error}); compile the design again") from error
