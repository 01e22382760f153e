"""The commands that the dashboard and the documents tell people to type are there."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from cli.main import app

ROOT = Path(__file__).parents[3]
PAGES = sorted([*(ROOT / "web" / "src").rglob("*.tsx"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
NAMED = [
    (page, words)
    for page in PAGES
    for words in re.findall(r"(?:`|>|\./)millrace ([a-z]+(?: [a-z]+)*)", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "words"), NAMED, ids=[f"{page.name}: {words}" for page, words in NAMED])
def test_a_command_that_people_are_told_to_type_is_there(page: Path, words: str) -> None:
    command: Any = typer.main.get_command(app)
    for word in words.split():
        if not hasattr(command, "commands"):
            return  # what follows are its arguments
        assert word in command.commands, f"{page}: millrace {words}"
        command = command.commands[word]
    assert not hasattr(command, "commands"), f"{page}: millrace {words} names only a group"
