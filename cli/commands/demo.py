"""`millrace demo`: the whole way once, on a real network: search, front, designs proved against PyTorch."""

from typing import Any
from uuid import uuid4

import typer

from cli import options
from cli.client import Client, DesignSummary, Exploration
from cli.commands.explore import follow_to_end, print_result
from cli.front import ends_and_knee
from cli.output import console, errors, table, verdict_word
from cli.service import Connection, connect

_REQUEST: dict[str, Any] = {
    "model": "gpt2",
    "workload": {"phase": "decode", "length": 64, "precision": "w4a8", "batch": 1, "layers": 1},
    "platform": "u55c",
    "budget": 240,
    "seed": 0,
    "sampler": "nsga2",
    "verify": 3,
}


def demo(as_json: options.Json = False) -> None:
    """Explore a GPT-2 (124M) block for the U55C and prove the best designs against PyTorch, in a few minutes.

    A second run shows what is stored. Exit code 1: a verified design differs from PyTorch. Examples:

        millrace demo
    """
    with connect(None) as connection:
        client = connection.client
        stored = _stored(client)
        if stored is not None and stored["state"] == "done":
            errors.print(
                f"the result of {stored['created_at'][:16].replace('T', ' ')} UTC is stored; nothing is redone"
            )
            exploration = stored
        else:
            exploration = _explore(connection, stored, as_json)
        code = print_result(client, exploration, as_json)
        if not as_json:
            _print_verdicts(client, client.front(exploration["id"]))
            _print_address(connection)
    raise typer.Exit(code)


def _stored(client: Client) -> Exploration | None:
    """The newest exploration that the demo started before and that has not failed."""
    return next((e for e in client.explorations() if e["state"] != "failed" and _is_the_demo(e)), None)


def _is_the_demo(exploration: Exploration) -> bool:
    found = {**exploration, "model": exploration["model"]["name"]}
    return all(found[name] == value for name, value in _REQUEST.items())


def _explore(connection: Connection, stored: Exploration | None, quiet: bool) -> Exploration:
    errors.print("exploring one GPT-2 (124M) block: decode, context 64, W4A8, Alveo U55C; Ctrl-C keeps what is done")
    if stored is None:
        identifier = connection.client.explore(_REQUEST, str(uuid4()))
    else:
        identifier = stored["id"]
        connection.client.resume(identifier)
        errors.print(f"going on where it stopped: {stored['evaluated']} designs are stored")
    return follow_to_end(connection, identifier, quiet)


def _print_verdicts(client: Client, front: list[DesignSummary]) -> None:
    rows = [row for design in ends_and_knee(front) for row in _verdict_rows(client, design)]
    columns = (
        "design",
        "output",
        ">max rel error",
        ">rms rel error",
        ">tolerance of max",
        ">integer mismatches",
        "verdict",
    )
    console.print(table("C simulation of the emitted C++ against PyTorch", columns, rows))


def _verdict_rows(client: Client, design: DesignSummary) -> list[tuple[str, ...]]:
    verdicts = [b["verdict"] for b in client.design(design["id"])["builds"] if b["stage"] == "csim" and b["verdict"]]
    if not verdicts:
        return [(design["id"], "", "", "", "", "", verdict_word(None))]
    verdict = verdicts[-1]
    return [
        (
            design["id"],
            output["name"],
            f"{output['max_rel_error']:.2g}",
            f"{output['rms_rel_error']:.2g}",
            f"{output['tolerance']:.2g}",
            f"{verdict['integer_mismatches']} in {verdict['tasks_checked']} tasks",
            verdict_word(output["passed"]),
        )
        for output in verdict["outputs"]
    ]


def _print_address(connection: Connection) -> None:
    if connection.temporary:
        console.print("See it all in the dashboard: [bold]./millrace up[/], then http://127.0.0.1:8642")
    else:
        console.print(f"The dashboard is at [bold]{connection.client.url}[/]")
