"""The table of all machines, and where they differ."""

from collections import Counter
from collections.abc import Mapping, Sequence

from results import Result

_COLUMNS = ("machine", "Python", "step", "", "s", "GB disk", "GB net", "passed", "failed", "skipped")


def table(results: Sequence[Result], pythons: Mapping[str, str]) -> str:
    """One row a step."""
    rows = [_COLUMNS, *(_row(result, pythons[result.machine]) for result in results)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
    return "\n".join("  ".join(_cell(row, i, widths[i]) for i in range(len(_COLUMNS))).rstrip() for row in rows)


def _row(result: Result, python: str) -> tuple[str, ...]:
    counts = [str(result.count(outcome)) if result.tests else "" for outcome in ("passed", "failed", "skipped")]
    sizes = (f"{result.seconds:.0f}", f"{result.disk_gb:.2f}", f"{result.received_gb:.2f}")
    return (result.machine, python, result.step, "ok" if result.passed else "FAILED", *sizes, *counts)


def _cell(row: tuple[str, ...], column: int, width: int) -> str:
    return row[column].ljust(width) if column < 4 else row[column].rjust(width)


def notes(results: Sequence[Result]) -> str:
    """What each step said and measured."""
    lines: list[str] = []
    for result in results:
        lines.append(f"{result.machine} {result.step}: {result.message}")
        lines += [f"    {name}: {value}" for name, value in result.facts.items() if value]
        lines += [f"    failed: {name}" for name, outcome in result.tests.items() if outcome == "failed"]
        reasons = Counter(outcome for outcome in result.tests.values() if outcome.startswith("skipped"))
        lines += [f"    {count} {reason}" for reason, count in reasons.most_common()]
    return "\n".join(lines)


def differences(results: Sequence[Result]) -> list[str]:
    """Tests that passed in one run and did not in another; a run that left a test out says nothing about it."""
    runs = [result for result in results if result.tests]
    names = sorted({name for run in runs for name in run.tests})
    lines: list[str] = []
    for name in names:
        found = {f"{run.machine} {run.step}": run.tests[name] for run in runs if name in run.tests}
        whole = {run.machine for run in runs if run.step == "root-test" and name not in run.tests}
        found |= {f"{machine} root-test": "missing" for machine in whole}
        if "passed" in found.values() and set(found.values()) != {"passed"}:
            others = ", ".join(f"{run}: {outcome}" for run, outcome in found.items() if outcome != "passed")
            lines.append(f"{name}: {others}")
    return lines
