"""`millrace test`: everything that must pass before a change is taken."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from cli.errors import DONE, NO
from cli.output import console, table
from compiler.errors import InvalidInputError

# Tests of services wait more than they compute; quick ones do not, and each worker loads everything for itself.
# One that has loaded torch holds a gigabyte and a half.
_WORKERS_PER_CORE = 2
_MAX_WORKERS = 8
_GIB_PER_WORKER = 2
_NO_TESTS = 5  # pytest's exit code
_ROOT = Path(__file__).resolve().parents[2]
# Where it is not there, each worker would compile every module for itself: two thirds of its start.
_COMPILED = _ROOT / "tests" / "__pycache__"
# Files of which nothing would remain are not even imported: a worker takes a third of its start for those.
_QUICK = (
    *("-m", "not slow and not e2e and not browser"),
    *("--ignore", "tests/e2e", "--ignore", "tests/browser"),
    *("--hypothesis-profile", "quick"),
)


@dataclass(frozen=True, slots=True)
class _Result:
    name: str
    passed: bool
    seconds: float
    output: str

    @property
    def closing(self) -> str:
        return next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")


def run_tests(
    ctx: typer.Context,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="No types, no tests that are slow or start services, fewer random cases."),
    ] = False,
    last_failed: Annotated[
        bool, typer.Option("--last-failed", "--lf", help="Only the tests that failed the last time.")
    ] = False,
) -> None:
    """Run lint, types, import contracts, the dashboard bundle's freshness, and all tests.

    What follows is handed to pytest; then, and with --last-failed, only pytest runs. Exit code 1: something failed.

    Examples:

        millrace test

        millrace test --quick

        millrace test --last-failed

        millrace test -k fifo

        millrace test tests/unit/compiler -k fifo
    """
    if not (_ROOT / "tests").is_dir():
        raise InvalidInputError(f"there are no tests in {_ROOT}; `millrace test` runs in a checkout")
    arguments = [
        *(_QUICK if quick else ()),
        *(["--last-failed", "--last-failed-no-failures=none"] if last_failed else []),
        *ctx.args,
    ]
    if last_failed or ctx.args:
        results = [_run("pytest", ["pytest", *arguments], may_be_none=last_failed, echo=True)]
    else:
        results = list(_run_all(arguments, *((_QUICK_CHECKS, 1) if quick else (_STATIC_CHECKS, _WORKERS_PER_CORE))))
    for result in results[:-1]:
        if not result.passed:
            sys.stdout.write(result.output)
    rows = [
        (r.name, "[green]passed[/]" if r.passed else "[red]FAILED[/]", f"{r.seconds / 60:.1f} min", r.closing)
        for r in results
    ]
    console.print(table("", ("check", "", ">time", "closing line"), rows))
    console.print(results[-1].closing, markup=False)
    raise typer.Exit(DONE if all(r.passed for r in results) else NO)


_QUICK_CHECKS = {
    "ruff": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "imports": ["lint-imports"],
    "dashboard": ["python", "web/check_dist.py"],
}
_STATIC_CHECKS = {**_QUICK_CHECKS, "types": ["pyright"]}


def _run_all(arguments: Sequence[str], checks: Mapping[str, Sequence[str]], per_core: int) -> Iterator[_Result]:
    """The checks, one after another beside pytest, whose result is the last."""
    beside = ThreadPoolExecutor(1)
    try:
        pending = [beside.submit(_run, name, command) for name, command in checks.items()]
        if not (_COMPILED.is_dir() or sys.dont_write_bytecode):
            console.print("the first run: modules are compiled for the tests")
            _run("modules", ["pytest", *arguments, "--collect-only", "-q"])
        # By file: what a module's tests share (a server, a browser) is started once. See tests/support/by_file.py.
        # What failed comes last: whoever reads only the end of a long log sees it.
        shared = ["-n", str(_workers(per_core)), "--dist", "loadfile", "--disable-warnings"]
        tests = _run("pytest", ["pytest", *arguments, *shared], echo=True)
        yield from (future.result() for future in pending)
        yield tests
    finally:
        beside.shutdown(cancel_futures=True)


def _workers(per_core: int) -> int:
    import psutil

    cores, memory = os.cpu_count() or 1, psutil.virtual_memory().available >> 30
    return max(1, min(_MAX_WORKERS, per_core * cores, memory // _GIB_PER_WORKER))


def _run(name: str, arguments: Sequence[str], *, may_be_none: bool = False, echo: bool = False) -> _Result:
    """Run a tool of the environment in the checkout; `echo` shows its output as it comes.

    `may_be_none`: it is no failure that pytest found no test to run.
    """
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
    passed = process.returncode in ((0, _NO_TESTS) if may_be_none else (0,))
    return _Result(name, passed, monotonic() - since, "".join(lines))
