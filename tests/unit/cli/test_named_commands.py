"""The commands that the dashboard and the documents tell people to type are there, with the options that they name."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
from pages import ROOT, Block, blocks, inline_code, millrace_calls

from cli.main import app

DECLARED = ROOT / "docs" / "command-line.md"  # made from the commands themselves, groups and their examples as they are
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(set((ROOT / "docs").glob("*.md")) - {DECLARED})]
BLOCKS = [block for page in DOCUMENTS for block in blocks(page)]
INLINE = [(page, call) for page in DOCUMENTS for code in inline_code(page) for call in millrace_calls(code)]
DASHBOARD = [
    (page, words.split())
    for page in sorted((ROOT / "web" / "src").rglob("*.tsx"))
    for words in re.findall(r"(?:`|>|\./)millrace ([a-z]+(?: [a-z]+)*)", page.read_text(encoding="utf-8"))
]
OF_THE_START_SCRIPT = {"--torch-index": 1}  # options, and how many values they take


def command_of(call: list[str]) -> tuple[Any, list[str]]:
    """The command that a call names, and what follows it. Fails where there is none."""
    command: Any = typer.main.get_command(app)
    rest = list(call)
    while rest and rest[0] in OF_THE_START_SCRIPT:
        del rest[: 1 + OF_THE_START_SCRIPT[rest[0]]]
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        assert rest[0] in command.commands, f"there is no millrace {' '.join(call)}"
        command = command.commands[rest.pop(0)]
    assert rest or not hasattr(command, "commands"), f"millrace {' '.join(call)} names only a group"
    return command, rest


def values_of(command: Any, rest: list[str]) -> dict[str, Any]:
    """What a command is given. Fails for an option that it lacks, and for what is too much."""
    context = command.context_class(command, **command.context_settings)
    values, too_many, _ = command.make_parser(context).parse_args(list(rest))
    assert not too_many or context.allow_extra_args, f"{command.name} takes no {too_many}"
    return values


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_bash_understands_a_block(block: Block) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_calls_commands_as_they_are(block: Block) -> None:
    for call in millrace_calls(block.text):
        command, rest = command_of(call)
        values = values_of(command, rest)
        assert [p.name for p in command.params if p.required and values.get(p.name) is None] == [], call


@pytest.mark.parametrize(("page", "call"), INLINE, ids=[f"{page.name}: {' '.join(call)}" for page, call in INLINE])
def test_a_command_in_the_text_is_there(page: Path, call: list[str]) -> None:
    if call and call[0] != "COMMAND":
        values_of(*command_of(call))


@pytest.mark.parametrize(
    ("page", "call"), DASHBOARD, ids=[f"{page.name}: {' '.join(call)}" for page, call in DASHBOARD]
)
def test_a_command_of_the_dashboard_is_there(page: Path, call: list[str]) -> None:
    command_of(call)


def test_calls_of_millrace_are_found() -> None:
    text = """
    A=1 ./millrace up && sudo -u millrace /opt/millrace/millrace doctor   # millrace no
    docker compose exec api millrace farm key add x --role admin > key
    sudo install -o millrace -d x; sudo chown -R millrace: /opt/millrace
    kubectl --namespace millrace exec deploy/api -- millrace farm \\
        status
    """
    key, status = ["farm", "key", "add", "x", "--role", "admin"], ["farm", "status"]
    assert millrace_calls(text) == [["up"], ["doctor"], key, status]
