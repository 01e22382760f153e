"""The `hls/` folder's C++: declarations, tasks, kernel tops."""

from compiler.analysis.memory import stream_memory
from compiler.analysis.operators import PACKED
from compiler.analysis.ports import OUTSTANDING_BURSTS
from compiler.graph.abreast import Abreast, copy_name
from compiler.graph.task_graph import CONTROL, CONTROL_DEPTH, ComputeTask, EngineTask, RomTask, Stream, TaskGraph
from compiler.platforms.memories import Memories
from compiler.platforms.platform import Platform
from compiler.targets.interface import Interface, Kernel, Port
from compiler.targets.parameters import stream_extents, task_parameters
from compiler.targets.tasks.control import control_parameters, control_streams, emit_control, row_streams
from compiler.targets.tasks.emitter import TaskEmitter
from compiler.targets.tokens import fifo_type, is_packed, part_names, parts_of, token_alias
from compiler.targets.writer import CppWriter

FIFO_IMPL = {"registers": "srl", "lutram": "lutram", "bram": "bram", "uram": "uram"}


def tasks_header(tasks: TaskGraph, interface: Interface) -> str:
    """`<name>_tasks.h`: token types and a declaration of every task's function."""
    out = CppWriter()
    out.comment(f"Tasks of {tasks.name}: a call is a dataflow process.")
    out.line("#pragma once")
    out.line()
    for header in ("ap_int.h", *_burst_header(interface), "hls_stream.h", "hls_vector.h"):
        out.line(f"#include <{header}>")
    out.line()
    if any(parts_of(stream.itensor) > 1 for stream in tasks.streams):
        out.line('#include "wide_token.h"')
        out.line()
    aliases = {token_alias(s.itensor, tasks.port_bits) for s in tasks.streams}
    for alias in sorted(a for a in aliases if a is not None):
        out.line(alias)
    out.line()
    for function in interface.functions:
        parameters = task_parameters(function.task, tasks, function.name)
        out.statement(f"void {function.name}", [p.declaration for p in parameters], ";")
    if tasks.control is not None:
        out.statement(f"void {CONTROL}", [p.declaration for p in control_parameters(tasks)], ";")
    return out.text()


def weights_file(interface: Interface) -> str:
    """What holds the tensors that stay on the chip, where there are any."""
    return f"{interface.name}_weights.h"


def tasks_source(tasks: TaskGraph, interface: Interface) -> str:
    """`<name>_tasks.cpp`: the function of every task, in the order of the data."""
    out = CppWriter()
    out.line(f'#include "{interface.name}_tasks.h"')
    if any(isinstance(task, RomTask) and task.filled is None for task in tasks.tasks):
        out.line(f'#include "{weights_file(interface)}"')
    out.line()
    if tasks.control is not None or any(task.credits for task in tasks.transfers):
        out.line("#include <ap_utils.h>")
    out.line("#include <hls_math.h>")
    out.line()
    out.line("#include <cmath>")
    out.line()
    if any(
        core.endswith(PACKED)
        for task in tasks.tasks
        if isinstance(task, ComputeTask | EngineTask)
        for core, _ in task.operators
    ):
        out.line('#include "mul2.h"')
    if any(is_packed(s.itensor) for s in tasks.streams):
        out.line('#include "packed_token.h"')
    out.line('#include "reduce_tree.h"')
    out.line('#include "stream_pack.h"')
    out.line()
    emitter = TaskEmitter(tasks, out)
    for function in interface.functions:
        if len(function.members) > 1:
            out.comment(f"For {', '.join(function.members)}.")
        emitter.emit(function.task, function.name)
    if tasks.control is not None:
        emit_control(tasks, out)
    return out.text()


def kernels_header(interface: Interface) -> str:
    """`<name>_kernels.h`: declarations of the kernel tops."""
    out = CppWriter()
    out.comment(f"Kernels of {interface.name}, in the order in which they run.")
    out.line("#pragma once")
    out.line()
    for header in ("ap_int.h", *_burst_header(interface)):
        out.line(f"#include <{header}>")
    out.line()
    out.line('extern "C" {')
    for kernel in interface.kernels:
        out.statement(f"void {kernel.name}", kernel.parameters, ";")
    out.line("}")
    return out.text()


def _burst_header(interface: Interface) -> tuple[str, ...]:
    """What declares ports whose bursts are asked for by hand, where there are any."""
    return ("hls_burst_maxi.h",) if any(p.asks for ports in interface.task_ports.values() for p in ports) else ()


def kernel_source(kernel: Kernel, tasks: TaskGraph, interface: Interface, platform: Platform) -> str:
    """`<kernel>.cpp`: the dataflow region that declares the streams and calls the tasks."""
    out = CppWriter()
    out.line(f'#include "{interface.name}_kernels.h"')
    out.line(f'#include "{interface.name}_tasks.h"')
    out.line()
    out.line('extern "C" {')
    out.statement(f"void {kernel.name}", kernel.parameters, " {")
    with out.indented():
        for port in kernel.ports:
            _port_pragma(out, port, kernel, platform.hbm.burst_words)
        for argument in (*(name for _, name in kernel.numbers), "return"):
            out.pragma(f"interface mode=s_axilite port={argument}")
        out.pragma("dataflow")
        for stream in kernel.streams:
            _streams(out, stream, kernel.abreast, platform.memories)
        if tasks.control is not None:
            for kind, name in (*control_streams(tasks), *row_streams(tasks)):
                out.line(f'hls::stream<{kind}, {CONTROL_DEPTH}> {name}("{name}");')
        out.line()
        if tasks.control is not None:
            out.statement(CONTROL, [p.argument for p in control_parameters(tasks)], ";")
        for (task, copy), function in zip(kernel.calls, kernel.functions, strict=True):
            pointers = [port.name for port in interface.task_ports.get(task.name, ())]
            parameters = task_parameters(tasks.of_copy(task, copy), tasks, function, pointers, copy)
            out.statement(function, [p.argument for p in parameters], ";")
    out.line("}")
    out.line("}")
    return out.text()


def _port_pragma(out: CppWriter, port: Port, kernel: Kernel, burst: int) -> None:
    """All pointers of a bundle say the same of it, or the tool falls back to its defaults (UG1448, HLS 200-466). HLS
    lets `latency` cycles pass between a request and what follows it, 64 by default; where bursts are asked for by hand,
    those of other words are read in them.
    """
    directions = sorted({"write" if p.writes else "read" for p in kernel.ports if p.bundle == port.bundle})
    bursts = " ".join(f"max_{d}_burst_length={burst} num_{d}_outstanding={OUTSTANDING_BURSTS}" for d in directions)
    bursts += " latency=0" if port.asks else ""
    out.pragma(
        f"interface mode=m_axi port={port.name} bundle={port.bundle} offset=slave depth={kernel.depth(port)} {bursts}"
    )


def _streams(out: CppWriter, stream: Stream, rows: Abreast, memories: Memories) -> None:
    """The FIFO, and its copies for other rows side by side: an array where one task has all of them."""
    if extents := stream_extents(stream, rows):
        array = stream.name + "".join(f"[{extent}]" for extent in extents)
        for part in part_names(array, stream.itensor):
            out.line(f"hls::stream<{fifo_type(stream.itensor)}, {stream.depth}> {part};")
            _bind(out, stream, part, memories)
        return
    for copy in range(rows.copies(stream.name)):
        name, depth = copy_name(stream.name, copy), rows.depth(stream.name, stream.depth, copy)
        kind = stream.kind if depth == stream.depth else None
        one = stream._replace(name=name, depth=depth, kind=kind)
        for part in part_names(name, stream.itensor):
            out.line(f'hls::stream<{fifo_type(one.itensor)}, {depth}> {part}("{part}");')
            _bind(out, one, part, memories)


def _bind(out: CppWriter, stream: Stream, name: str, memories: Memories) -> None:
    impl = FIFO_IMPL[stream_memory(stream, memories).kind]
    out.pragma(f"bind_storage variable={name.partition('[')[0]} type=fifo impl={impl}")
