"""The same tests many times, with the machine idle or busy: which of them pass by luck?

python -m bench.suite farm licences migrations browser --runs 10 --load
python -m bench.suite all
python -m bench.suite tests/unit/worker/queue --runs 20

Names a selection (`farm`, `licences`, `migrations`, `browser`, `all`) or tests as pytest does. `--load` has as many
processes as there are cores spin beside them, at the tests' own priority. Nothing is tried again: a test that fails in
one run of many has failed, and the exit code is 1. Every run keeps its log.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
SELECTIONS: dict[str, tuple[str, ...]] = {
    "farm": (
        "tests/e2e/test_farm.py",
        "tests/unit/worker/node",
        "tests/unit/worker/queue",
        "tests/unit/worker/running",
    ),
    "licences": (
        "tests/e2e/test_farm.py::test_licences_are_counted_farm_wide_and_freed_by_a_crash",
        "tests/e2e/test_farm.py::test_without_licence_a_build_waits_and_others_go_on",
        "tests/e2e/test_database.py::TestQueueOnPostgres",
        "tests/e2e/test_database.py::TestRacesOnPostgres",
        "tests/unit/db/test_queue.py",
        "tests/unit/db/test_races.py",
    ),
    "migrations": (
        "tests/unit/db/test_migrate.py",
        "tests/unit/db/test_engine.py",
        "tests/e2e/test_database.py::test_models_and_migrations_agree",
        "tests/e2e/test_database.py::test_two_that_start_at_once_take_turns",
        "tests/e2e/test_database.py::test_an_earlier_release_keeps_its_rows",
    ),
    "browser": ("tests/browser",),
    "all": ("tests",),
}
_SPIN = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
"""Until this program is gone, however it ends."""


@dataclass(frozen=True)
class Run:
    """One run of pytest; `failed` are the names of tests, `status` what pytest returned."""

    name: str
    minutes: float
    passed: int
    failed: tuple[str, ...]
    skipped: int
    status: int
    log: Path

    @property
    def is_clean(self) -> bool:
        return self.status == 0 and not self.failed


def main() -> None:
    """Print a line a run as it ends, then what failed."""
    arguments = _arguments()
    folder = arguments.logs or Path(tempfile.mkdtemp(prefix="millrace-suite-"))
    folder.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    with _load(os.cpu_count() or 1 if arguments.load else 0):
        for number in range(1, arguments.runs + 1):
            for what in arguments.what:
                runs.append(_run(what, number, folder))
                print(_line(runs[-1]), flush=True)
    _report(runs)
    sys.exit(0 if all(run.is_clean for run in runs) else 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", help=f"{', '.join(SELECTIONS)}, or a path as pytest takes it")
    parser.add_argument("--runs", type=int, default=1, help="of each selection, in turn (1)")
    parser.add_argument("--load", action="store_true", help="keep every core busy with something else")
    parser.add_argument("--logs", type=Path, help="folder for pytest's output (a new one in /tmp)")
    return parser.parse_args()


@contextmanager
def _load(processes: int) -> Generator[None]:
    """So many processes that compute for ever."""
    spinning = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def _run(what: str, number: int, folder: Path) -> Run:
    name = f"{re.sub(r'[^a-z0-9]+', '-', what.lower()).strip('-')}-{number}"
    log, report = folder / f"{name}.log", folder / f"{name}.xml"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junit-xml={report}"]
    begun = time.monotonic()
    with log.open("wb") as output:
        tests = SELECTIONS.get(what, (what,))
        done = subprocess.run([*command, *tests], cwd=ROOT, stdout=output, stderr=output, check=False)
    cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    failed = tuple(_name(case) for case in cases if _has(case, "failure", "error"))
    skipped = sum(_has(case, "skipped") for case in cases)
    passed = sum(not _has(case, "failure", "error", "skipped") for case in cases)
    return Run(name, (time.monotonic() - begun) / 60, passed, failed, skipped, done.returncode, log)


def _has(case: ElementTree.Element, *outcomes: str) -> bool:
    return any(case.find(outcome) is not None for outcome in outcomes)


def _name(case: ElementTree.Element) -> str:
    return f"{case.get('classname')}::{case.get('name')}"


def _line(run: Run) -> str:
    return f"{run.name}: {run.minutes:.1f} min, {run.passed} passed, {len(run.failed)} failed, {run.skipped} skipped"


def _report(runs: Sequence[Run]) -> None:
    table = Table()
    for column in ("run", "minutes", "passed", "failed", "skipped"):
        table.add_column(column, justify="left" if column == "run" else "right")
    for run in runs:
        table.add_row(run.name, f"{run.minutes:.1f}", str(run.passed), str(len(run.failed)), str(run.skipped))
    Console().print(table)
    for run in runs:
        for name in run.failed:
            print(f"{name}\n    {run.log}")
        if not run.is_clean and not run.failed:
            print(f"pytest ended with exit code {run.status}\n    {run.log}")


if __name__ == "__main__":
    main()
