"""The `hls/` folder's C++: declarations, tasks, kernel tops, testbench."""

from compiler.analysis.memory import fifo_cost
from compiler.graph.task_graph import Stream, TaskGraph
from compiler.targets.interface import Interface, Kernel, Port, token_alias, token_type
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.task_emitter import TaskEmitter
from compiler.targets.writer import CppWriter, identifier

FIFO_IMPL = {"registers": "srl", "lutram": "lutram", "bram": "bram", "uram": "uram"}
# Bursts of 1 KB reach the channel's full bandwidth (u55c_facts); the adapter buffers all that is outstanding, which
# `PORT_BRAM36` of compiler/analysis/resources.py counts: 256 words of 512 bits. Bursts of 4 KB would take twice that.
BURST_WORDS, OUTSTANDING_BURSTS = 16, 16


def tasks_header(tasks: TaskGraph, interface: Interface) -> str:
    """`<name>_tasks.h`: token types and a declaration of every task."""
    out = CppWriter()
    out.comment(f"Tasks of {tasks.name}: one function is one dataflow process.")
    out.line("#pragma once")
    out.line()
    for header in ("ap_int.h", "hls_stream.h", "hls_vector.h"):
        out.line(f"#include <{header}>")
    out.line()
    aliases = {token_alias(s.itensor) for s in tasks.streams}
    for alias in sorted(a for a in aliases if a is not None):
        out.line(alias)
    out.line()
    emitter = TaskEmitter(tasks, interface, out)
    for task in tasks.tasks:
        out.statement(f"void {task.name}", [p.declaration for p in emitter.parameters(task)], ";")
    return out.text()


def tasks_source(tasks: TaskGraph, interface: Interface) -> str:
    """`<name>_tasks.cpp`: every task, in the order of the data."""
    out = CppWriter()
    out.line(f'#include "{interface.name}_tasks.h"')
    out.line()
    out.line("#include <hls_math.h>")
    out.line()
    out.line("#include <cmath>")
    out.line()
    out.line('#include "reduce_tree.h"')
    out.line('#include "stream_pack.h"')
    out.line()
    emitter = TaskEmitter(tasks, interface, out)
    for task in tasks.tasks:
        emitter.emit(task)
    return out.text()


def kernels_header(interface: Interface) -> str:
    """`<name>_kernels.h`: declarations of the kernel tops."""
    out = CppWriter()
    out.comment(f"Kernels of {interface.name}, in the order in which they run.")
    out.line("#pragma once")
    out.line()
    out.line("#include <ap_int.h>")
    out.line()
    out.line('extern "C" {')
    for kernel in interface.kernels:
        out.statement(f"void {kernel.name}", kernel.parameters, ";")
    out.line("}")
    return out.text()


def kernel_source(kernel: Kernel, tasks: TaskGraph, interface: Interface) -> str:
    """`<kernel>.cpp`: the dataflow region that declares the streams and calls the tasks."""
    out = CppWriter()
    out.line(f'#include "{interface.name}_kernels.h"')
    out.line(f'#include "{interface.name}_tasks.h"')
    out.line()
    out.line('extern "C" {')
    out.statement(f"void {kernel.name}", kernel.parameters, " {")
    with out.indented():
        for port in kernel.ports:
            _port_pragma(out, port)
        for argument in (*(identifier(s.name) for s in kernel.scalars), "return"):
            out.pragma(f"interface mode=s_axilite port={argument}")
        out.pragma("dataflow")
        for stream in kernel.streams:
            _stream(out, stream)
        out.line()
        emitter = TaskEmitter(tasks, interface, out)
        for task in kernel.tasks:
            out.statement(task.name, [p.argument for p in emitter.parameters(task)], ";")
    out.line("}")
    out.line("}")
    return out.text()


def _port_pragma(out: CppWriter, port: Port) -> None:
    direction = "write" if port.writes else "read"
    out.pragma(
        f"interface mode=m_axi port={port.name} bundle=gmem_{port.name} offset=slave depth={port.image.dma.words} "
        f"max_{direction}_burst_length={BURST_WORDS} num_{direction}_outstanding={OUTSTANDING_BURSTS}"
    )


def _stream(out: CppWriter, stream: Stream) -> None:
    out.line(f'hls::stream<{token_type(stream.itensor)}, {stream.depth}> {stream.name}("{stream.name}");')
    impl = FIFO_IMPL[fifo_cost(stream.width, stream.depth).kind]
    out.pragma(f"bind_storage variable={stream.name} type=fifo impl={impl}")


def testbench(interface: Interface) -> str:
    """`tb.cpp`: runs the kernels in sequence on the memory images of the design directory."""
    out = CppWriter()
    out.comment(
        "Testbench: tb [design directory] [folder for the outputs]. Runs the kernels in sequence on params/ and tb/."
    )
    out.line("#include <sys/stat.h>")
    out.line()
    out.line("#include <string>")
    out.line()
    out.line(f'#include "{interface.name}_kernels.h"')
    out.line('#include "memory_image.h"')
    out.line()
    with out.block("int main(int argc, char** argv)"):
        out.line('const std::string design = argc > 1 ? argv[1] : folder_of(__FILE__) + "/..";')
        out.line('const std::string results = argc > 2 ? argv[2] : design + "/out";')
        if interface.scalars:
            size = 4 * len(interface.scalars)
            out.line(f'const std::vector<unsigned char> scalars = read_bytes(design + "/params/scalars.bin", {size});')
        for image in interface.images:
            for channel in range(image.dma.channels):
                words = image.dma.words
                name = f"{image.name}_{channel}"
                if image.role in {"param", "input"}:
                    out.line(f'MemoryImage {name} = read_image(design + "/{image.file(channel)}", {words});')
                else:
                    out.line(f"MemoryImage {name}({words});")
        out.line()
        position = {s.name: k for k, s in enumerate(interface.scalars)}
        for kernel in interface.kernels:
            pointers = [f"{p.image.name}_{p.channel}.data()" for p in kernel.ports]
            values = [f"scalar<{C_TYPE[s.dtype]}>(scalars, {position[s.name]})" for s in kernel.scalars]
            out.statement(kernel.name, [*pointers, *values], ";")
        out.line()
        out.line("mkdir(results.c_str(), 0777);")
        for image in interface.images:
            for channel in range(image.dma.channels if image.role == "output" else 0):
                file = image.file(channel).removeprefix("out")
                out.line(f'write_image(results + "{file}", {image.name}_{channel});')
        out.line("return 0;")
    return out.text()
