"""An exploration of a network of `bench.networks`: its front, designs a second, and what each level of knobs brings.

python -m bench.exploration resnet18 --budget 300
nice python -m bench.exploration resnet18 --budget 300 --kept search.pickle    # goes on where it was stopped

In the network's own precision, or `--precision`; one process. The front is by estimate: latency, energy and area, and
how the knobs of each level (`bench.search_levels`) that are not the usual ones share in it: the fastest design and the
knee with all knobs of one level as usual, all others as they are. `--kept` is a file of its own making,
which is unpickled: name no other.
"""

import argparse
import pickle
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.networks import NETWORKS, exported
from bench.search_levels import LEVELS, usual_of
from bench.workload import bundle_cache
from compiler.frontend.bundle import import_model
from compiler.frontend.inputs.source import whole_network
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from dse.evaluate import Evaluation, evaluate, judged
from dse.explore import EvaluatedDesign, SearchOptions, search
from dse.space import DesignSpace

COLUMNS = ("latency", "energy", "area", "lut", "dsp", "uram", "hbm_ports")


class _Kept:
    """What is known of the search, in a file where it has one."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self.designs: list[EvaluatedDesign] = []
        if file is not None and file.exists():
            self.designs = pickle.loads(file.read_bytes())  # of our own

    def write(self, designs: Sequence[EvaluatedDesign]) -> None:
        self.designs += designs
        if self._file is not None:
            part = self._file.with_suffix(".part")
            part.write_bytes(pickle.dumps(self.designs))
            part.rename(self._file)

    def should_stop(self) -> bool:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("--precision", help="default: the network's own")
    parser.add_argument("--budget", type=int, default=300, help="designs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path, help="file of the search")
    arguments = parser.parse_args()
    network, console, kept = NETWORKS[arguments.network], Console(width=160), _Kept(arguments.kept)
    with tempfile.TemporaryDirectory() as folder:
        source = exported(arguments.network, "onnx", Path(folder))
        asked = replace(whole_network(arguments.network), precision=arguments.precision or network.precision)
        graph = import_model(source, asked, bundle_cache()).graph
    known, begun = list(kept.designs), time.monotonic()
    options = SearchOptions(arguments.budget, arguments.seed, jobs=1)
    found = search(graph, load_platform("u55c"), options, kept, known)
    seconds, new = time.monotonic() - begun, len(found.designs) - len(known)
    spent = sum(design.evaluation.seconds for design in found.designs)
    feasible = sum(design.evaluation.feasible for design in found.designs)
    console.print(
        f"{arguments.network}: {len(found.designs)} designs, {feasible} feasible, front {len(found.front)}; "
        f"{new} in {seconds:.0f} s, {len(found.designs) / max(spent, 1e-9):.2f} designs/s of evaluation"
    )
    front = Table("number", *COLUMNS, "knobs that are not the usual ones", title="front")
    for design in found.front:
        front.add_row(str(design.number), *_row(design.evaluation), _changed(design.knobs))
    console.print(front)
    if found.knee is not None:
        console.print(_levels(graph, {"fastest": found.front[0], "knee": found.knee}))


def _levels(graph: LinalgGraph, designs: dict[str, EvaluatedDesign]) -> Table:
    """The designs with the usual knobs of one level after the other."""
    table, platform = Table("design", "level as usual", *COLUMNS, title="levels"), load_platform("u55c")
    space = DesignSpace(graph, platform)
    for name, design in designs.items():
        table.add_row(name, "none", *_row(design.evaluation))
        known = space.params_of(design.knobs)
        assert known is not None, "it was found there"
        for level in LEVELS:
            changed = space.knobs_of(known | usual_of(space, level))
            table.add_row(name, level, *_row(judged(evaluate(graph, changed, platform), graph, platform)))
    return table


def _row(found: Evaluation) -> tuple[str, ...]:
    """Metrics, marked where a design exceeds the board, or why there is none."""
    if not found.priced:
        return (found.reason or "not built", *[""] * (len(COLUMNS) - 1))
    values = {metric.name: metric.value for metric in found.metrics}
    first, *others = (f"{values.get(name, 0):,.1f}" for name in COLUMNS)
    exceeded = ", ".join(str(violation.resource) for violation in found.violations)
    return (f"{first} (exceeds {exceeded})" if exceeded else first, *others)


def _changed(knobs: Knobs) -> str:
    usual, made = Knobs().to_json(), knobs.to_json()
    changed = {name: value for name, value in made.items() if value != usual[name] and name != "overrides"}
    overrides = [f"{len(knobs.overrides)} overrides"] if knobs.overrides else []
    return ", ".join([*(f"{name}={value}" for name, value in changed.items()), *overrides])


if __name__ == "__main__":
    main()
