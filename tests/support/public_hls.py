"""Builds emitted C++ with AMD's public headers (tests/third_party/ap_types) instead of our stand-ins.

The public set lacks hls_vector.h and float functions in hls_math.h: those are ours. Its streams never fill, so a kernel
runs task after task, without fibres.
"""

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from compiler.simulator.csim.build import INCLUDE_DIR

TESTS = Path(__file__).resolve().parents[1]
INCLUDES = (TESTS / "support" / "public_headers", TESTS / "third_party" / "ap_types", INCLUDE_DIR)
# C++14 is what hls.cfg and run_hls.tcl ask of the tools.
PUBLIC = ("g++", "-std=c++14", "-Wall", "-Wextra", "-Wno-unknown-pragmas", *(f"-isystem{i}" for i in INCLUDES))
# Read once for all designs: that takes longer than a design. The tasks' header, which comes first, includes no more.
HEADERS = "#include <ap_int.h>\n#include <hls_stream.h>\n#include <hls_vector.h>\n"


def check_syntax(hls: Path) -> None:
    """Every source of the folder parses, without a warning."""
    _run(hls, "-Werror", "-fsyntax-only")


def build_public(hls: Path, program: Path) -> Path:
    """The design with its testbench as one executable."""
    _run(hls, "-ffp-contract=off", "-o", str(program))
    return program


def _run(hls: Path, *arguments: str) -> None:
    # One translation unit, as the headers are read once then.
    sources = "".join(f'#include "{source}"\n' for source in sorted(hls.resolve().glob("*.cpp")))
    _compile("-include", f"{_precompiled().name}/headers.h", *arguments, "-x", "c++", "-", text=sources)


@cache
def _precompiled() -> "TemporaryDirectory[str]":
    """A folder with HEADERS as headers.h, and what g++ takes in its place."""
    folder = TemporaryDirectory(prefix="public-headers-")
    headers = Path(folder.name) / "headers.h"
    headers.write_text(HEADERS)
    _compile("-x", "c++-header", "-o", f"{headers}.gch", str(headers))
    return folder


def _compile(*arguments: str, text: str | None = None) -> None:
    finished = subprocess.run([*PUBLIC, *arguments], input=text, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[:4000]
