"""Networks as SystemVerilog, run by Verilator: what real registers do, beside what the simulator says they do.

The parts in `rtl/` are written by hand: FIFOs, pipelines, loop counters. This module wires them to networks, any number
of them in one build, and reads back what they print.
"""

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

from needed import need

from compiler.graph.program import Access, LoopNest, Program, Repeat, Side, nests, streams
from compiler.simulator.timing.network import Fifo, FifoRun, Network, Outcome, Process, ProcessRun

_PARTS = Path(__file__).parent / "rtl"
_INDENT = "    "
_LOOPS = 7  # of a nest at most, in `loop_nest.sv`
# They run for a moment only. In many files, Verilator's choice for many networks, each reads its headers again:
# 160 s instead of 9.
_FAST_BUILD = ("-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", "--output-split", "0")


def run_rtl(networks: Iterable[Network], folder: Path) -> list[Outcome]:
    """Build the networks in `folder` and run each until it is finished or dead."""
    need("verilator")
    need("make")
    networks = list(networks)
    source = folder / "networks.sv"
    source.write_text("\n".join([*(_network(i, n) for i, n in enumerate(networks)), _top(len(networks))]))
    parts = sorted(str(part) for part in _PARTS.glob("*.sv"))
    command = ["verilator", "--cc", "--exe", "--build", "-j", "2", "--top-module", "networks", *_FAST_BUILD]
    _run([*command, "--Mdir", str(folder / "build"), *parts, str(source), str(_PARTS / "main.cpp")])
    lines = [line.split() for line in _run([str(folder / "build" / "Vnetworks")]).splitlines()]
    return [_outcome(n, [line[1:] for line in lines if line[0] == f"n{i}"]) for i, n in enumerate(networks)]


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def _outcome(network: Network, lines: list[list[str]]) -> Outcome:
    """Of the printed lines: `end CYCLES DEADLOCKED`, `process NAME FIELDS`, `fifo NAME FIELDS`."""
    of = {tuple(line[:2]): [int(word) for word in line[2:]] for line in lines if line[0] != "end"}
    (cycles, deadlocked), *_ = ((int(line[1]), line[2] == "1") for line in lines if line[0] == "end")
    processes = tuple(ProcessRun(p.name, *of["process", p.name]) for p in network.processes)
    return Outcome(
        cycles, deadlocked, False, processes, tuple(FifoRun(f.name, *of["fifo", f.name]) for f in network.fifos)
    )


def _top(count: int) -> str:
    """All networks side by side; the simulation ends with the last of them."""
    instances = [f"{_INDENT}network_{i} n{i} (.clk, .rst, .over(over[{i}]));" for i in range(count)]
    return "\n".join(
        [
            "module networks (input logic clk, input logic rst);",
            f"{_INDENT}logic [{count - 1}:0] over;",
            *instances,
            f"{_INDENT}always_ff @(posedge clk) if (&over) $finish;",
            "endmodule",
        ]
    )


def _network(index: int, network: Network) -> str:
    """A module that prints, once it is over, everything an Outcome holds."""
    lines = [
        f"module network_{index} (input logic clk, input logic rst, output logic over);",
        f"{_INDENT}int cycle, last_event, quiet;",
        f"{_INDENT}logic event_now, is_finished;",
        *(f"{_INDENT}{line}" for fifo in network.fifos for line in _fifo(fifo, network)),
        *(f"{_INDENT}{line}" for process in network.processes for line in _process(process)),
        *(f"{_INDENT}{line}" for line in _ending(index, network)),
        "endmodule",
    ]
    return "\n".join(lines)


def _fifo(fifo: Fifo, network: Network) -> list[str]:
    """The FIFO with the wires to both ends: whether the next iteration of each uses it, and whether it does now."""
    f = fifo.name
    writer = next(p for p in network.processes if p.name == fifo.source)
    depth = fifo.depth or max(1, writer.iterations + fifo.initial)  # unbounded: room for all
    wires = ", ".join(f"{f}_{w}" for w in ("write", "full_n", "read", "empty_n", "used_in", "used_out"))
    counts = ", ".join(f"{f}_{c}" for c in ("pushed", "popped", "peak", "empty", "full"))
    ports = ", ".join(f".{p}({f}_{p})" for p in ("write", "full_n", "read", "empty_n", "pushed", "popped", "peak"))
    return [
        f"logic {wires};",
        f"int {counts};",
        f"stream_fifo #(.DEPTH({depth}), .INITIAL({fifo.initial})) {f}_fifo (.clk, .rst, {ports});",
        _tally(f"{f}_empty", f"{fifo.target}_wants_tokens && {f}_used_in && !{f}_empty_n"),
        _tally(f"{f}_full", f"{fifo.source}_wants_room && {f}_used_out && !{f}_full_n"),
    ]


def _tally(total: str, happens: str) -> str:
    return f"tally {total}_tally (.clk, .rst, .event_now, .happens({happens}), .total({total}));"


_SIGNALS = ("wants_tokens", "wants_room", "enter", "leave", "event_now", "is_empty", "is_full")


def _process(process: Process) -> list[str]:
    p = process.name
    read, written = streams(process.program, "reads"), streams(process.program, "writes")
    bits = (*_SIGNALS, "tokens", "room", "turn", "in_done", "in_run_ends", "out_done", "out_run_ends")
    return [
        f"logic {', '.join(f'{p}_{bit}' for bit in bits)};",
        f"int {', '.join(f'{p}_{count}' for count in ('entered', 'left', 'start', 'stop', 'empty', 'full'))};",
        *_nest(process, "in", "enter", "entered"),
        *_nest(process, "out", "leave", "left"),
        *_pipeline(process),
        *(line for f in read for line in _use(process, f, "reads", f"{f}_read = {p}_enter")),
        *(line for f in written for line in _use(process, f, "writes", f"{f}_write = {p}_leave")),
        f"assign {p}_tokens = {_all(f'(!{f}_used_in || {f}_empty_n)' for f in read)};",
        f"assign {p}_room = {_all(f'(!{f}_used_out || {f}_full_n)' for f in written)};",
        _tally(f"{p}_empty", f"{p}_is_empty"),
        _tally(f"{p}_full", f"{p}_is_full"),
        "always_ff @(posedge clk) begin",
        f"    if (rst) begin {p}_start <= -1; {p}_stop <= 0; end",
        f"    else begin if ({p}_enter && {p}_start < 0) {p}_start <= cycle; if ({p}_leave) {p}_stop <= cycle + 1; end",
        "end",
    ]


def _all(terms: Iterable[str]) -> str:
    return " && ".join(("1'b1", *terms))


@dataclass(frozen=True)
class _Entry:
    """A row of the table that a process goes through: a nest, and how many runs of no iterations are before it."""

    nest: LoopNest
    empty_runs: int


def _table(process: Process) -> list[_Entry]:
    table: list[_Entry] = []
    empty_runs = 0
    for nest in _in_turn(process.program):
        if nest.iterations:
            table.append(_Entry(nest, empty_runs))
            empty_runs = 0
        else:
            empty_runs += prod(nest.trips[: nest.restarts])
    return table


def _empty_runs(process: Process) -> int:
    """At most, one after the other."""
    return max((entry.empty_runs for entry in _table(process)), default=0)


def _in_turn(program: Program) -> Iterator[LoopNest]:
    for part in program:
        if isinstance(part, Repeat):
            for _ in range(part.times):
                yield from _in_turn(part.body)
        else:
            yield part


def _kinds(process: Process) -> list[LoopNest]:
    """The nests, each once: a row of the table names one by its number."""
    return list(dict.fromkeys(nests(process.program)))


def _nest(process: Process, side: str, advance: str, count: str) -> list[str]:
    """The loops of the iteration that enters next, or leaves next, and the table that they take their trips from."""
    at = f"{process.name}_{side}"
    table, kinds = _table(process), _kinds(process)
    indices = [f"{at}_i{i}" for i in range(_LOOPS)]
    trips = [f"{at}_t{i}" for i in range(_LOOPS)]
    columns = [*trips, f"{at}_restarts", f"{at}_kind"]
    ports = [f".{name.removeprefix(f'{at}_')}({name})" for name in (*indices, *trips, f"{at}_restarts", f"{at}_entry")]
    ports += [f".advance({process.name}_{advance})", f".count({process.name}_{count})"]
    ports += [f".{port}({at}_{port})" for port in ("run_ends", "nest_ends", "done")]
    rows = [
        (*entry.nest.trips, *([1] * (_LOOPS - len(entry.nest.trips))), entry.nest.restarts, kinds.index(entry.nest))
        for entry in table
    ]
    cases = [
        f"    {n}: begin {' '.join(f'{column} = {value};' for column, value in zip(columns, row, strict=True))} end"
        for n, row in enumerate(rows)
    ]
    nothing = " ".join(f"{column} = {value};" for column, value in zip(columns, (*[1] * _LOOPS, 0, -1), strict=True))
    gaps = [f"    {n}: {at}_empty_runs = {entry.empty_runs};" for n, entry in enumerate(table)]
    return [
        f"int {', '.join((*indices, *columns, f'{at}_entry', f'{at}_empty_runs', f'{at}_gap'))};",
        f"logic {at}_nest_ends;",
        f"always_comb case ({at}_entry)",
        *cases,
        f"    default: begin {nothing} end",
        "endcase",
        f"always_comb case ({at}_entry + ({at}_nest_ends ? 1 : 0))",
        *gaps,
        f"    default: {at}_empty_runs = 0;",
        "endcase",
        f"assign {at}_gap = {process.gap} * (1 + ({at}_nest_ends ? {at}_empty_runs : 0)); // to the next run",
        f"loop_nest #(.ENTRIES({len(table)})) {at} (.clk, .rst, {', '.join(ports)});",
    ]


def _use(process: Process, fifo: str, side: Side, move: str) -> list[str]:
    """Whether the iteration uses the FIFO, and the move of a token when it enters or leaves."""
    end = "in" if side == "reads" else "out"
    at = f"{process.name}_{end}"
    uses = [
        _all((f"{at}_kind == {n}", *_gates(access, at)))
        for n, nest in enumerate(_kinds(process))
        if (access := nest.access(side, fifo)) is not None
    ]
    used = f"{fifo}_used_{end}"
    return [f"assign {used} = {' || '.join(f'({use})' for use in uses)};", f"assign {move} && {used};"]


def _gates(access: Access, at: str) -> Iterator[str]:
    return (f"({at}_i{g.loop} >= {g.low} && {at}_i{g.loop} < {g.high})" for g in access.gates)


def _pipeline(process: Process) -> list[str]:
    p = process.name
    signals = ", ".join(f".{signal}({p}_{signal})" for signal in (*_SIGNALS, "tokens", "room"))
    nests = [f".{port}({p}_{port})" for port in ("in_done", "in_run_ends", "out_run_ends", "in_gap", "out_gap")]
    first = f".FIRST({process.gap * next((entry.empty_runs for entry in _table(process)), 0)})"
    if process.style == "stp":
        parameters = f".II({process.ii}), .LATENCY({process.latency}), {first}"
        ports = ", ".join([*nests, f".out_done({p}_out_done)"])
        return [f"stalling_pipeline #({parameters}) {p} (.clk, .rst, {ports}, {signals});", f"assign {p}_turn = 0;"]
    pace = f".II({process.ii}), .PER({process.per}), {first}, .DRAINS({int(process.drains)})"
    ports = ", ".join([*nests, *(f".{port}({p}_{port})" for port in ("enter", "leave", "turn"))])
    kind, parameters = "elastic_pipeline", f".LATENCY({process.latency})"
    if process.ii != process.per:
        kind, parameters = "queued_pipeline", f"{parameters}, .SLOTS({process.slots})"
    return [
        f"turn_counter #({pace}) {p}_turns (.clk, .rst, {ports});",
        f"{kind} #({parameters}) {p} (.clk, .rst, .turn({p}_turn), {signals});",
    ]


def _ending(index: int, network: Network) -> list[str]:
    """It is dead when nothing has happened for longer than anything takes."""
    patience = max(p.latency + p.gap * (1 + _empty_runs(p)) + p.ii for p in network.processes) + 1
    processes = [
        (p.name, [f"{p.name}_{field}" for field in ("entered", "start", "stop", "empty", "full")])
        for p in network.processes
    ]
    fifos = [
        (f.name, [f"{f.name}_{field}" for field in ("pushed", "popped", "peak", "empty", "full")])
        for f in network.fifos
    ]
    printed = [("end", ["last_event + 1", "!is_finished"])]
    printed += [(f"process {name}", fields) for name, fields in processes]
    printed += [(f"fifo {name}", fields) for name, fields in fifos]
    displays = [f'        $display("n{index} {what}{" %0d" * len(fs)}", {", ".join(fs)});' for what, fs in printed]
    return [
        f"assign event_now = {' || '.join(f'{p.name}_event_now' for p in network.processes)};",
        f"assign is_finished = {_all(f'{p.name}_out_done' for p in network.processes)};",
        "always_ff @(posedge clk) begin",
        "    cycle <= rst ? 0 : cycle + 1;",
        "    quiet <= rst || event_now ? 0 : quiet + 1;",
        "    if (rst) begin last_event <= -1; over <= 0; end",
        "    else if (event_now) last_event <= cycle;",
        f"    else if (!over && (is_finished || quiet > {patience})) begin",
        "        over <= 1;",
        *displays,
        "    end",
        "end",
    ]
