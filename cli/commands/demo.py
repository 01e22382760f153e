"""`millrace demo`: the whole way once, on a real network: search, front, designs proved against PyTorch."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import typer

from cli import options
from cli.commands.explore import follow_to_end, print_result
from cli.output import console, errors, table, verdict_word
from cli.replies import Reader, by_objectives
from cli.service import Connection, connect, look
from worker.program import program

if TYPE_CHECKING:
    from millrace.wire import Exploration

_REQUEST: dict[str, Any] = {
    "model": "gpt2",
    "workload": {"phase": "decode", "length": 64, "precision": "w4a8", "batch": 1, "layers": 1},
    "platform": "u55c",
    "budget": 1000,
    "seed": 7,
    "sampler": "front",
    "verify": 3,
}


def demo(as_json: options.Json = False) -> None:
    """Explore a GPT-2 (124M) block for the U55C and prove the best designs against PyTorch, in a few minutes.

    A second run shows what is stored. Exit code 1: a verified design differs from PyTorch. Examples:

        millrace demo
    """
    with look(None) as reader:
        stored = next((e for e in reader.explorations() if _is_the_demo(e)), None)
        if stored is not None and stored.state == "done":
            when = f"{stored.created_at:%Y-%m-%d %H:%M} UTC"
            errors.print(f"this was done before ({when}): what is stored is shown, nothing is done again")
            raise typer.Exit(_show(reader, stored, reader.address, as_json))
    with connect(None) as connection:
        exploration = _explore(connection, stored, as_json)
        staying = None if connection.temporary else connection.client.address
        code = _show(connection.client, exploration, staying, as_json)
    raise typer.Exit(code)


def _show(reader: Reader, exploration: "Exploration", address: str | None, as_json: bool) -> int:
    code = print_result(reader, exploration, as_json)
    front = by_objectives(reader.front(exploration.id))
    if front and not as_json:
        _print_verdicts(reader, dict.fromkeys(pick.design_id for pick in exploration.picks))
        _print_address(address)
    return code


def _is_the_demo(exploration: "Exploration") -> bool:
    from millrace.encoding import to_json

    found = {**to_json(exploration), "model": exploration.model.name}
    return all(found[name] == value for name, value in _REQUEST.items())


def _explore(connection: Connection, stored: "Exploration | None", quiet: bool) -> "Exploration":
    from millrace.wire import NewExploration

    errors.print("exploring one GPT-2 (124M) block: decode, context 64, W4A8, Alveo U55C; Ctrl-C keeps what is done")
    errors.print(f"watch it in the dashboard meanwhile: {connection.client.address}")
    if stored is None:
        identifier = connection.client.start_exploration(NewExploration(**_REQUEST), str(uuid4())).id
    else:
        identifier = stored.id
        connection.client.resume(identifier)
        errors.print(f"going on where it stopped: {stored.evaluated} designs are stored")
    return follow_to_end(connection, identifier, quiet)


def _print_verdicts(reader: Reader, designs: Iterable[str]) -> None:
    rows = [row for design in designs for row in _verdict_rows(reader, design)]
    columns = (
        "design",
        "output",
        ">max rel error",
        ">rms rel error",
        ">tolerance of max",
        ">tasks proven",
        "verdict",
    )
    console.print(table("C simulation of the emitted C++ against PyTorch", columns, rows))


def _verdict_rows(reader: Reader, design: str) -> list[tuple[str, ...]]:
    verdicts = [b.verdict for b in reader.design(design).builds if b.stage == "csim" and b.verdict]
    if not verdicts:
        return [(design, "", "", "", "", "", verdict_word(None))]
    verdict = verdicts[0]  # the newest build comes first
    return [
        (
            design,
            output["name"],
            f"{output['max_rel_error']:.2g}",
            f"{output['rms_rel_error']:.2g}",
            f"{output['tolerance']:.2g}",
            f"{verdict['tasks_checked']} of {verdict['tasks']}" if "tasks" in verdict else "",  # of an earlier release
            verdict_word(output["passed"]),
        )
        for output in verdict["outputs"]
    ]


def _print_address(address: str | None) -> None:
    from worker.settings import Settings

    if address is not None:
        console.print(f"The dashboard is at [bold]{address}[/]")
        return
    settings = Settings()
    console.print(f"See it all in the dashboard: [bold]{program()} up[/], then http://{settings.host}:{settings.port}")
