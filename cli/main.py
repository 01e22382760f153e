"""Entry point: the commands and how they end."""

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.commands import (
    build,
    calibrate,
    csim,
    demo,
    design,
    doctor,
    exploration,
    explore,
    farm,
    generate,
    measure,
    model,
    pareto,
    simulate,
    sweep,
    test,
    up,
)
from cli.commands import compile as compile_command
from cli.commands import (
    report as report_command,
)
from cli.errors import report
from compiler.metrics import VERSION
from worker.program import as_typed, remember


class _Commands(TyperGroup):
    """Commands whose interruption is reported like any other end, and whose help has them as they are typed here."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            _say_as_typed(found)
        return found

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise typer.Exit(report(interrupt, _asks_for_json())) from interrupt


def _say_as_typed(command: Any) -> None:
    for described in (command, *command.params):
        if getattr(described, "help", None):
            described.help = as_typed(described.help)
    for inner in getattr(command, "commands", {}).values():
        _say_as_typed(inner)


def _asks_for_json() -> bool:
    """Before options are parsed: what is wrong with them is said in JSON too."""
    return "--json" in sys.argv[1:]


app = typer.Typer(
    cls=_Commands,
    name="millrace",
    help="Compile neural networks to stream-based dataflow accelerators and explore their design space.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"millrace {VERSION}")
        raise typer.Exit


@app.callback()
def millrace(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Compile neural networks to stream-based dataflow accelerators and explore their design space."""


app.command("demo")(demo.demo)
app.command("up")(up.up)
app.add_typer(model.app, name="model")
app.command("explore")(explore.explore)
app.command("pareto")(pareto.pareto)
app.command("report")(report_command.report)
app.add_typer(exploration.app, name="exploration")
app.add_typer(design.app, name="design")
app.add_typer(build.app, name="build")
app.add_typer(farm.app, name="farm")
app.add_typer(sweep.app, name="sweep")
app.command("compile")(compile_command.compile_)
app.command("csim")(csim.csim)
app.command("simulate")(simulate.simulate)
app.command("generate")(generate.generate)
app.command("measure")(measure.measure)
app.command("calibrate")(calibrate.calibrate)
app.command("doctor")(doctor.doctor)
app.command("test", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(test.run_tests)


def run() -> None:
    """The `millrace` command. Exit codes: see `cli.errors`."""
    remember()
    as_json = _asks_for_json()
    try:
        # Typer prints what is wrong with a command line by itself unless it stands for itself no longer.
        code = app(standalone_mode=not as_json)
    except Exception as error:  # noqa: BLE001 - the outermost frame: everything is reported
        code = report(error, as_json)
    sys.exit(code)
