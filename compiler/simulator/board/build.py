"""Builds what programs the simulated board: the emitted C++ with a main that runs kernels on request."""

import json
from collections.abc import Sequence
from pathlib import Path

from compiler.simulator.csim.build import build, calls_of

FOLDER = "board"
EXECUTABLE = "csim"


def build_board(design: Path, jobs: int | None = None, timeout_s: float = 600, *, is_short: bool = False) -> Path:
    """Build the design in the directory `design`, once: later calls return the same executable. `is_short`: what it
    will run is (`compiler.simulator.csim.build`).

    Raises ToolError with the first errors where g++ fails or is missing.
    """
    work = design / FOLDER
    program = work / EXECUTABLE
    if program.is_file():
        return program
    work.mkdir(exist_ok=True)
    manifest = json.loads((design / "params" / "manifest.json").read_text())
    calls = calls_of(design)
    main = work / "board_main.cpp"
    main.write_text(_main(manifest["name"], list(calls)))
    return build(design / "hls", work, calls, jobs, timeout_s, main=main, is_short=is_short)


def _main(name: str, kernels: Sequence[str]) -> str:
    table = ", ".join(f'millrace::board::kernel<{kernel}>("{kernel}")' for kernel in kernels)
    return (
        f'#include "millrace/board.h"\n\n#include "{name}_kernels.h"\n\n'
        f"int main(int argc, char** argv) {{ return millrace::board::serve({{{table}}}, argc, argv); }}\n"
    )
