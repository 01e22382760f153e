"""Whether the accelerators of cdb5aca are still those that are planned and compiled, point by point.

python -m bench.accelerators
python -m bench.accelerators --planned 20 --compiled 1

Exit code 1: some differ. Digests and points are those of tests/data/accelerators.json.gz.
"""

import argparse
import gzip
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.workload import bundle_cache
from compiler.errors import MillraceError
from compiler.frontend.bundle import Bundle, import_model
from compiler.options import Knobs, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform

KNOWN = Path(__file__).resolve().parents[1] / "tests" / "data" / "accelerators.json.gz"
PLATFORM = load_platform("u55c")


def digest(data: Any) -> str:
    """Of JSON, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def planned_digest(bundle: Bundle, knobs: Knobs) -> str:
    """Of the accelerator before its FIFOs are certified, or the error that refuses it."""
    try:
        return digest(planned_tasks(bundle.graph, knobs, PLATFORM).to_json())
    except MillraceError as error:
        return f"{type(error).__name__}: {error}"


def compiled_digest(bundle: Bundle, knobs: Knobs) -> str:
    """Of `dataflow.json`."""
    with tempfile.TemporaryDirectory() as folder:
        design = Path(folder) / "design"
        compile_design(bundle, knobs, PLATFORM, design)
        return digest(json.loads((design / "dataflow.json").read_text()))


def different(known: dict[str, Any], bundle: Bundle, planned: int, compiled: int) -> Iterator[tuple[str, int]]:
    """Which of the first points of a workload are other accelerators now, and where that shows."""
    points = [Knobs.from_json(knobs) for knobs in known["knobs"]]
    for kind, find, count in (("planned", planned_digest, planned), ("compiled", compiled_digest, compiled)):
        for number, (knobs, before) in enumerate(zip(points[:count], known[kind][:count], strict=False)):
            if find(bundle, knobs) != before:
                yield kind, number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planned", type=int, default=200, help="points of each workload to plan (all)")
    parser.add_argument("--compiled", type=int, default=10, help="points of each workload to compile (all)")
    args = parser.parse_args()
    table = Table("workload", "planned", "differ", "compiled", "differ", "which")
    same = True
    for name, known in json.loads(gzip.decompress(KNOWN.read_bytes())).items():
        workload = Workload(**known["workload"])
        bundle = import_model(workload.model, workload, bundle_cache())
        found = list(different(known, bundle, args.planned, args.compiled))
        same = same and not found
        counts = {kind: sum(k == kind for k, _ in found) for kind in ("planned", "compiled")}
        which = ", ".join(f"{kind} {number}" for kind, number in found[:8])
        row = (args.planned, counts["planned"], args.compiled, counts["compiled"])
        table.add_row(name, *map(str, row), which)
    Console().print(table)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
