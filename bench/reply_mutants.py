"""Wrong edits of what makes a whole reply in one launch: control words, positions, waits, layers, feedback, the end.

    python -m bench.reply_mutants
    python -m bench.reply_mutants --kinds drain feedback --family gemma3 --most 5
    python -m bench.reply_mutants --kinds "side by side" chunk --rows 2    # of engines

Each kind is a list of rules, a pattern in the emitted C++ and what is written instead, of which every place is tried,
or `--most` of them, drawn with `--seed`. Two layers of a tiny network reply twice on the simulated board: the first
reply ends at once with a token that stands in the second prompt, at the end of its first chunk; a chunk, the second
one or at engines the first one, goes on in the next tile of rows.
Caught is what deadlocks, leaves tokens behind, does not end, or gives other tokens, hidden states or rows of the
caches than it should; also where rows that no launch has stored yet are not numbers: who reads one of them and has it
masked is right only as long as it happens to be one. Then the same mistakes in the timing of the design, which the
certificate simulates: waits in another order, an answer that is not given, layers that begin with the feedback; and
each FIFO with room for one token less. Survivors are listed, and end with status 1.
"""

import argparse
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partialmethod
from pathlib import Path
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.small_models import SMALL_MODELS, small_model
from compiler.design_dir import silent
from compiler.errors import MillraceError
from compiler.generation import GenerateOptions, Prepared, hidden_error, kept_shape, prepare
from compiler.graph.program import LoopNest
from compiler.graph.task_graph import CONTROL, CONTROL_DEPTH
from compiler.host.accelerator import Accelerator
from compiler.host.design import Design, load_design
from compiler.host.network import Array, Network
from compiler.host.packing import NATIVE
from compiler.host.session import generate
from compiler.host.xrt import RunError
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from compiler.proof.launches import GenerationChecks, Witness
from compiler.simulator.board.build import FOLDER, build_board
from compiler.simulator.csim.errors import DeadlockError, LeftoverError
from compiler.simulator.timing.design import TimedDesign
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.simulator.timing.simulate import StoredDesign, read_directory, simulate_design

PROMPTS = (5, 90, 17, 2, 61), (33, 90, 4, 4, 71), (1, 2, 3, 4, 5), (77, 6, 54, 32, 10), (8, 8, 41, 60, 3)
BEHIND = 40, 41, 42, 43  # the first chunk; with rows side by side the second one has two, the least that are some
OPTIONS = GenerateOptions(PROMPTS[0], 7, length=31, then=((9, 5, 40),))  # two tiles of rows, at engines four
KNOBS = Knobs(max_padding=20)  # so that a token of the prompt leaves out the head
SHARED = replace(KNOBS, default_tile_size=8, engines="shared", loads="joint")
MOST_MS = 20_000  # of a launch that takes milliseconds
SURVIVED = "survived"

# By kind: patterns of a line, what is written instead. Those of `control` are of the function of that name.
CONTROL_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "control word": (
        (r"(_go\.write)\(position \+ row\);", r"\1(position + row ? position + row - 1 : 0);"),
        (r"(_go\.write)\(position \+ row\);", r"\1(position + row < until ? position + row + 1 : position + row);"),
        (r"(_go\.write)\(ids\[row\]\);", r"\1(ids[row] ? ids[row] - 1 : 1);"),
        (r"(_go\.write)\(position \+ row >= first\);", r"\1(position + row < first);"),
        (r"(_go\.write)\(position \+ row >= first\);", r"\1(position + row > first);"),
        (r"^.*_go\.write\((rows|position \+ row|ids\[row\]|position \+ row >= first)\);$", ""),
    ),
    "chunk": (
        (r"first - position \+ 1 : 1", "first - position + 2 : 1"),
        (r"ids\[0\] = token", "ids[rows - 1] = token"),
        (r"ids\[row\] = (.*);", r"ids[row - 1] = \1;"),
        (r"^.*ids\[row\] = .*;$", ""),
    ),
    "position": (
        (r"position \+= rows;", "position += rows + 1;"),
        (r"position \+= rows;", "++position;"),
        (r"position <= until", "position < until"),
        (r"position <= until", "position <= until + 1"),
    ),
    "end": (
        (r"\(position <= first \|\| token != end\)", "token != end"),
        (r"\(position <= first \|\| token != end\)", "true"),
        (r"position <= first \|\|", "position <= first + 1 ||"),
    ),
    "credit": ((r"^.*_done\.read\(\)\)?;$", ""),),
    "side by side": (
        (r"\(rows \+ (\d)\) / (\d)", r"(rows + \1) / \2 + 1"),
        (r"\(rows \+ (\d)\) / (\d)", "rows"),
        (r"if \(rows > (\d)\) ", r"if (rows >= \1) "),
        (r"if \(rows > (\d)\) ", r"if (rows > \1 + 1) "),
    ),
    "drain": (
        (r"(_go\.write)\(0\);", r"\1(1);"),
        (r"^.*_go\.write\(0\);$", ""),
    ),
}
TASK_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "chunk": (
        # Rows in another order are no mistake of a task that does every tile alike: it has as many in all.
        (r"told\[row\] = go\.read\(\);", "told[row] = go.read() + 1;"),
        (r"= told\[row\];", "= told[0];"),
        (r"read_request\(told\[0\]", "read_request(told[0] + 1"),
        (r"if \(row == rows - 1\)", "if (row == 0)"),
    ),
    "position": (
        (r"(write_request|read_request)\((.*)position(.*)\);", r"\1(\2(position ? position - 1 : 1)\3);"),
        (r"memory0\[position", "memory0[(position ? position - 1 : 1)"),
    ),
    "credit": (
        (r"^.*\.write_response\(\);$", ""),
        (r"^.*done\.write\(.*\);$", ""),
        (r"if \(row > 0( &&|\))", r"if (row > 1\1"),
        (r"if \(row < rows - 1( &&|\))", r"if (row < rows - 2\1"),
    ),
    "side by side": (
        (r"row % (\d)\]", "0]"),
        (r"row % (\d)\]", r"(row + 1) % \1]"),
        (r"row \+= \d\)", "++row)"),
        (r"if \(rows - row > (\d)\)", r"if (rows - row >= \1)"),
        (r"if \(rows - row > (\d)\)", r"if (rows - row > \1 + 1)"),
    ),
    "layer stride": (
        (r"(_request)\((run|pass) \* (\d+)", r"\1(0 * \3"),
        (r"(_request)\((run|pass) \* (\d+)", r"\1((1 - \2) * \3"),
        (r"memory0\[run \* (\d+)", r"memory0[0 * \1"),
        (r"memory0\[run \* (\d+)", r"memory0[(1 - run) * \1"),
    ),
    "feedback": (
        (r"reads_in\[2\] = \{true, false\}", "reads_in[2] = {false, true}"),
        (r"reads_in(_1)?\[2\] = \{\w+, \w+\}", r"reads_in\1[2] = {true, true}"),
        (r"writes_out(_1)?\[2\] = \{\w+, \w+\}", r"writes_out\1[2] = {true, true}"),
        (r"for \(int part = 0; part < 2;", "for (int part = 0; part < 1;"),
    ),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit by a rule: the task it is in, what stands there before and after; `text` is the whole source with it."""

    kind: str
    rule: str
    task: str
    before: str
    after: str
    text: str

    @property
    def edit(self) -> str:
        return f"{self.task}: {self.before} -> {self.after or 'nothing'}"


def places(source: str) -> Iterator[Mutant]:
    """All edits of the source of the tasks."""
    begin = source.index(f"void {CONTROL}(")
    parts = ((CONTROL_RULES, begin, len(source)), (TASK_RULES, 0, begin))
    for rules, first, behind in parts:
        for kind, pairs in rules.items():
            for pattern, instead in pairs:
                for match in re.finditer(pattern, source[first:behind], re.MULTILINE):
                    after = match.expand(instead)
                    start, end = first + match.start(), first + match.end()
                    rule = f"{pattern} -> {instead}"
                    task = re.findall(r"^void (\w+)\(", source[:start], re.MULTILINE)[-1]
                    edited = source[:start] + after + source[end:]
                    yield Mutant(kind, rule, task, match[0].strip(), after.strip(), edited)


def without_credits(source: str) -> Mutant:
    """Loads of rows that do not wait until the row before has been stored, and stores that say nothing."""
    text = re.sub(r"if \(row (> 0|< rows - 1)(?= &&|\))", "if (false", source)
    return Mutant("credit", "no credits", "all", "credits between the rows of a chunk", "none", text)


def outcome(prepared: Prepared, design: Path) -> str:
    """What becomes of the replies of the design, which is `prepared`'s but for an edit."""
    network, loaded, board = Network(prepared.network), load_design(design), Witness()
    try:
        build_board(design)
        tokens = _replied(prepared, network, loaded, board)
        if tokens is not None:
            with patch("compiler.host.session._empty_caches", _no_numbers):
                tokens = _replied(prepared, network, loaded, Witness())
    except DeadlockError:
        return "deadlock"
    except LeftoverError:
        return "leftovers"
    except RunError:
        return "does not end"
    except MillraceError as error:
        return type(error).__name__
    if tokens is None:
        return "other tokens"
    checks = GenerationChecks(network, loaded, kept_shape(prepared), board.launches, OPTIONS.tokens, prepared.end)
    return SURVIVED if checks.run(tokens) is None else "other launches"


def _replied(prepared: Prepared, network: Network, design: Design, board: Witness) -> list[int] | None:
    """The tokens of both replies; None where they, or the hidden states, are not the reference's."""
    with closing(board.device(0)) as device:
        steps = list(generate(board, device, network, design, design.directory, OPTIONS.tokens, end=prepared.end))
    tokens, states, reference = [s.token for s in steps], np.stack([s.hidden for s in steps]), network.reference()
    right = tokens == reference["tokens"].tolist() and hidden_error(tokens, states, reference) <= 1e-3
    return tokens if right else None


def _no_numbers(design: Design) -> dict[str, Array]:
    """Caches before the first launch."""
    images = [image for image in design.images.values() if image.role == "kept"]
    return {
        source: np.full(image.shape[image.stacked :], np.nan if image.layout.dtype == "f32" else 127).astype(
            NATIVE[image.layout.dtype]
        )
        for image in images
        for source in image.sources
    }


def timing_mutants(design: TimedDesign) -> Iterator[tuple[str, str, TimedDesign]]:
    """Kind, what is wrong, and the design with it."""
    control, *others = design.tasks
    nests = [nest for nest in control.turns if isinstance(nest, LoopNest) and nest.iterations]
    words, waits = [n for n in nests if n.writes], [n for n in nests if not n.writes]
    for number, wait in enumerate(waits):
        turned = (wait, *words, *waits[:number], *waits[number + 1 :])
        yield "credit", f"{wait.reads[0].stream} before the words", _with(design, control, turns=turned)
    for task in others:
        if task.done:
            yield "credit", f"{task.name} gives no answer", _with(design, task, turns=task.turns[:-1])
    for stream in (s for s in design.streams if design.control is not None and s.name in design.control.looped):
        entered = design.task[stream.target]
        word, first, *others = entered.turns
        yield (
            "feedback",
            f"{stream.name} is read in the first layer",
            _with(design, entered, turns=(word, *others, first)),
        )


def with_less_room(stored: StoredDesign) -> Counter[str]:
    """How two tokens go with one FIFO a token smaller, of each: those of two tokens are the least that are emitted."""
    found, design = Counter[str](), stored.design
    for stream in (s for s in design.streams if s.depth > CONTROL_DEPTH):
        smaller = tuple(replace(s, depth=s.depth - 1) if s is stream else s for s in design.streams)
        found[timed(stored, replace(design, streams=smaller))] += 1
    return found


def _with(design: TimedDesign, task: object, **changes: object) -> TimedDesign:
    return replace(design, tasks=tuple(replace(t, **changes) if t is task else t for t in design.tasks))


def timed(stored: StoredDesign, design: TimedDesign) -> str:
    """How two tokens in a row, a chunk of a prompt, and the end go, at a position within a tile and behind it."""
    positions = ({"position": 7}, {"position": 8}, {"position": 9})
    launches = [{name: told.get(name, 1) for name in design.arguments} for told in positions]
    launches[-1] |= {ROWS: design.control.rows if design.control is not None else 1}
    found = simulate_design(design, stored.platform, launches=launches, buckets=0)
    return SURVIVED if found.deadlock is None else "deadlock"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = sorted({*CONTROL_RULES, *TASK_RULES})
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--family", choices=SMALL_MODELS, default="gpt2")
    parser.add_argument("--rows", type=int, default=1, help="side by side, at shared engines (default 1: of their own)")
    parser.add_argument("--most", type=int, default=3, help="places of a rule (default 3)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn where there are more")
    options = parser.parse_args()
    console, rng = Console(), random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        knobs = KNOBS if options.rows == 1 else replace(SHARED, rows=options.rows)
        prepared = _prepared(options.family, knobs, Path(folder))
        (file,) = prepared.design.glob("hls/*_tasks.cpp")
        source = file.read_text()
        found = [m for m in (*places(source), without_credits(source)) if m.kind in options.kinds]
        rules = dict.fromkeys((mutant.kind, mutant.rule) for mutant in found)
        assert all(mutant.text != source for mutant in found), "an edit that changes nothing"
        drawn = [m for rule in rules for m in _drawn([m for m in found if (m.kind, m.rule) == rule], options.most, rng)]
        results: list[tuple[str, str, str]] = []
        with patch.object(Accelerator, "start", partialmethod(Accelerator.start, timeout_ms=MOST_MS)):
            assert outcome(prepared, prepared.design) == SURVIVED, "the design is wrong as it is"
            for number, mutant in enumerate(track(drawn, "simulated board")):
                design = Path(folder) / f"mutant{number}"
                shutil.copytree(prepared.design, design, ignore=shutil.ignore_patterns(FOLDER))
                (design / "hls" / file.name).write_text(mutant.text)
                results.append((mutant.kind, mutant.edit, outcome(prepared, design)))
                shutil.rmtree(design)
        stored = read_directory(prepared.design)
        assert timed(stored, stored.design) == SURVIVED, "the design deadlocks as it is"
        certificate = [
            (f"{kind}, timing", what, timed(stored, design)) for kind, what, design in timing_mutants(stored.design)
        ]
        room = with_less_room(stored)
    _show(console, [*results, *certificate])
    for kind, rule in _rules(options.kinds):
        if (kind, rule) not in rules:
            console.print(f"no place in this design: {kind}: {rule}", markup=False)
    console.print(
        f"One token less, of each of {room.total()} FIFOs deeper than {CONTROL_DEPTH} in turn: {room['deadlock']} "
        "deadlock; the others are as deep as LUTs are for nothing, or have room for other positions"
    )
    return int(any(became == SURVIVED for _, _, became in (*results, *certificate)))


def _prepared(family: str, knobs: Knobs, folder: Path) -> Prepared:
    """Whose first reply ends with its first token, which the second prompt holds, and the second reply does not."""
    model, cache, platform = small_model(family, folder), folder / "cache", load_platform("u55c")
    for start in PROMPTS:
        options = replace(OPTIONS, prompt=start)
        end = int(Network(prepare(model, options, knobs, platform, cache, silent).network).reference()["tokens"][0])
        made = prepare(
            model,
            replace(options, end=end, then=((9, 1, 2, 3, 4, 5, 6, end, *BEHIND[: 4 if knobs.rows == 1 else 1]),)),
            knobs,
            platform,
            cache,
            silent,
        )
        if len(Network(made.network).reference()["tokens"]) == 1 + OPTIONS.tokens:
            return made
    raise SystemExit("none of the prompts has replies that end as they should")


def _rules(kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    for rules in (CONTROL_RULES, TASK_RULES):
        yield from ((kind, f"{old} -> {new}") for kind, pairs in rules.items() if kind in kinds for old, new in pairs)


def _drawn(mutants: Sequence[Mutant], most: int, rng: random.Random) -> list[Mutant]:
    return rng.sample(mutants, most) if len(mutants) > most else list(mutants)


def _show(console: Console, results: Sequence[tuple[str, str, str]]) -> None:
    outcomes = sorted({became for _, _, became in results} - {SURVIVED})
    table = Table(title="edits of a reply in one launch")
    for name in ("kind", "tried", *outcomes, SURVIVED):
        table.add_column(name, justify="left" if name == "kind" else "right")
    for kind in dict.fromkeys(kind for kind, _, _ in results):
        counts = Counter(became for of, _, became in results if of == kind)
        table.add_row(kind, str(counts.total()), *(str(counts[name]) for name in (*outcomes, SURVIVED)))
    console.print(table)
    for kind, what, became in results:
        if became == SURVIVED:
            console.print(f"{SURVIVED}: {kind}: {what}", markup=False)


if __name__ == "__main__":
    raise SystemExit(main())
