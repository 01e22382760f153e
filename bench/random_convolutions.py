"""Random convolutional networks against onnx: what the graph's interpreter computes, and what the emitted C++ does.

python -m bench.random_convolutions rows.jsonl
nice python -m bench.random_convolutions rows.jsonl --first 1000 --count 1000 --csim-every 10

Each network (tests/support/random_convolutions.py) is imported from ONNX, and its graph is interpreted and compared
with `onnx.reference`. Every tenth (`--csim-every`; 0: none) is compiled with knobs of its own, in f32, w8a8 or w4a8,
and its C++ is run and compared, task by task. A row a seed goes to the file as it is known, and seeds with a row there
are not run again: so it goes on where it was stopped. Seeds follow each other until so many networks (`--count`) were
not refused at import; in what words others were is printed. Ends with status 1 where one is wrong.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from compiler.errors import InvalidInputError, MillraceError, UnsupportedError
from compiler.frontend.bundle import Bundle, load_bundle
from compiler.frontend.convert import convert
from compiler.frontend.inputs.source import FileSource, whole_network
from compiler.frontend.interpret import interpret, outputs_of
from compiler.options import Precision
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform
from compiler.proof.csim import csim

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from onnx_models import save
from random_convolutions import random_knobs, random_network

CLOSE = 1e-5  # of the largest result: single precision, summed in another order
PRECISIONS: tuple[Precision, ...] = ("f32", "w8a8", "w4a8")


def imported(seed: int, precision: Precision, folder: Path) -> Bundle:
    """The network, imported in this process; `folder` is made."""
    (bundle := folder / "bundle").mkdir(parents=True)
    path, workload = save(random_network(seed), folder / "net.onnx"), whole_network(f"seed{seed}")
    source = FileSource(f"seed{seed}", path, "onnx")
    convert(source, replace(workload, precision=precision), bundle, lambda _: None)
    return load_bundle(bundle)


def interpreted(bundle: Bundle) -> str:
    """In what words it differs from `onnx.reference`; empty where it does not."""
    made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
    for name, result in bundle.expected().items():
        off = float(np.abs(made[name] - result).max()) / max(1.0, float(np.abs(result).max()))
        if not off <= CLOSE:
            return f"interpreter: {name} is off by {off:.1e}"
    return ""


def simulated(seed: int, precision: Precision, folder: Path) -> tuple[Precision, str]:
    """In which precision its C++ was simulated, and in what words it differs from the reference."""
    try:
        bundle = imported(seed, precision, folder)
    except InvalidInputError:  # there is nothing to quantise
        bundle = imported(seed, precision := "f32", folder / "f32")
    compile_design(bundle, random_knobs(seed), load_platform("u55c"), folder / "design")
    verdict = csim(folder / "design", jobs=1)
    return precision, "" if verdict.passed else f"csim: {verdict.message}"


def row_of(seed: int, precision: Precision | None) -> dict[str, Any]:
    """What became of one network, through csim in that precision."""
    begun = time.monotonic()
    row: dict[str, Any] = {"seed": seed, "csim": precision}
    with tempfile.TemporaryDirectory() as folder:
        try:
            bundle = imported(seed, "f32", Path(folder) / "as-it-is")
        except UnsupportedError as error:
            return row | {"refused": str(error)}
        try:
            row["wrong"] = interpreted(bundle)
            if precision and not row["wrong"]:
                row["csim"], row["wrong"] = simulated(seed, precision, Path(folder) / "compiled")
        except (MillraceError, ValueError, LookupError, AssertionError) as error:  # what it must not end with
            row["wrong"] = f"{type(error).__name__}: {error}"
    return row | {"seconds": round(time.monotonic() - begun, 2)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, help="file of the rows, JSON lines")
    parser.add_argument("--first", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument("--count", type=int, default=1000, help="networks (default: %(default)s)")
    parser.add_argument("--csim-every", type=int, default=10, help="csim of every so many (default: %(default)s)")
    arguments = parser.parse_args()
    known = arguments.rows.read_text().splitlines() if arguments.rows.exists() else []
    rows = {row["seed"]: row for row in map(json.loads, known)}
    taken, refused, every = list[dict[str, Any]](), list[dict[str, Any]](), arguments.csim_every
    with arguments.rows.open("a") as file:
        for seed in count(arguments.first):
            if len(taken) == arguments.count:
                break
            if seed not in rows:
                number = len(taken)
                rows[seed] = row_of(seed, PRECISIONS[number // every % 3] if every and number % every == 0 else None)
                print(json.dumps(rows[seed]), file=file, flush=True)
            (refused if "refused" in rows[seed] else taken).append(rows[seed])
    run, wrong = Counter(row["csim"] for row in taken if row["csim"]), [row for row in taken if row["wrong"]]
    print(f"{len(taken)} networks, {run.total()} through csim ({', '.join(f'{n} {p}' for p, n in run.items())})")
    print(f"{len(wrong)} wrong; {len(refused)} others refused")
    for row in wrong:
        print(f"seed {row['seed']}: {row['wrong']}")
    for words, times in Counter(
        re.sub(r"[0-9]+| \[ONNX.*| at [\w.]+", "", row["refused"]) for row in refused
    ).most_common():
        print(f"{times} times: {words}")
    return 1 if wrong else 0


def _general(words: str) -> str:
    """Without numbers and names."""
    return re.sub(r"[0-9]+| \[ONNX.*| at [\w.]+", "", words)


if __name__ == "__main__":
    sys.exit(main())
