"""Whole replies by the best design that an exploration finds.

    .venv/bin/python -m bench.explored_replies                                   # four families, all layers
    .venv/bin/python -m bench.explored_replies gpt2 --budget 300 --seeds 0 1 2
    .venv/bin/python -m bench.explored_replies gpt2-medium --layers 2 --kept /tmp/replies    # goes on where it stopped

Explored is what `millrace explore MODEL --phase token` explores: `--objectives` of the estimate, the usual space, all
cores. Of the front the fastest design, and of those within 15 % of it the one with the soonest first token, are planned
again for all layers, certified, placed and simulated: a prompt of 128 tokens, then 128 in the same launch
(`compiler/whole_token.py`); with `--usual` so is the design of the usual knobs, which is slow to simulate. Designs a
second are those of the search; processor seconds those of one design. Remove `--kept` when the compiler has changed.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.board_limit.planned import FAMILIES, plan
from bench.workload import NoSink
from compiler.frontend.bundle import import_model
from compiler.frontend.models.config import resolve_model
from compiler.options import Knobs, Precision, Workload, context_of
from compiler.platforms.platform import Platform, load_platform
from dse.explore import EvaluatedDesign, SearchOptions, search
from dse.objectives import LATENCY, PROMPT_TIME, usual

NEARLY = 0.15  # by estimate, whose error differs among designs
METRICS = ("tokens_per_second", "first_token_time", "reply_time", "energy_per_token", "hbm_share")


@dataclass(frozen=True)
class Wanted:
    """What is explored and planned: replies of `prompt` tokens and `steps` behind the first."""

    model: str
    layers: int
    precision: Precision
    prompt: int
    steps: int
    kept: Path

    @property
    def positions(self) -> int:
        return self.prompt + self.steps


def explored(wanted: Wanted, options: SearchOptions, platform: Platform) -> tuple[Mapping[str, Knobs], float]:
    """The chosen designs of the front, and designs a second; kept by what was asked. Raises SystemExit without one."""
    name = f"{Path(wanted.model).name}-{wanted.layers}-{wanted.precision}-{wanted.positions}"
    file = wanted.kept / f"{name}-{'-'.join(options.objectives)}-{options.budget}-{options.seed}.json"
    if not file.exists():
        length = context_of(wanted.positions)
        workload = Workload(wanted.model, "token", length, wanted.precision, layers=wanted.layers)
        bundle = import_model(wanted.model, workload, wanted.kept / "bundles")
        begun = time.perf_counter()
        found = search(bundle.graph, platform, options, NoSink())
        rate = len(found.designs) / (time.perf_counter() - begun)
        if not found.front:
            raise SystemExit(f"{wanted.model}: none of {len(found.designs)} designs is feasible")
        chosen = {what: design.knobs.to_json() for what, design in _chosen(found.front).items()}
        file.write_text(json.dumps({"knobs": chosen, "rate": rate}))
    kept = json.loads(file.read_text())
    return {what: Knobs.from_json(knobs) for what, knobs in kept["knobs"].items()}, kept["rate"]


def _chosen(front: Sequence[EvaluatedDesign]) -> Mapping[str, EvaluatedDesign]:
    times = {design.key: design.evaluation.objectives((LATENCY, PROMPT_TIME)) for design in front}
    fastest = min(front, key=lambda design: times[design.key])
    nearly = [design for design in front if times[design.key][0] <= (1 + NEARLY) * times[fastest.key][0]]
    return {"fastest": fastest, "soonest first token": min(nearly, key=lambda design: times[design.key][1])}


def row(wanted: Wanted, what: str, knobs: Knobs, rate: str, platform: Platform) -> tuple[str, ...]:
    begun = time.process_time()
    planned = plan(wanted.model, knobs, wanted.positions, platform, wanted.kept, wanted.precision, wanted.layers)
    spent = time.process_time() - begun
    reply = planned.reply(wanted.prompt, wanted.steps)
    found = {metric.name: metric.value for metric in reply.metrics}
    values = [f"{found[name]:,.4g}" for name in METRICS]
    share, resource = planned.fullest_die()
    return what, *values, f"{100 * share:.0f} % {resource}", f"{spent:.1f}", rate, "; ".join(planned.exceeded) or "none"


def rows(
    wanted: Wanted, searches: Sequence[SearchOptions], platform: Platform, *, with_usual: bool
) -> Iterator[tuple[str, ...]]:
    if with_usual:
        yield row(wanted, "usual", Knobs(), "", platform)
    for options in searches:
        chosen, rate = explored(wanted, options, platform)
        for what, knobs in chosen.items():
            yield row(wanted, f"seed {options.seed}, {what}", knobs, f"{rate:.2f}", platform)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=FAMILIES, help="built-in names or folders")
    parser.add_argument("--budget", type=int, default=200, help="designs (default: %(default)s)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="default: 0")
    parser.add_argument("--objectives", nargs="+", default=[*usual("token")], help="default: %(default)s")
    parser.add_argument("--layers", type=int, help="only the first (default: all)")
    parser.add_argument("--precision", default="w4a8", help="default: %(default)s")
    parser.add_argument("--prompt", type=int, default=128, help="tokens (default 128)")
    parser.add_argument("--steps", type=int, default=128, help="tokens after the first (default 128)")
    parser.add_argument("--jobs", type=int, help="processes (default: a core each)")
    parser.add_argument("--usual", action="store_true", help="a design that nobody explored, too")
    parser.add_argument("--kept", type=Path, help="where designs and searches are kept (default: nowhere)")
    args = parser.parse_args()
    platform, objectives = load_platform("u55c"), tuple(args.objectives)
    searches = [SearchOptions(args.budget, seed, jobs=args.jobs, objectives=objectives) for seed in args.seeds]
    with tempfile.TemporaryDirectory() as folder:
        kept = args.kept or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for model in args.models:
            layers = args.layers or resolve_model(model).config.layers
            wanted = Wanted(model, layers, args.precision, args.prompt, args.steps, kept)
            title = f"{model}, {layers} layers, {args.precision}, {args.prompt} + {args.steps}, best of {args.budget}"
            names = ("tokens/s", "first token, ms", "reply, ms", "mJ a token", "HBM, %")
            table = Table(
                "design", *names, "fullest die", "planned, CPU s", "designs/s", "over", title=f"{title} (simulate)"
            )
            for one in rows(wanted, searches, platform, with_usual=args.usual):
                print(model, *one, sep="; ", file=sys.stderr, flush=True)
                table.add_row(*one)
            Console(width=180).print(table)


if __name__ == "__main__":
    main()
