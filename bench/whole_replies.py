"""Replies of whole networks on the simulated board, token by token beside the quantised PyTorch reference.

    .venv/bin/python -m bench.whole_replies                               # four families, two layers
    .venv/bin/python -m bench.whole_replies gpt2-medium --all-layers --cases reply --knobs fast --positions 256
    .venv/bin/python -m bench.whole_replies ./my-llama --cases turns end --precision w4a8kv8 --cache /tmp/replies
    .venv/bin/python -m bench.whole_replies gemma3-1b --taught --all-layers --cases reply --precision w4a8kv8

`reply`: 8 ids, then 16 tokens. `turns`: 28 ids, 8 tokens, 4 more ids, 8 tokens, so that prompts are shorter and longer
than a chunk and tiles of positions are crossed, up to the last position that there is. `one`: one id, then 16 tokens.
`end`: one id, until a token that ends the reply comes, which the reference says. Seeded weights, unless the folder of
a model has its own. `usual` knobs are those of `millrace generate`, with padding so that a prompt leaves out the head;
`fast` those of `bench.board_limit`; else a JSON of knobs. With `--positions` the design is one for so many, as those of
`bench.explored_replies` and `bench.board_limit` are, else one for the text alone.

Prompts are drawn until PyTorch is decided about its tokens (`bench.undecided`); how many it was not decided about is
told. With `--taught` the network is taught its reply to the first one before (`bench.taught`), which PyTorch is to be
decided about then. Equal are tokens that are PyTorch's; a design that gives another one, or hidden states beyond
rounding, ends with status 1. From there on both go on with another text, so PyTorch reads the design's then, too: `in
its text` is how many of the tokens it would have said there, and how many others where it is undecided
(docs/generate.md).
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.board_limit.planned import FAMILIES
from bench.board_limit.planned import KNOBS as FAST
from bench.taught import taught
from bench.undecided import doubt, for_each, in_its_text
from bench.workload import NamedKnobs, bundle_cache
from compiler.design_dir import OnStage
from compiler.frontend.models.config import ModelSource, resolve_model
from compiler.frontend.network import network_key
from compiler.frontend.network_export import float_model
from compiler.generation import GenerateOptions, Generation, Prepared, prepare, request_of, run
from compiler.host.network import Network
from compiler.options import Knobs, Precision, context_of
from compiler.platforms.platform import load_platform

NAMED = {"usual": Knobs(max_padding=20), "fast": FAST}
Drawn = Callable[[int], tuple[int, ...]]
CASES: Mapping[str, Callable[[Drawn], GenerateOptions]] = {
    "reply": lambda ids: GenerateOptions(ids(8), 16),
    "turns": lambda ids: GenerateOptions(ids(28), 8, length=47, then=(ids(4),)),
    "one": lambda ids: GenerateOptions(ids(1), 16),
    "end": lambda ids: GenerateOptions(ids(1), 16),
}
SHOWN = ("first_token_time", "tokens_per_second")
MOST_DRAWN = 400
LAST_OF_END = 2  # the token whose first place ends the reply


def drawn(source: ModelSource, case: str, seed: int, asked: Mapping[str, Any], count: int) -> list[GenerateOptions]:
    """The case with the options `asked`, with so many prompts."""
    rng = np.random.default_rng(seed)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(int(token) for token in rng.integers(0, source.config.vocab_size, count))

    return [replace(CASES[case](ids), **asked) for _ in range(count)]


def decided(
    model: str | Path, case: str, all_drawn: Sequence[GenerateOptions], cache: Path, say: OnStage
) -> tuple[GenerateOptions, int]:
    """The first of those drawn about which PyTorch is decided, and how many before it were not, which is kept in the
    `cache`: those are not asked about again.
    """
    source, most = resolve_model(model), len(all_drawn)
    requests = [request_of(source, options) for options in all_drawn]
    asked_about = for_each(float_model(source, requests[0].layers))
    kept = cache / f"decided-{network_key(source, requests[0])}.json"
    for before in range(json.loads(kept.read_text()) if kept.exists() else 0, most):
        kept.write_text(json.dumps(before))
        options, request = all_drawn[before], requests[before]
        say(f"asking PyTorch for {source.name}, {case}: prompt {before + 1} of at most {most}")
        why = doubt(asked_about(request), request)
        if why is None:
            return options, before
        say(f"undecided: {why}")
    raise SystemExit(f"{source.name}, {case}: PyTorch is undecided about each of {most} prompts; try another --seed")


def ended(prepared: Prepared) -> Prepared:
    """With the end at a token of the reference's."""
    return replace(prepared, end=int(Network(prepared.network).reference()["tokens"][LAST_OF_END]))


def row(
    model: str, layers: int, case: str, made: Generation, before: int, in_text: str, seconds: float
) -> tuple[str, ...]:
    counted = f"{len(made.tokens) if made.first_difference is None else made.first_difference}"
    found = {metric.name: metric for metric in made.metrics}
    return (
        f"{model}, {layers}",
        case,
        f"{before}",
        f"{made.launches}",
        f"{counted} of {len(made.reference)}",
        in_text,
        f"{len(set(made.tokens))}",
        f"{made.hidden_error:.1e}",
        f"{min(made.margins, default=0):.2g}",
        *(f"{found[name].value:,.4g}" for name in SHOWN),
        "; ".join(made.exceeds) or "none",
        f"{seconds:.0f}",
        "yes" if made.passed and made.one_launch else f"NO: {made.wrong_launch or 'see docs/generate.md'}",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=FAMILIES, help="built-in names or folders")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--layers", type=int, default=2, help="only the first (default: %(default)s)")
    parser.add_argument("--all-layers", action="store_true")
    parser.add_argument("--positions", type=int, help="of the design (default: as many as the text has)")
    parser.add_argument("--precision", choices=get_args(Precision), default="w4a8")
    parser.add_argument(
        "--knobs",
        type=partial(NamedKnobs.given, known=NAMED),
        default="usual",
        help="usual, fast, or a JSON of knobs (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the prompts (default: %(default)s)")
    parser.add_argument("--taught", action="store_true", help="networks learn their replies before")
    parser.add_argument("--cache", type=Path, default=bundle_cache(), help="of networks and designs")
    args = parser.parse_args()
    console, platform, passed = Console(width=200), load_platform("u55c"), True
    say = partial(print, file=sys.stderr)
    found = "undecided before", "launches", "equal", "in its text", "distinct", "hidden differ by", "least margin"
    titles = "model, layers", "case", *found, "first token, ms", "tokens/s", "over", "s", "passed"
    table = Table(*titles, title=f"{args.precision}, {args.knobs.name} knobs{', taught' * args.taught} (simulate)")
    asked: dict[str, Any] = {"layers": None if args.all_layers else args.layers, "precision": args.precision}
    if args.positions is not None:
        asked["length"] = context_of(args.positions)
    args.cache.mkdir(parents=True, exist_ok=True)
    for model in args.models:
        for case in args.cases:
            source, used = resolve_model(model), model
            all_drawn = drawn(source, case, args.seed, asked, 1 if args.taught else MOST_DRAWN)
            if args.taught:
                used = taught(source, request_of(source, all_drawn[0]), args.cache, say)
            options, before = decided(used, case, all_drawn, args.cache, say)
            begun = time.perf_counter()
            prepared = prepare(used, options, args.knobs.knobs, platform, args.cache, say)
            made = run(ended(prepared) if case == "end" else prepared, lambda *_: None, lambda _: None)
            passed = passed and made.passed and made.one_launch
            seconds, in_text = time.perf_counter() - begun, in_its_text(prepared, made)
            table.add_row(*row(model, prepared.request.layers, case, made, before, in_text, seconds))
            console.print(f"{model}, {case}: {'passed' if made.passed else 'FAILED'}", markup=False)
    console.print(table)
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
