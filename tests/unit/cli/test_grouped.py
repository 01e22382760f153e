"""Options that belong together: what Typer sees, and what the command gets."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from cli.grouped import grouped


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option(min=1)]
    height: Annotated[int, typer.Option(help="Of it.")] = 2


def run(*arguments: str) -> tuple[int, list[object]]:
    app, seen = typer.Typer(), list[object]()

    @app.command()
    @grouped
    def command(*, name: str, size: Size, loud: bool = False) -> None:
        """What the help says."""
        seen.extend((name, size, loud))

    return CliRunner().invoke(app, list(arguments)).exit_code, seen


@pytest.mark.parametrize(
    ("arguments", "size"),
    [(("--width", "3"), Size(3)), (("--width", "3", "--height", "5"), Size(3, 5))],
)
def test_fields_are_options(arguments: tuple[str, ...], size: Size) -> None:
    assert run("box", *arguments, "--loud") == (0, ["box", size, True])


def test_a_field_without_default_is_required_and_bounds_hold() -> None:
    assert run("box") == (2, [])
    assert run("box", "--width", "0") == (2, [])
