"""The whole network on a board, from the command line of the machine that has it."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .design import load_design
from .network import DamagedError, Network
from .session import ended, generate
from .xrt import MissingXrtError, RunError, load_pyxrt

DESIGN = Path(__file__).resolve().parents[2]


def main() -> None:
    """The program `host/generate.py`."""
    parser = argparse.ArgumentParser(description="Generate tokens with this design on a board.")
    parser.add_argument("network", type=Path, help="folder network/ that millrace generate --out wrote")
    parser.add_argument("xclbin", type=Path)
    parser.add_argument("--tokens", type=int, help="how many (default: as many as the reference has)")
    parser.add_argument("--end", type=int, help="id of the token that ends the reply before")
    parser.add_argument("--device", type=int, default=0, help="number of the board (default 0)")
    options = parser.parse_args()
    try:
        _generate(options, parser)
    except (DamagedError, MissingXrtError, RunError) as error:
        sys.exit(str(error))


def _generate(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    network = Network(options.network)
    expected = [int(token) for token in network.reference()["tokens"]]
    said = network.description
    if said.then and (options.tokens, options.end) != (None, None):
        parser.error(f"the network was exported with {len(said.turns)} turns, which say how many tokens, and their end")
    count, end = options.tokens or said.tokens, said.end if options.end is None else options.end
    room = said.length - len(said.prompt) + 1
    if not 1 <= count <= room:
        parser.error(f"--tokens is {count}; the design has room for 1 to {room}")
    words = len(network.tensors()["embedding"])
    if end is not None and not 0 <= end < words:
        parser.error(f"--end is {end}; the network has tokens 0 to {words - 1}")
    expected = expected if said.then else expected[: ended(expected[:count], end)]
    _run(network, options.xclbin, count, expected, end, options.device)


def _run(network: Network, xclbin: Path, count: int, expected: list[int], last: int | None, number: int) -> None:
    xrt = load_pyxrt()
    starts, end = list[float](), 0.0
    tokens: list[int] = []

    def on_launch(_phase: str) -> None:
        starts.append(time.perf_counter())

    for step in generate(xrt, xrt.device(number), network, load_design(DESIGN), xclbin, count, on_launch, last):
        end = time.perf_counter()
        tokens.append(step.token)
        print(step.token, flush=True)
    equal = tokens[: len(expected)] == expected
    print(f"{(end - starts[0]) / len(tokens) * 1e3:.3f} ms a token, with its share of the prompt (host clock)")
    print(f"tokens {'equal' if equal else 'DIFFER from'} the reference's")
    sys.exit(0 if equal else 1)
