"""`millrace calibrate`: the area and power model refitted from reports of builds, and its error on other designs."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.output import console, emit_json, table
from worker.program import program

if TYPE_CHECKING:
    from compiler.calibration.calibrate import Calibration
    from compiler.calibration.errors import ErrorRow, Spread

Reports = Annotated[
    list[Path] | None,
    typer.Argument(help="Reports of csynth and of routed kernels, or folders with them.", metavar="[REPORT]..."),
]
Fixtures = Annotated[
    Path | None,
    typer.Option(help="Folder with reports and, in derived/, tables of more of them.", file_okay=False, exists=True),
]
PowerTable = Annotated[
    Path | None,
    typer.Option("--power", help="CSV of measured runs: resources, activity, clock, traffic, watts.", exists=True),
]
Write = Annotated[Path | None, typer.Option("--write", help="Write a calibration file for `compile --calibration`.")]


def calibrate(
    reports: Reports = None,
    fixtures: Fixtures = None,
    power: PowerTable = None,
    platform: options.PlatformFile = "u55c",
    write: Write = None,
    as_json: options.Json = False,
) -> None:
    """Refit the area and power model from reports, and show its error on designs that the fit did not see.

    Designs are held out together by origin: those of Millrace, others whose reports' names are alike up to the first
    underscore. Reports of a design of Millrace lie in its directory; what folders hold besides is passed over.

    Examples:

        millrace calibrate builds/ --write lab.toml

        millrace compile gpt2 --calibration lab.toml --out d
    """
    from compiler.calibration.calibrate import calibrate as refit
    from compiler.calibration.calibration_file import write_calibration
    from compiler.platforms.platform import named_platform

    found = refit(named_platform(platform), reports or [], fixtures, power)
    if write is not None:
        write_calibration(found, datetime.now(UTC).date().isoformat(), write)
    if as_json:
        emit_json({**found.to_json(), "written": str(write) if write is not None else None})
        return
    show(found)
    if write is not None:
        console.print(f"written to {write}; next: {program()} compile MODEL --calibration {write} --out DIR")


def show(found: "Calibration") -> None:
    """Print errors, coefficients and what was left out."""
    title = "relative error per class of kernel: median / 90th percentile (median with sign)"
    columns = ("kernel", "resource", ">samples", ">designs", ">platform", ">fit to other designs", ">to other sources")
    if found.rows:
        console.print(table(title, columns, map(_error_cells, found.rows)))
        console.print(table("coefficients", ("unit", ">LUT", ">LUT was", ">FF", ">FF was"), _coefficients(found)))
    for name, factor in found.routed.items():
        spread = f"four fifths within {factor.low:.2f}-{factor.high:.2f}"
        console.print(f"routed {name}: {factor.factor:.2f} x csynth, {spread}")
    if (latency := found.latency) is not None:
        console.print(
            f"cosim / csynth latency of {latency.n} designs: median {latency.median:.3f}, {latency.within_2_percent} "
            f"within 2 %, 90th percentile {latency.p90:.2f}, worst {latency.high:.2f}"
        )
    if (power := found.power) is not None:
        fair = f"{power.held_out:.1%}" if power.held_out is not None else "not known, too few runs"
        console.print(f"power: {power.runs} runs, median error {power.before:.1%}; of runs not fitted {fair}")
    for skipped in found.skipped:
        console.print(f"[dim]passed over: {skipped.path.name}[/]")
    console.print(found.summary)


def _error_cells(row: "ErrorRow") -> tuple[str, ...]:
    spreads = (row.before, row.other_designs, row.other_sources)
    return row.kind, row.resource, str(row.n), str(row.designs), *map(_percent, spreads)


def _percent(spread: "Spread | None") -> str:
    return "-" if spread is None else f"{spread.median:.1%} / {spread.p90:.1%} ({spread.bias:+.1%})"


def _coefficients(found: "Calibration") -> Iterable[tuple[str, ...]]:
    for name, after in found.coefficients.items():
        before = found.before[name]
        yield name, f"{after.lut:.2f}", f"{before.lut:.2f}", f"{after.ff:.2f}", f"{before.ff:.2f}"
