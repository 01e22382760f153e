"""Cost of a token in C simulation, in nanoseconds: without blocking, and in ping-pong through a stream of depth 2.

Run: .venv/bin/python bench/csim_stream.py [tokens]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from compiler.simulator.csim.build import INCLUDE_DIR, RUNTIME_SOURCE, flags_of


def main(tokens: int) -> None:
    source = Path(__file__).with_suffix(".cpp")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bench"
        subprocess.run(["g++", *flags_of("g++"), "-I", INCLUDE_DIR, source, RUNTIME_SOURCE, "-o", program], check=True)
        output = subprocess.run([program, str(tokens)], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        name, depth, nanoseconds = line.rsplit(",", 2)
        print(f"{name:50} {'depth ' + depth if depth != '0' else '':12} {float(nanoseconds):8.2f} ns")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
