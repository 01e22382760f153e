"""Wrong edits of emitted C++: how many of them does the proof of a design catch, and does it name the right task?

python -m bench.mutants
python -m bench.mutants --designs gpt2-medium-decode gemma3 --kinds constant gate --count 10
python -m bench.mutants --design /tmp/design another/design --count 6 --json mutants.json

Edits are drawn evenly: of each design and kind every task that offers a place has the same chance, then the place,
then what is written there. One that does not compile, or to the same code, is drawn again. Without `--design`, designs
are those of `bench.matrix`. Survivors are listed in full: each is a hole of the proof, or does the same in another way.
Ends with status 1 where less than 95 % of a kind or 98 % of all are caught.
"""

import argparse
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from bench.mutants.campaign import Campaign
from bench.mutants.designs import Built, Source, of_matrix, prepare, read
from bench.mutants.draw import Emitted
from bench.mutants.kinds import KINDS
from bench.mutants.report import enough, show, tallies, to_json
from bench.workload import bundle_cache
from compiler.proof.runs import QUICK, WHOLE


def main() -> int:
    arguments = _parser().parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    work: Path = arguments.work.resolve()
    sources, kinds = _sources(arguments, work), _kinds(arguments.kinds)
    console.print(f"seed {arguments.seed}, {arguments.count} of a kind, {len(sources)} designs, work in {work}")
    trials = WHOLE if arguments.whole else QUICK
    with _workers(arguments.jobs) as pool:
        campaign = Campaign(
            _prepared(sources, work, pool, console), kinds, arguments.count, arguments.seed, trials, pool
        )
        finished = _run(campaign, console)
    found = tallies(campaign.judged, kinds)
    show(console, found, campaign.unreal)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(to_json(found, campaign.unreal), indent=1))
    return 0 if finished and enough(found) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", nargs="+", default=[""], metavar="PART", help="of the matrix, by part of the name")
    parser.add_argument("--design", nargs="+", type=Path, metavar="DIR", help="compiled designs instead of the matrix")
    parser.add_argument(
        "--kinds", nargs="+", default=[""], metavar="KIND", help=f"or their beginnings: {', '.join(KINDS)}"
    )
    parser.add_argument(
        "--count", type=int, default=40, help="mutants of a kind, over all designs (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="side by side (default: one a core)")
    parser.add_argument(
        "--whole", action="store_true", help="every run of a whole proof instead of those of a quick one"
    )
    home = bundle_cache().parent / "mutants"
    parser.add_argument("--work", type=Path, default=home, help="keeps designs and builds (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keeps every mutant and what became of it")
    return parser


def _sources(arguments: argparse.Namespace, work: Path) -> list[Source]:
    if arguments.design:
        return [Source(directory.name, directory.resolve()) for directory in arguments.design]
    return [source for source in of_matrix(work) if any(part in source.name for part in arguments.designs)]


def _kinds(wanted: Sequence[str]) -> list[str]:
    return [kind for kind in KINDS if any(kind.lower().startswith(start.lower()) for start in wanted)]


@contextmanager
def _workers(jobs: int) -> Generator[Executor]:
    """Processes that leave an interrupt to this one. Not forked: they would share the threads of the progress bar."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    spawn, ignore = multiprocessing.get_context("spawn"), (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(jobs, spawn, initializer=signal.signal, initargs=ignore)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _prepared(
    sources: Sequence[Source], work: Path, pool: Executor, console: Console
) -> dict[str, tuple[Built, Emitted]]:
    with _progress(console) as progress:
        bar = progress.add_task("compile, build, prove", total=len(sources))
        found = dict[str, tuple[Built, Emitted]]()
        for built in pool.map(prepare, sources, [work] * len(sources)):
            found[built.name] = built, read(built.directory).emitted(built.name)
            progress.advance(bar)
    return found


def _run(campaign: Campaign, console: Console) -> bool:
    """Whether it was let finish."""
    with _progress(console) as progress:
        bar = progress.add_task("mutants", total=campaign.count * len(campaign.kinds))

        def progressed() -> None:
            survived = sum(judged.fate == "survived" for judged in campaign.judged)
            progress.update(bar, advance=1, description=f"mutants, {survived} survived")

        try:
            campaign.run(progressed)
        except KeyboardInterrupt:
            console.print("stopped; what was judged until then:")
            return False
    return True


def _progress(console: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, TimeRemainingColumn(), console=console)


if __name__ == "__main__":
    sys.exit(main())
