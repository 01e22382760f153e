"""How near designs of whole replies come to the limits of the board, and beside it what others have measured.

python -m bench.board_limit
python -m bench.board_limit gpt2-medium --only table sensitivity waterfall
python -m bench.board_limit --precision w4a8kv8 --only table
python -m bench.board_limit gpt2-medium --knobs knobs.json --kept /tmp/designs    # `knobs` of a design.json
python -m bench.board_limit gpt2-medium --positions 1024 --only table context     # both by one design

W4A8 with a quantised head, by request with int8 keys and values (`--precision w4a8kv8`), all layers, a prompt of 128
tokens and 128 after the first, unless a row says otherwise; definitions are those of `compiler/whole_token.py`.
`table`: tokens a second, first token, energy, share of the HBM bound, area and the fullest die, beside what it must
and what it aims to reach. `prompts`: designs that take rows of a prompt side by side. `paper`: table 4 of
StreamTensor, by one design for all its rows. `context`: the last of 1,024 positions, by designs for all of them, which
are those of the other rows with `--positions 1024`.
`sensitivity`: the same design at other clocks, bandwidths, depths of pipelines and areas. `waterfall`: where the time
of a token goes, each step the difference of two simulations. `structures`: engines of their own against shared ones, at
equal lanes and ports.

Designs are planned, certified, placed and simulated, nothing is emitted; of each model those that a search begins with,
unless `--knobs` says which; a row of a table is of the one with the shortest prompts among those that are as fast: a
quarter of an hour for the table, more than one for all of it. They are kept in `--kept`, by model, length and knobs:
remove it when the compiler has changed.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.board_limit.paper import GPT2_MEDIUM
from bench.board_limit.planned import FAMILIES, Planned, plan
from bench.board_limit.variants import SENSITIVITY, WATERFALL
from bench.workload import knobs_in
from compiler.assumed import HBM_GB_S
from compiler.options import Knobs, Precision
from compiler.platforms.platform import Platform, load_platform
from compiler.whole_token import Reply
from dse.space import FOR_PROMPTS, WHOLE

PROMPT, STEPS = 128, 128
CONTEXT = 1024
DESIGNS = (*WHOLE, *FOR_PROMPTS)
AS_FAST = 0.02
PRECISIONS: tuple[Precision, ...] = ("w4a8", "w4a8kv8")
Limits = dict[str, dict[str, tuple[int, int]]]  # must and aim of a model, by what
MUST_AIM: Limits = {
    "tokens a second": {"gpt2-medium": (1000, 1400)},
    "first token, ms": {"gpt2-medium": (30, 20)},
    "share of the HBM bound, %": dict.fromkeys(FAMILIES, (50, 70)),
    "LUT, %": {"gpt2-medium": (70, 55)},
    "fullest die, %": dict.fromkeys(FAMILIES, (70, 60)),
}
AT_CONTEXT: Limits = {
    "tokens a second": {"gpt2-medium": (850, 1100)},
    **{name: MUST_AIM[name] for name in ("LUT, %", "fullest die, %")},
}
Part = Callable[[Console, dict[str, Planned], "Planner"], None]


class Planner:
    """Plans designs on one board, each once: of `knobs` with those whose first token comes soonest, of designs that fit
    and are as good as the fastest (`AS_FAST`), by simulation of a reply, or of the last of other positions.
    """

    def __init__(
        self, knobs: Sequence[Knobs], precision: Precision, positions: int, platform: Platform, kept: Path
    ) -> None:
        self.knobs, self.positions, self.platform, self.kept = knobs, positions, platform, kept
        self.precision: Precision = precision

    def __call__(self, model: str, positions: int = 0, knobs: Knobs | None = None) -> Planned:
        """Of so many positions (0: as asked for)."""
        tried, positions = (knobs,) if knobs else self.knobs, positions or self.positions
        plans = [plan(model, k, positions, self.platform, self.kept, self.precision) for k in tried]
        if len(plans) == 1:
            return plans[0]
        lengths = (PROMPT, STEPS) if positions == self.positions else (positions - 1, 1)
        fitting = [planned for planned in plans if not planned.exceeded] or plans
        replies = [(planned, planned.reply(*lengths)) for planned in fitting]
        most = (1 + AS_FAST) * min(reply.token_us for _, reply in replies)
        return min(((p, reply) for p, reply in replies if reply.token_us <= most), key=lambda r: r[1].first_token_us)[0]


def main() -> int:
    arguments = _parser().parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140)
    knobs = (arguments.knobs,) if arguments.knobs else DESIGNS
    with tempfile.TemporaryDirectory() as folder:
        precision: Precision = arguments.precision
        planner = Planner(knobs, precision, arguments.positions, load_platform("u55c"), arguments.kept or Path(folder))
        designs: dict[str, Planned] = {}
        with Progress(console=Console(stderr=True), transient=True) as progress:
            for model in progress.track(arguments.models, description="planning"):
                designs[model] = planner(model)
        for part in arguments.only:
            PARTS[part](console, designs, planner)
        return 1 if any(design.exceeded for design in designs.values()) else 0


def _positions(text: str) -> int:
    if not text.isdecimal() or int(text) < PROMPT + STEPS:
        raise argparse.ArgumentTypeError(f"{text} positions do not hold replies of {PROMPT} + {STEPS} tokens")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=FAMILIES, help=f"default: {' '.join(FAMILIES)}")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts (default: all)")
    parser.add_argument("--knobs", type=knobs_in, help="JSON of knobs (default: of those that a search begins with)")
    least = PROMPT + STEPS
    parser.add_argument("--positions", type=_positions, default=least, help="of designs (default, least: %(default)s)")
    parser.add_argument("--precision", choices=PRECISIONS, default="w4a8", help="default: %(default)s")
    parser.add_argument("--kept", type=Path, help="folder of designs that are planned already")
    return parser


def _show(console: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _table(console: Console, designs: dict[str, Planned], _planner: Planner) -> None:
    _limits(console, "Limits of the board", designs, (PROMPT, STEPS), MUST_AIM)


def _context(console: Console, designs: dict[str, Planned], planner: Planner) -> None:
    for_all = {model: planner(model, CONTEXT) for model in designs}
    _limits(console, f"The last of {CONTEXT:,} positions", for_all, (CONTEXT - 1, 1), AT_CONTEXT)


def _limits(
    console: Console, title: str, designs: dict[str, Planned], lengths: tuple[int, int], must_aim: Limits
) -> None:
    """Of replies of such a prompt and so many steps."""
    rows: list[list[str]] = []
    for model, design in designs.items():
        reply, (share, where) = design.reply(*lengths), design.fullest_die()
        reached = {
            "tokens a second": (1e6 / reply.token_us, "simulate"),
            "first token, ms": (reply.first_token_us / 1e3, "simulate"),
            "share of the HBM bound, %": (100 * reply.hbm_share, "simulate"),
            "energy a token, mJ": (reply.token_energy_uj / 1e3, "estimate"),
            **{f"{name.upper()}, %": (100 * part, "estimate") for name, part in design.shares().items()},
            "fullest die, %": (100 * share, f"estimate, {where}"),
            "HBM ports": (design.amounts["hbm_ports"], "planned"),
        }
        for name, (value, fidelity) in reached.items():
            must, aim = must_aim.get(name, {}).get(model, ("", ""))
            rows.append([f"{model}: {name}", f"{must}", f"{aim}", f"{value:,.4g}", fidelity])
        if design.exceeded:
            rows.append([f"{model}: FITS NO BOARD", "", "", "", "; ".join(design.exceeded)])
    _show(console, title, ("what", "must", "aim", "reached", "fidelity"), rows)


def _prompts(console: Console, designs: dict[str, Planned], planner: Planner) -> None:
    rows = {f"{model}, {k.rows} rows": planner(model, knobs=k) for model in designs for k in FOR_PROMPTS}
    _compare(console, "Prompts (simulate; area by estimate)", "side by side", rows)


def _compare(console: Console, title: str, what: str, designs: dict[str, Planned]) -> None:
    """Designs by name, a row each."""
    rows: list[list[str]] = []
    for name, design in designs.items():
        reply, shares, (fullest, die) = design.reply(PROMPT, STEPS), design.shares(), design.fullest_die()
        numbers = 1e6 / reply.token_us, reply.first_token_us / 1e3, 100 * reply.hbm_share
        area = (f"{100 * shares[resource]:.1f} %" for resource in ("lut", "dsp", "uram"))
        where, ports = f"{100 * fullest:.1f} %, {die}", f"{design.amounts['hbm_ports']:g}"
        rows.append([name, *(f"{n:,.1f}" for n in numbers), *area, where, ports, "; ".join(design.exceeded) or "yes"])
    measures = ("tokens a second", "first token, ms", "% of the bound", "LUT", "DSP", "URAM", "fullest die", "ports")
    _show(console, title, (what, *measures, "fits"), rows)


def _paper(console: Console, designs: dict[str, Planned], planner: Planner) -> None:
    if "gpt2-medium" not in designs:
        return
    design = planner("gpt2-medium", max(planner.positions, sum(max(GPT2_MEDIUM))))
    rows: list[list[str]] = []
    for (prompt, made), others in GPT2_MEDIUM.items():
        reply = design.reply(prompt, made)
        ours = reply.reply_us / 1e3, reply.first_token_us / 1e3, 1e6 / reply.token_us
        rows.append([f"{prompt}:{made} Millrace", *(f"{value:,.2f}" for value in ours), "simulate"])
        rows += [
            [f"{prompt}:{made} {name}", *(f"{v:,.2f}" for v in row), "measured, theirs"] for name, row in others.items()
        ]
    title = f"GPT-2 medium, prompt:new tokens, by one design for {design.length} positions"
    _show(console, title, ("reply", "ms", "first token, ms", "tokens a second", "fidelity"), rows)


def _sensitivity(console: Console, designs: dict[str, Planned], _planner: Planner) -> None:
    for model, design in designs.items():
        base = design.reply(PROMPT, STEPS)
        rows = [_compared(f"as planned, {design.stored.clock_mhz:.1f} MHz", base, base)]
        rows += [_compared(name, design.reply(PROMPT, STEPS, change), base) for name, change in SENSITIVITY.items()]
        _show(
            console, f"{model}: sensitivity (simulate)", ("", "tokens a second", "first token, ms", "of planned"), rows
        )
        more = "still fits" if design.feasible_with(1.25) else "fits no longer"
        guessed = design.amounts["lut_guessed"] / design.amounts["lut"]
        console.print(
            f"{model}: all areas + 25 %: {more}; {100 * guessed:.1f} % of its LUTs rest on guesses (estimate)"
        )


def _compared(name: str, reply: Reply, base: Reply) -> list[str]:
    tokens, first = 1e6 / reply.token_us, reply.first_token_us / 1e3
    return [name, f"{tokens:,.1f}", f"{first:,.1f}", f"{100 * base.token_us / reply.token_us:.1f} %"]


def _waterfall(console: Console, designs: dict[str, Planned], _planner: Planner) -> None:
    for model, design in designs.items():
        whole = design.reply(PROMPT, STEPS)
        before, stored, steps = whole.token_us, design.stored, list[tuple[str, float]]()
        for name, change in WATERFALL:
            stored = change(stored)
            after = design.reply(PROMPT, STEPS, lambda _, stored=stored: stored).token_us
            steps.append((name, before - after))
            before = after
        bound, ports = whole.least_bytes / (HBM_GB_S * 1e3), design.slowest_load_us(PROMPT + STEPS // 2)
        steps += [
            ("the chain of operations, beyond the slowest load", max(0.0, before - ports)),
            ("the slowest load, a word a cycle at its ports", max(0.0, min(before, ports) - bound)),
            ("bound: the least bytes from all of HBM", min(bound, before)),
        ]
        rows = [[name, f"{us:,.1f}", f"{100 * us / whole.token_us:.1f} %"] for name, us in reversed(steps)]
        rows.append(["a token (a launch is of the whole reply)", f"{whole.token_us:,.1f}", "100 %"])
        _show(console, f"{model}: where the time of a token goes (simulate)", ("", "us", "of a token"), rows)


def _structures(console: Console, designs: dict[str, Planned], planner: Planner) -> None:
    for model in designs:
        found: dict[str, Planned] = {}
        for engines in ("own", "shared"):
            for unrolling in ("slowest", "worth"):
                knobs = replace(planner.knobs[0], engines=engines, unrolling=unrolling)
                knobs = knobs if engines == "shared" else replace(knobs, loads="own")
                found[f"{engines}, {unrolling}"] = planner(model, knobs=knobs)
        _compare(console, f"{model}: structures (simulate; area by estimate)", "engines, lanes by", found)


PARTS: dict[str, Part] = {
    "table": _table,
    "prompts": _prompts,
    "context": _context,
    "paper": _paper,
    "sensitivity": _sensitivity,
    "waterfall": _waterfall,
    "structures": _structures,
}

if __name__ == "__main__":
    sys.exit(main())
