"""How well the search's quick test of dies and wires agrees with the exact placer. Aim: of designs whose fullest die is
at 50 to 90 % by the estimate, the exact placer refuses at most 2 % of those that pass, and places at most 5 % of those
that the test refuses.

python -m bench.place --store place.jsonl
python -m bench.place --designs 40 --workload gpt2-medium:decode:128

Designs are drawn evenly from the space of each workload, by the seed, until there are enough whose fullest die is in
that range. The exact placer is that of `millrace compile`: memories bound for the board and its dies, tasks placed by
the solver. `spread` are the designs that do not fit the die with the HBM: only they need a search. `undecided` were
neither placed nor proved to have no placement. Seconds are of the processor, for one design, its estimate included.
With `--store` a run that was stopped goes on where it was. Five minutes on one core.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from statistics import fmean
from time import process_time
from typing import Any, cast, get_args

from rich.console import Console
from rich.table import Table

from bench.workload import bundle_cache
from compiler.analysis.estimate import DIE_BOUNDS, estimate
from compiler.analysis.placement.board_plan import placed
from compiler.errors import MillraceError
from compiler.frontend.bundle import import_model
from compiler.options import Phase, Workload
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from dse.space import DesignSpace

WORKLOADS = ("gpt2:decode:64", "gpt2-medium:decode:128", "gpt2-medium:prefill:64", "qwen2.5-0.5b:prefill:16")
LEAST, MOST = 0.5, 0.9  # of the fullest die
MOST_REFUSED, MOST_PLACED = 0.02, 0.05
GROUPS = ("passes, placed", "passes, open", "refused")


@dataclass(frozen=True)
class Row:
    """One design, by its number among those drawn: what the test says of it (`GROUPS`), whether the exact placer places
    it and how, seconds of both.
    """

    workload: str
    number: int
    fullest: float
    test: str
    placed: bool
    method: str
    test_seconds: float
    placer_seconds: float


def rows_of(workload: str, seed: int, platform: Platform, known: Iterable[Row]) -> Iterator[Row]:
    """The designs of a workload that are in range, without end; `known` are the first of them, from a run before."""
    earlier = [row for row in known if row.workload == workload]
    model, phase, length = workload.split(":")
    assert phase in get_args(Phase)
    graph = import_model(model, Workload(model, cast("Phase", phase), int(length)), bundle_cache()).graph
    space, rng = DesignSpace(graph, platform), Random(seed)
    number = 0
    while True:
        number += 1
        knobs = space.knobs_of({p.name: rng.choice(p.choices) for p in space.parameters})
        if earlier and number <= earlier[-1].number:
            yield from (row for row in earlier if row.number == number)
            continue
        try:
            tasks = planned_tasks(graph, knobs, platform)
        except MillraceError:
            continue
        start = process_time()
        found = estimate(tasks, platform)
        tested = process_time()
        if not LEAST <= found.fullest_die <= MOST:
            continue
        refused = any(v.resource in DIE_BOUNDS for v in found.violations)
        placement = placed(tasks, platform)[1]
        yield Row(
            workload,
            number,
            found.fullest_die,
            GROUPS[2 if refused else 1 - found.placed],
            not placement.shortfalls,
            placement.method,
            tested - start,
            process_time() - tested,
        )


def summary(rows: list[Row]) -> dict[str, Any]:
    """Counts, and the two shares that have an aim."""
    passing, refused = [r for r in rows if r.test != "refused"], [r for r in rows if r.test == "refused"]
    return {
        "designs": len(rows),
        "passing": len(passing),
        "passing_not_placed": sum(not r.placed for r in passing),
        "refused": len(refused),
        "refused_but_placed": sum(r.placed for r in refused),
        "undecided": sum(not r.placed and r.method == "local" for r in rows),
    }


def holds(found: dict[str, Any]) -> bool:
    """Both aims."""
    sharp = found["passing_not_placed"] <= MOST_REFUSED * found["passing"]
    return sharp and found["refused_but_placed"] <= MOST_PLACED * found["refused"]


def show(rows: list[Row], console: Console) -> None:
    """A line for each workload and answer of the test, and the summary."""
    table = Table(title=f"{len(rows)} designs whose fullest die is at {LEAST:.0%} to {MOST:.0%}")
    for name in ("workload", "the test", "designs", "spread", "exact placer: placed", "not", "s test", "s placer"):
        table.add_column(name, justify="left" if name in {"workload", "the test"} else "right")
    for workload in dict.fromkeys(r.workload for r in rows):
        for group in GROUPS:
            mine = [r for r in rows if (r.workload, r.test) == (workload, group)]
            if not mine:
                continue
            spread, yes = sum(r.method != "one-die" for r in mine), sum(r.placed for r in mine)
            seconds = (fmean(r.test_seconds for r in mine), fmean(r.placer_seconds for r in mine))
            counts = (len(mine), spread, yes, len(mine) - yes)
            table.add_row(workload, group, *map(str, counts), *(f"{s:.3f}" for s in seconds))
    console.print(table)
    for name, count in summary(rows).items():
        console.print(f"{name:20} {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", action="append", dest="workloads", help=f"default: {' '.join(WORKLOADS)}")
    parser.add_argument("--designs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path, metavar="FILE", help="designs so far, a line of JSON each")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    platform, names = load_platform("u55c"), arguments.workloads or list(WORKLOADS)
    store: Path | None = arguments.store
    known = [Row(**json.loads(line)) for line in store.read_text().splitlines()] if store and store.exists() else []
    rows = list[Row]()
    for k, name in enumerate(names):
        count = arguments.designs * (k + 1) // len(names) - arguments.designs * k // len(names)
        for row in islice(rows_of(name, arguments.seed, platform, known), count):
            rows.append(row)
            if store and row not in known:
                with store.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    if arguments.json:
        print(json.dumps({**summary(rows), "rows": [asdict(row) for row in rows]}))
    else:
        show(rows, Console())
    if not holds(summary(rows)):
        raise SystemExit("the test misses its aim")


if __name__ == "__main__":
    main()
