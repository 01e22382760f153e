"""`tb.cpp`: runs the kernels of a design in sequence and compares what they leave in memory with what is expected."""

from compiler.graph.program import LOAD
from compiler.targets.expected import expected_file, valid_file
from compiler.targets.interface import Interface
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.writer import INDENT, CppWriter, identifier

SUMMARY = (
    "Testbench: tb [design directory] [folder for the outputs] [ARGUMENT=VALUE]... Runs the kernels in sequence on "
    "params/ and tb/ and compares the outputs with the expected ones in tb/. Arguments of the launch that are not "
    "given have their largest values. Ends with 0 where all are within their tolerance, 1 where one is not, 2 where "
    "a file or a value can not be used."
)
LOOPS = (
    "Some tasks close loops. The C simulation of Vitis runs tasks one after the other, so the first of a loop reads an "
    "empty stream: it can not simulate this design, nor can cosimulation, which begins with it."
)


def tb_source(interface: Interface, tolerance: float) -> str:
    """The program; an output of f32 may be off by `tolerance` times the largest magnitude of its expected values."""
    out = CppWriter()
    out.comment(SUMMARY)
    if any(stream.feedback for kernel in interface.kernels for stream in kernel.streams):
        out.comment(LOOPS)
    out.line("#include <sys/stat.h>")
    out.line()
    if any(argument.name == LOAD for argument in interface.arguments):
        out.line("#include <algorithm>")
        out.line("#include <cstdio>")
    out.line("#include <string>")
    out.line()
    out.line(f'#include "{interface.name}_kernels.h"')
    out.line('#include "compare_image.h"')
    out.line('#include "memory_image.h"')
    out.line()
    with out.block("int main(int argc, char** argv)"):
        out.line("const std::string design = argc > 1 ? argv[1] : find_design(argv[0]);")
        out.line('const std::string results = argc > 2 ? argv[2] : design + "/out";')
        for argument in interface.arguments:
            name = identifier(argument.name)
            kind = "int" if argument.name == LOAD else "const int"
            out.line(f'{kind} {name} = launch_argument(argc, argv, "{argument.name}", {argument.most});')
        _read_memory(out, interface)
        out.line()
        _run_kernels(out, interface)
        if any(argument.name == LOAD for argument in interface.arguments):
            _run_again(out, interface)
        out.line()
        _write_and_compare(out, interface, tolerance)
    return out.text()


def _read_memory(out: CppWriter, interface: Interface) -> None:
    if interface.scalars:
        size = 4 * len(interface.scalars)
        out.line(f'const std::vector<unsigned char> scalars = read_bytes(design + "/params/scalars.bin", {size});')
    copied = {(p.image.name, p.channel): kernel.depth(p) for kernel in interface.kernels for p in kernel.ports}
    for image in interface.images:
        for channel in range(image.dma.channels):
            words, name = image.dma.words, f"{image.name}_{channel}"
            if image.is_given:
                out.line(f'MemoryImage {name} = read_image(design + "/{image.file(channel)}", {words});')
            else:
                out.line(f"MemoryImage {name}({words});")
            if (depth := copied.get((image.name, channel), words)) > words:
                out.line(f"{name}.reserve({depth});  // as many as co-simulation copies, of all of its port")


def _run_kernels(out: CppWriter, interface: Interface) -> None:
    position = {s.name: k for k, s in enumerate(interface.scalars)}
    for kernel in interface.kernels:
        pointers = [f"{p.image.name}_{p.channel}.data()" for p in kernel.ports]
        values = [f"scalar<{C_TYPE[s.dtype]}>(scalars, {position[s.name]})" for s in kernel.scalars]
        out.statement(kernel.name, [*pointers, *values, *(identifier(a.name) for a in kernel.arguments)], ";")


def _run_again(out: CppWriter, interface: Interface) -> None:
    """A launch that finds its memories filled, and gives the same: what they were filled with has gone, and the results
    of before too.
    """
    results = [
        f"{image.name}_{channel}"
        for image in interface.images
        if image.role == "output"
        for channel in range(image.dma.channels)
    ]
    out.line("bool same = true;")
    with out.block(f"if ({LOAD})"):
        out.comment("What memories keep is all that the next launch has.")
        for image in interface.images:
            if image.fills:
                out.line(f"std::fill({image.name}_0.begin(), {image.name}_0.end(), 0);")
        for result in results:
            out.line(f"const MemoryImage first_{result} = {result};")
            out.line(f"std::fill({result}.begin(), {result}.end(), 0);")
        out.line(f"{LOAD} = 0;")
        _run_kernels(out, interface)
        for result in results:
            with out.block(f"if (!std::equal({result}.begin(), {result}.end(), first_{result}.begin()))"):
                out.line(f'std::fprintf(stderr, "{result} differs from the launch that filled memories\\n");')
                out.line("same = false;")


def _write_and_compare(out: CppWriter, interface: Interface, tolerance: float) -> None:
    outputs = [image for image in interface.images if image.is_made]
    out.line("mkdir(results.c_str(), 0777);")
    for image in outputs:
        for channel in range(image.dma.channels):
            out.line(f'write_image(results + "/{image.result(channel)}", {image.name}_{channel});')
    out.line()
    again = any(argument.name == LOAD for argument in interface.arguments)
    out.line(f"bool passed = {'same' if again else 'true'};")
    for image in outputs:
        element = C_TYPE[image.dma.layout.dtype]
        allowed = tolerance if image.dma.layout.dtype == "f32" else 0.0
        out.line(f'passed &= Comparison("{image.value.name}", {allowed:g})')
        for channel in range(image.dma.channels):
            files = [expected_file(image, channel), *([valid_file(image, channel)] if image.value.valid else [])]
            read = "".join(f', read_image(design + "/{file}", {image.dma.words})' for file in files)
            out.line(f"{INDENT * 4}.add<{element}>({image.name}_{channel}{read})")
        out.line(f"{INDENT * 4}.report();")
    out.line("return passed ? 0 : 1;")
