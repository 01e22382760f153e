"""The text of one report, read within a bound, and the errors that name it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compiler.errors import ReportError

LARGEST = 64 << 20  # bytes; the largest real logs are a few MiB


@dataclass(frozen=True)
class Source:
    """`name` is what errors call it (the file's name), `text` its content, `raw` its bytes (few reports are binary)."""

    name: str
    text: str
    raw: bytes = b""

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends; a form feed ends no line."""
        return self.text.split("\n")

    @property
    def start(self) -> str:
        """The first words, for error messages."""
        first = next((line.strip() for line in self.text[:2000].split("\n") if line.strip()), "")
        return repr(first[:60]) if first else "nothing"

    def foreign(self, expected: str, give: str) -> ReportError:
        """Not the kind of report that was asked for: `expected` is a noun, `give` says which file is one."""
        return ReportError(f"{self.name} is not {expected}: it starts with {self.start}; give {give}")

    def truncated(self, missing: str) -> ReportError:
        return ReportError(f"{self.name} is truncated or damaged: {missing}; copy it again, or run the tool again")


def read_source(path: Path) -> Source:
    """Text of `path` (UTF-8, what is not becomes a replacement character). Raises ReportError above `LARGEST` bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise ReportError(f"{path} can not be read: {error.strerror or error}") from None
    if len(data) > LARGEST:
        raise ReportError(f"{path.name} is larger than {LARGEST >> 20} MiB: it is no report of a tool; give the report")
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return Source(path.name, text, data)
