"""What the mutants say of the proof: a table by kind, and every one that survived."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.mutants.edits import changed_lines
from bench.mutants.trial import Fate, Judged

FATES: tuple[Fate, ...] = ("check", "crash", "deadlock", "time-out", "survived")
OF_A_KIND, OF_ALL = 0.95, 0.98  # shares that must be caught


@dataclass(frozen=True, slots=True)
class Tally:
    """How some mutants ended."""

    name: str
    judged: Sequence[Judged]

    def ended(self, fate: Fate) -> int:
        return sum(j.fate == fate for j in self.judged)

    @property
    def caught(self) -> float:
        """Share that was caught; of none, all."""
        return 1 - self.ended("survived") / len(self.judged) if self.judged else 1.0

    @property
    def right(self) -> float:
        """Share of the caught where the task named first is the edited one or one right behind it."""
        caught = [j for j in self.judged if j.fate != "survived"]
        return sum(j.right for j in caught) / len(caught) if caught else 1.0


def tallies(judged: Sequence[Judged], kinds: Sequence[str]) -> list[Tally]:
    """By kind, then of all."""
    of_kinds = [Tally(kind, [j for j in judged if j.mutant.kind == kind]) for kind in kinds]
    return [*of_kinds, Tally("all", judged)]


def enough(found: Sequence[Tally]) -> bool:
    """Whether the proof caught what it must."""
    *of_kinds, total = found
    return total.caught >= OF_ALL and all(tally.caught >= OF_A_KIND for tally in of_kinds)


def show(console: Console, found: Sequence[Tally], unreal: int) -> None:
    console.print(_table(found, unreal))
    survivors = [j for j in found[-1].judged if j.fate == "survived"]
    for number, survivor in enumerate(sorted(survivors, key=_order), 1):
        console.print(_survivor(number, survivor), soft_wrap=True)


def _table(found: Sequence[Tally], unreal: int) -> Table:
    table = Table(
        title="wrong edits of emitted C++, and what caught them",
        caption=f"{unreal} more did not compile, or to the same code, and were drawn again",
    )
    for name in ("kind", "drawn", *FATES[:-1], "survived", "caught", "named right"):
        table.add_column(name, justify="left" if name == "kind" else "right", no_wrap=True)
    for tally in found:
        least = OF_ALL if tally is found[-1] else OF_A_KIND
        style = "green" if tally.caught >= least else "red"
        shares = f"[{style}]{tally.caught:.1%}[/]", f"{tally.right:.1%}"
        counts = (str(tally.ended(fate)) for fate in FATES)
        table.add_row(tally.name, str(len(tally.judged)), *counts, *shares, end_section=tally is found[-2])
    return table


def _survivor(number: int, survivor: Judged) -> Text:
    mutant = survivor.mutant
    text = Text(f"\n{number}. {mutant.kind}: {mutant.design}, {mutant.task}", style="bold")
    text.append(f" (seed {mutant.seed}, draw {mutant.number})\n", style="not bold dim")
    for before, after in changed_lines(mutant.before, mutant.after):
        text.append(f"   - {before}\n", style="not bold red")
        text.append(f"   + {after}\n", style="not bold green")
    return text


def _order(judged: Judged) -> tuple[str, str, int]:
    return judged.mutant.kind, judged.mutant.design, judged.mutant.number


def to_json(found: Sequence[Tally], unreal: int) -> dict[str, Any]:
    """All of it, mutants included."""
    return {
        "kinds": [
            {
                "kind": tally.name,
                "drawn": len(tally.judged),
                **{fate: tally.ended(fate) for fate in FATES},
                "caught": tally.caught,
                "named_right": tally.right,
            }
            for tally in found
        ],
        "unreal": unreal,
        "mutants": [_mutant(judged) for judged in sorted(found[-1].judged, key=_order)],
    }


def _mutant(judged: Judged) -> dict[str, Any]:
    mutant = judged.mutant
    return {
        "design": mutant.design,
        "kind": mutant.kind,
        "seed": mutant.seed,
        "draw": mutant.number,
        "task": mutant.task,
        "kernel": mutant.kernel,
        "lines": [list(lines) for lines in changed_lines(mutant.before, mutant.after)],
        "fate": judged.fate,
        "named": judged.named,
        "right": judged.right,
        "message": judged.message,
        "seconds": round(judged.seconds, 2),
    }
