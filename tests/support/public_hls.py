"""Builds emitted C++ with AMD's public headers (tests/third_party/ap_types) instead of our stand-ins.

The public set lacks hls_vector.h and float functions in hls_math.h: those are ours. Its streams never fill, so a kernel
runs task after task, without fibres.
"""

import subprocess
from pathlib import Path

from compiler.simulator.csim.build import INCLUDE_DIR

TESTS = Path(__file__).resolve().parents[1]
INCLUDES = (TESTS / "support" / "public_headers", TESTS / "third_party" / "ap_types", INCLUDE_DIR)
# C++14 is what hls.cfg and run_hls.tcl ask of the tools.
PUBLIC = ("g++", "-std=c++14", "-Wall", "-Wextra", "-Wno-unknown-pragmas", *(f"-isystem{i}" for i in INCLUDES))


def check_syntax(hls: Path) -> None:
    """Every source of the folder parses, without a warning."""
    _run(hls, "-Werror", "-fsyntax-only")


def build_public(hls: Path, program: Path) -> Path:
    """The design with its testbench as one executable."""
    _run(hls, "-O1", "-ffp-contract=off", "-o", str(program))
    return program


def _run(hls: Path, *arguments: str) -> None:
    # One translation unit: the headers take longer than the design.
    sources = "".join(f'#include "{source}"\n' for source in sorted(hls.resolve().glob("*.cpp")))
    command = [*PUBLIC, *arguments, "-x", "c++", "-"]
    finished = subprocess.run(command, input=sources, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[:4000]
