"""One run of a design on what its directory holds."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from .accelerator import Accelerator, program
from .design import Design, load_design
from .xrt import MissingXrtError, RunError, load_pyxrt

DESIGN = Path(__file__).resolve().parents[2]


def main() -> None:
    """The program `host/run.py`."""
    parser = argparse.ArgumentParser(description="Run this design on a board.")
    parser.add_argument("xclbin", type=Path)
    parser.add_argument("--device", type=int, default=0, help="number of the board (default 0)")
    parser.add_argument("--repeat", type=int, default=1, help="how often to run all kernels (default 1)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="ARGUMENT=VALUE", help="of every run (default: the largest)"
    )
    options = parser.parse_args()
    if not options.xclbin.is_file():
        parser.error(f"{options.xclbin} does not exist; build it with v++ -l, see README.md")
    try:
        values = {name: int(value) for name, _, value in (given.partition("=") for given in options.set)}
        _run(load_design(DESIGN), options.xclbin, options.device, options.repeat, values)
    except MissingXrtError as error:
        sys.exit(str(error))
    except ValueError as error:
        parser.error(str(error))
    except RunError as error:
        sys.exit(f"{error}; nothing is written to out/")


def _run(design: Design, xclbin: Path, device: int, repeat: int, values: Mapping[str, int]) -> None:
    xrt = load_pyxrt()
    board = xrt.device(device)
    accelerator = Accelerator(xrt, board, design, program(xrt, board, xclbin))
    accelerator.load_files()
    accelerator.give(values)
    if not accelerator.is_loaded:
        start = time.perf_counter()
        accelerator.start()
        print(f"{design.name}: {(time.perf_counter() - start) * 1e6:.1f} us the first run, which fills memories")
    start = time.perf_counter()
    for _ in range(repeat):
        accelerator.start()
    seconds = (time.perf_counter() - start) / repeat
    save_outputs(accelerator)
    print(f"{design.name}: {seconds * 1e6:.1f} us a run (host clock), results in {design.directory / 'out'}")


def save_outputs(accelerator: Accelerator) -> None:
    """Write every result to out/, and what is kept as the last run left it."""
    folder = accelerator.design.directory / "out"
    folder.mkdir(exist_ok=True)
    for image in accelerator.design.images.values():
        if image.role in ("output", "kept"):
            for file, content in zip(image.files, accelerator.content(image), strict=True):
                (folder / Path(file).name).write_bytes(content)
