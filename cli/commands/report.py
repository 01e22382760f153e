"""`millrace report`: an exploration as one file that needs no server, and its front as CSV and LaTeX."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.errors import NO
from cli.front_files import front_csv, front_latex
from cli.output import console, emit_json, errors
from cli.report import Report, html
from cli.service import look
from compiler.errors import InvalidInputError

if TYPE_CHECKING:
    from millrace.wire import Exploration


def report(
    exploration: options.ExplorationKey,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file to write.", metavar="FILE", dir_okay=False)
    ] = None,
    design: Annotated[
        str | None, typer.Option(help="The design whose graph is drawn.", show_default="the knee", metavar="DESIGN")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the front as CSV.", metavar="FILE", dir_okay=False)] = None,
    latex: Annotated[
        Path | None, typer.Option(help="Write the front as a LaTeX table (booktabs).", metavar="FILE", dir_okay=False)
    ] = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Write an exploration as ONE HTML file: front with knobs, all metrics with fidelity, the graph of a design, where
    each number comes from. It works without a server and asks nobody for anything.

    Exit code 1: the front is empty, nothing is written. Examples:

        millrace report latest -o front.html

        millrace report gpt2-decode-64-w4a8 -o front.html --design 915 --csv front.csv --latex front.tex
    """
    from millrace.graph import read_graph

    wanted = {"html": out, "csv": csv, "latex": latex}
    if not any(wanted.values()):
        raise InvalidInputError("say what to write: -o front.html, --csv front.csv or --latex front.tex")
    with look(url) as reader:
        found = reader.exploration(exploration)
        front = [reader.design(summary.id) for summary in reader.front(found.id)]
        if not front:
            errors.print(f"the front of {found.name} is empty: {found.state}, {found.feasible} feasible designs")
            raise typer.Exit(NO)
        if out is not None:
            chosen = reader.design(_chosen(found, design))
            graph = read_graph(reader.artifact(chosen.id, "dataflow.json")) if chosen.dataflow_available else None
            model, points = reader.model(found.model.id), reader.scatter(found.id)
            _write(out, html(Report(found, model, front, points, chosen, graph)))
    if csv is not None:
        _write(csv, front_csv(front))
    if latex is not None:
        _write(
            latex,
            front_latex(
                front,
                [o.name for o in found.objectives],
                f"Pareto front of {found.name} ({found.platform}), {len(front)} designs",
            ),
        )
    written = {kind: str(path) for kind, path in wanted.items() if path is not None}
    if as_json:
        emit_json({"exploration": found.id, "designs": len(front), "written": written})
    else:
        console.print(f"{len(front)} designs of {found.name} written to {', '.join(written.values())}", markup=False)


def _chosen(found: "Exploration", design: str | None) -> str:
    if design is None:
        return next(pick.design_id for pick in found.picks if pick.kind == "knee")
    return f"{found.id}#{design}" if design.isdigit() else design


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
