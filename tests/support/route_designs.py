"""Networks of the timing simulator as designs of tasks that pass on tokens, one kernel a network, and their C++."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.program import Access, LoopNest, Program, Repeat, streams, tokens
from compiler.graph.task_graph import RouteTask, Stream, Task, TaskGraph, TimingSpec
from compiler.platforms.platform import Platform
from compiler.simulator.csim.build import build, calls_of
from compiler.simulator.timing.network import Network
from compiler.targets.emit import NetworkData, emit_design
from compiler.targets.interface import Interface, plan_interface


def routes(networks: Mapping[str, Network]) -> TaskGraph:
    """Every process of each network a task, its names behind the network's; FIFOs hold single numbers."""
    tasks: list[Task] = []
    found: list[Stream] = []
    for kernel, (name, network) in enumerate(networks.items()):
        order = {process.name: n for n, process in enumerate(network.processes)}
        for process in network.processes:
            turns = _renamed(process.program, f"{name}_")
            ports = (tuple(map(Access, streams(turns, side))) for side in ("reads", "writes"))
            timing = TimingSpec((), process.ii, process.latency, process.style, gap=process.gap)
            tasks.append(RouteTask(f"{name}_{process.name}", kernel, timing, *ports, turns=turns))
        for fifo in network.fifos:
            (source,) = (p for p in network.processes if p.name == fifo.source)
            itensor = ITensor((1,), "f32", (Loop(tokens(source.program, "writes", fifo.name), 1, 0),))
            ends = f"{name}_{fifo.source}", f"{name}_{fifo.target}"
            depth, feedback = fifo.depth or itensor.tokens, order[fifo.source] >= order[fifo.target]
            stream = Stream(f"{name}_{fifo.name}", *ends, itensor, depth, initial=fifo.initial, feedback=feedback)
            found.append(stream)
    graph = TaskGraph("routes", len(networks), tuple(tasks), tuple(found))
    graph.verify()
    return graph


def _renamed(program: Program, prefix: str) -> Program:
    def part(of: LoopNest | Repeat) -> LoopNest | Repeat:
        if isinstance(of, Repeat):
            return Repeat(of.times, _renamed(of.body, prefix))
        reads, writes = (tuple(a._replace(stream=prefix + a.stream) for a in side) for side in (of.reads, of.writes))
        return replace(of, reads=reads, writes=writes)

    return tuple(map(part, program))


def emit_routes(graph: TaskGraph, platform: Platform, folder: Path) -> Interface:
    """A design directory, as far as it can be written without a network."""
    network = LinalgGraph("routes", (), (), ())
    emit_design(graph, network, platform, NetworkData({}, {}, 0.0), folder)
    return plan_interface(graph, network)


def build_routes(graph: TaskGraph, platform: Platform, folder: Path) -> Path:
    """The program that runs kernel `number` of the design with values of its arguments: `csim NUMBER VALUE...`."""
    interface, main = emit_routes(graph, platform, folder), folder / "main.cpp"
    lines = [f'#include "{interface.name}_kernels.h"', "#include <cstdlib>", "int main(int, char** argv) {"]
    for number, kernel in enumerate(interface.kernels):
        given = ", ".join(f"std::atoi(argv[{2 + k}])" for k in range(len(kernel.arguments)))
        lines.append(f"  if (std::atoi(argv[1]) == {number}) {kernel.name}({given});")
    main.write_text("\n".join([*lines, "}", ""]))
    return build(folder / "hls", folder / "csim", calls_of(folder), main=main)
