"""What C simulation says of a design: of every result and of every task."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.design_dir import DEFAULT_REFERENCE
from compiler.errors import MillraceError
from compiler.proof.checks import Finding, summary

_SHOWN = 20  # findings that a verdict keeps


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One result against the reference. Errors are the largest over all elements; `max_rel_error` relative to the
    largest magnitude of the expected result, `rms_rel_error` the root mean square error relative to its root mean
    square.
    """

    name: str
    max_abs_error: float
    max_rel_error: float
    rms_rel_error: float
    tolerance: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What C simulation says of a design. `tasks_checked` of its `tasks` were compared with their operations, those in
    `unchecked` were not; `checks` says by kind of task how close they came (`compiler.proof.checks.summary`), `wrong`
    which differ, the first in the order of the data first. `edited` names files that are not as they were compiled, so
    that the verdict is on something else than the design; `reference` is what the results were compared with.
    """

    passed: bool
    outputs: tuple[OutputCheck, ...]
    message: str
    seconds: float
    tasks: int = 0
    tasks_checked: int = 0
    unchecked: tuple[str, ...] = ()
    checks: tuple[dict[str, Any], ...] = ()
    wrong: tuple[dict[str, Any], ...] = ()
    edited: tuple[str, ...] = ()
    reference: str = DEFAULT_REFERENCE

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def verdict_of(
    outputs: tuple[OutputCheck, ...],
    findings: Sequence[Finding],
    testbench: str,
    reference: str,
    seconds: float,
    tasks: Sequence[str] = (),
) -> Verdict:
    """What the checks together say of `tasks`; `testbench` is what it said where it found something wrong."""
    wrong = [found for found in findings if found.wrong]
    messages = [str(found) for found in wrong[:1]]
    messages += [
        f"{o.name} is off by {o.max_rel_error:.2g} from {reference}, {o.tolerance:.2g} is allowed"
        for o in outputs
        if not o.passed
    ]
    if testbench and not messages:  # the two checks read the same files: one of them is broken
        messages.append(f"the testbench disagrees: {testbench}")
    checked = {found.task for found in findings if found.scope == "local"}
    return Verdict(
        not messages,
        outputs,
        "; ".join(messages),
        seconds,
        len(tasks),
        len(checked),
        tuple(name for name in tasks if name not in checked),
        tuple(summary(findings)),
        tuple(asdict(found) for found in wrong[:_SHOWN]),
        reference=reference,
    )


def compare(name: str, got: NDArray[Any], expected: NDArray[Any], tolerance: float) -> OutputCheck:
    """Errors of `got`; a NaN or infinity in either is an infinite error, shapes must agree. Integers must be equal:
    they name something, a token.
    """
    if got.shape != expected.shape:
        raise MillraceError(f"{name} has shape {list(got.shape)} where the reference gives {list(expected.shape)}")
    finite = bool(np.isfinite(got).all() and np.isfinite(expected).all())
    error = np.abs(got.astype(np.float64) - expected.astype(np.float64)) if finite else np.array([np.inf])
    tolerance = 0.0 if np.issubdtype(expected.dtype, np.integer) else tolerance
    scale = float(np.abs(expected).max()) or 1.0
    rms = float(np.sqrt(np.mean(np.square(expected, dtype=np.float64)))) or 1.0
    largest = float(error.max())
    return OutputCheck(
        name,
        largest,
        largest / scale,
        float(np.sqrt(np.mean(np.square(error)))) / rms,
        tolerance,
        finite and largest <= tolerance * scale,
    )
