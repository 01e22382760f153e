"""The commands in README.md and in the documents: shell blocks, inline code, and how they call millrace."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_OF_A_CHECKOUT = ("./millrace", "/opt/millrace/millrace")
_BEFORE_AN_IMAGES_COMMAND = ("api", "--")
_COMMENT = re.compile(r"(^|\s)#.*")  # shlex takes any # for the beginning of one, also in latest#915


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two fences of a page."""

    page: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path, language: str = "sh") -> list[Block]:
    """The blocks of a page in that language ("" for none), in their order."""
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(page, text.count("\n", 0, f.start(2)) + 1, f[2]) for f in fences if f[1] == language]


def inline_code(page: Path) -> list[str]:
    """What stands between single backquotes in the text of a page, each on one line."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)]


def millrace_calls(shell: str) -> list[list[str]]:
    """The arguments of every call of `millrace` in some shell text: a checkout's, an installed one, or an image's."""
    calls: list[list[str]] = []
    for line in shell.replace("\\\n", " ").splitlines():
        words = shlex.shlex(_COMMENT.sub("", line), posix=True, punctuation_chars=True)
        words.whitespace_split, words.commenters = True, ""
        command: list[str] = []
        for word in [*words, ";"]:
            if set(word) <= set(words.punctuation_chars):
                calls += _millrace_call(command)
                command = []
            else:
                command.append(word)
    return calls


def _millrace_call(command: list[str]) -> list[list[str]]:
    """The arguments that `command` gives to millrace, in a list; an empty one where it calls something else."""
    for i, word in enumerate(command):
        begins = all("=" in before for before in command[:i])
        if word in _OF_A_CHECKOUT or (word == "millrace" and (begins or command[i - 1] in _BEFORE_AN_IMAGES_COMMAND)):
            return [command[i + 1 :]]
    return []
