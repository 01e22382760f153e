"""The whole network on a board, from the command line of the machine that has it."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .design import load_design
from .network import Network
from .session import Placed, generate
from .xrt import MissingXrtError, RunError, load_pyxrt


def main() -> None:
    """The program `host/generate.py`."""
    parser = argparse.ArgumentParser(description="Generate tokens with the whole network on a board.")
    parser.add_argument("network", type=Path, help="folder network/ that millrace generate --out wrote")
    parser.add_argument("--prefill", nargs=2, type=Path, required=True, metavar=("DESIGN", "XCLBIN"))
    parser.add_argument(
        "--decode",
        nargs=3,
        type=Path,
        required=True,
        metavar=("DESIGN", "HEAD", "XCLBIN"),
        help="the decode design, the head, and the xclbin that both are linked into",
    )
    parser.add_argument("--tokens", type=int, help="how many (default: as many as the reference has)")
    parser.add_argument("--device", type=int, default=0, help="number of the board (default 0)")
    options = parser.parse_args()
    network = Network(options.network)
    expected = [int(token) for token in network.reference()["tokens"]]
    count = options.tokens or len(expected)
    room = network.description.length - len(network.description.prompt) + 1
    if not 1 <= count <= room:
        parser.error(f"--tokens is {count}; the decode design has room for 1 to {room}")
    prefill = Placed(load_design(options.prefill[0]), options.prefill[1])
    decode, head = (Placed(load_design(design), options.decode[2]) for design in options.decode[:2])
    try:
        _run(network, (prefill, decode, head), count, expected, options.device)
    except (MissingXrtError, RunError) as error:
        sys.exit(str(error))


def _run(network: Network, placed: tuple[Placed, Placed, Placed], count: int, expected: list[int], number: int) -> None:
    """`placed` are the prefill design, the decode design and the head."""
    xrt = load_pyxrt()
    ends: list[float] = []
    tokens: list[int] = []
    for step in generate(xrt, xrt.device(number), network, *placed, count):
        ends.append(time.perf_counter())
        tokens.append(step.token)
        print(step.token, flush=True)
    equal = tokens[: len(expected)] == expected[:count]
    if len(ends) > 2:  # the second token's time holds the loading of the decode design
        seconds = (ends[-1] - ends[1]) / (len(ends) - 2)
        print(f"{seconds * 1e3:.3f} ms a token (host clock, embedding included)")
    print(f"tokens {'equal' if equal else 'DIFFER from'} the reference's")
    sys.exit(0 if equal else 1)
