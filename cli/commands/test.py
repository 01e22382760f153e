"""`millrace test`: everything that must pass before a change is taken."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from cli.errors import DONE, NO
from cli.output import console, table
from compiler.errors import InvalidInputError

_MAX_WORKERS = 4
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class _Result:
    name: str
    passed: bool
    seconds: float
    closing: str


def run_tests(
    ctx: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out what is slow or starts services.")] = False,
) -> None:
    """Run lint, types, import contracts, the dashboard bundle's freshness, and all tests.

    What follows is handed to pytest; then only pytest runs. Exit code 1: something failed.

    Examples:

        millrace test

        millrace test --quick

        millrace test tests/unit/compiler -k fifo
    """
    if not (_ROOT / "tests").is_dir():
        raise InvalidInputError(f"there are no tests in {_ROOT}; `millrace test` runs in a checkout")
    results = list(_run_all(ctx.args, quick))
    rows = [
        (r.name, "[green]passed[/]" if r.passed else "[red]FAILED[/]", f"{r.seconds / 60:.1f} min", r.closing)
        for r in results
    ]
    console.print(table("", ("check", "", ">time", "closing line"), rows))
    console.print(results[-1].closing, markup=False)
    raise typer.Exit(DONE if all(r.passed for r in results) else NO)


def _run_all(pytest_args: list[str], quick: bool) -> Iterator[_Result]:
    selection = ["-m", "not slow and not e2e and not browser"] if quick else []
    if pytest_args:
        yield _run("pytest", ["pytest", *selection, *pytest_args], echo=True)
        return
    for name, command in _STATIC_CHECKS.items():
        yield _run(name, command, echo=False)
    # By file: what a module's tests share (a server, a browser) is started once.
    workers = str(min(_MAX_WORKERS, os.cpu_count() or 1))
    yield _run(
        "pytest", ["pytest", *selection, "-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"], echo=True
    )


_STATIC_CHECKS = {
    "ruff": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "types": ["pyright"],
    "imports": ["lint-imports"],
    "dashboard": ["python", "web/check_dist.py"],
}


def _run(name: str, arguments: list[str], echo: bool) -> _Result:
    """Run a tool of the environment in the checkout; its output is shown as it comes, or only when it fails."""
    since = monotonic()
    command = [str(Path(sys.executable).parent / arguments[0]), *arguments[1:]]
    environment = os.environ | ({"FORCE_COLOR": "1"} if console.is_terminal else {})
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            if echo:
                sys.stdout.write(line)
                sys.stdout.flush()
    passed = process.returncode == 0
    if not echo and not passed:
        sys.stdout.writelines(lines)
    closing = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return _Result(name, passed, monotonic() - since, closing)
