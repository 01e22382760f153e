"""The design that is measured, as its directory describes it."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from compiler.analysis.limits import Flag, Work, impossible
from compiler.design_dir import read_design, refuse_edited
from compiler.errors import InvalidInputError
from compiler.host.design import load_design
from compiler.measurement.measurement import Measurement, RunPower, RunTimes
from compiler.measurement.runs import Expected, expected_of
from compiler.metrics import Fidelity, Metric
from compiler.platforms.platform import Platform
from compiler.platforms.stored import stored_platform
from compiler.proof.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Subject:
    """`kernels` in the order in which they run; `estimates` are the design's own metrics by name."""

    directory: Path
    name: str
    platform: Platform
    kernels: tuple[str, ...]
    expected: Expected
    estimates: dict[str, float]
    edited: tuple[str, ...]

    def flags(self, metrics: tuple[Metric, ...]) -> tuple[Flag, ...]:
        """Metrics that can not be, for what the design reads and writes."""
        return impossible(metrics, self.platform, Work(self.estimates.get("hbm_traffic", 0.0)))

    def measurement(
        self,
        verdict: Verdict,
        seconds: float,
        *,
        board: str,
        shell: str,
        tools: dict[str, str],
        times: RunTimes | None = None,
        power: RunPower | None = None,
        metrics: tuple[Metric, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Measurement:
        """What was found on a board. Where results are wrong, how fast they came is no metric."""
        metrics = metrics if verdict.passed else ()
        return Measurement(
            self.name,
            board,
            shell,
            verdict.passed,
            verdict.message,
            verdict.outputs,
            times,
            power,
            metrics,
            self.flags(metrics),
            notes,
            tools,
            seconds,
            self.edited,
        )


def read_subject(directory: Path, allow_edited: bool) -> Subject:
    """Raises InvalidInputError where `directory` holds no design, a damaged one, or, unless allowed, an edited one."""
    description, edited = read_design(directory), refuse_edited(directory, allow_edited)
    try:
        kernels = tuple(kernel.name for kernel in load_design(directory).kernels)
        platform = stored_platform(directory, description["platform"])
        expected = expected_of(directory, description)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(f"{directory} is damaged ({error!r}); compile the design again") from error
    name = str(description.get("name", directory.name))
    return Subject(directory, name, platform, kernels, expected, _estimates(description), edited)


def _estimates(description: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric in cast("list[Any]", description.get("metrics", [])):
        match metric:
            case {"name": str(name), "fidelity": Fidelity.ESTIMATE, "value": int() | float() as value}:
                found[name] = float(value) if math.isfinite(value) else 0.0
            case _:
                pass
    return found
