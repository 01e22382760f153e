"""The steps that every board goes through: warm up, time each run, compare the results."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compiler.analysis.rows import kept_rows
from compiler.design_dir import DEFAULT_REFERENCE
from compiler.errors import InvalidInputError
from compiler.frontend.graph_json import graph_from_json
from compiler.measurement.board_process import BoardProcess
from compiler.measurement.progress import Progress
from compiler.proof.verdict import OutputCheck, Verdict, compare, verdict_of
from compiler.targets.tolerance import TOLERANCE

BATCH_S = 0.5  # between two signs of life
LONGEST_S = 60.0  # of timed runs: fewer than asked for are enough then


@dataclass(frozen=True, slots=True)
class Expected:
    """What the results of a design are compared with; those `kept` stay on the board, as keys and values do."""

    file: Path
    tolerance: float
    reference: str
    kept: frozenset[str] = frozenset()


def expected_of(directory: Path, description: dict[str, Any]) -> Expected:
    """Raises InvalidInputError where the design has no golden results."""
    file = directory / "tb" / "expected.npz"
    if not file.is_file():
        raise InvalidInputError(f"{file} is missing: nothing says what the results are; compile the design again")
    tolerance = TOLERANCE[description["workload"]["precision"]]
    graph = graph_from_json(json.loads((directory / "tb" / "graph.json").read_text()))
    rows = kept_rows(graph)
    kept = frozenset(output.name for output in graph.outputs if output.value in rows)
    return Expected(file, tolerance, description.get("reference", DEFAULT_REFERENCE), kept)


def timed_runs(board: BoardProcess, warm_up: int, repeats: int, limit_s: float, progress: Progress) -> list[int]:
    """Nanoseconds of `repeats` runs after `warm_up` others, of fewer where they take long. Raises BoardProcessError."""
    _runs(board, "warm-up", warm_up, limit_s, progress)
    return _runs(board, "timed runs", repeats, limit_s, progress)


def _runs(board: BoardProcess, name: str, count: int, limit_s: float, progress: Progress) -> list[int]:
    if not count:
        return []
    progress.begin(name, count, "runs")
    times: list[int] = []
    while len(times) < count and sum(times) < LONGEST_S * 1e9:
        times += board.time(count - len(times), BATCH_S, limit_s)
        progress.at(name, len(times), count)
    return times


def check(board: BoardProcess, expected: Expected) -> Verdict:
    """Compare the results of the last run. Raises BoardProcessError."""
    with tempfile.TemporaryDirectory(prefix="millrace-results-") as folder:
        file = Path(folder, "results.npz")
        board.save(file)
        outputs = _compare(file, expected)
    return verdict_of(outputs, (), "", expected.reference, 0.0)


def _compare(file: Path, expected: Expected) -> tuple[OutputCheck, ...]:
    """Every result that the reference has and the board gives. Raises InvalidInputError where the design has others."""
    with np.load(file) as got, np.load(expected.file) as golden:
        if set(got.files) != set(golden.files) - expected.kept:
            names = ", ".join(sorted(set(got.files) ^ (set(golden.files) - expected.kept)))
            text = f"the results of the design and {expected.file} are not the same ones ({names})"
            raise InvalidInputError(f"{text}; compile the design again")
        return tuple(compare(name, got[name], golden[name], expected.tolerance) for name in got.files)
