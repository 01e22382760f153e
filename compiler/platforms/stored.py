"""The board of a design directory: a shipped one by its name, any other by the file that lies in the directory."""

import json
from pathlib import Path

from compiler.errors import InvalidInputError
from compiler.platforms.platform import Platform, load_platform

FILE = "platform.toml"
OLDEST = "u55c"  # of directories that do not name their board


def store_platform(platform: Platform, design: Path) -> None:
    """Let the directory `design` describe its board, unless that is a shipped one."""
    if platform.text is not None:
        (design / FILE).write_text(platform.text)


def stored_platform(design: Path, name: str = OLDEST) -> Platform:
    """The board of the design, which calls it `name`. Raises InvalidInputError."""
    file = design / FILE
    return load_platform(file if file.is_file() else name)


def platform_of_design(design: Path) -> Platform:
    """The same, with the name that its `design.json` gives. Raises InvalidInputError."""
    description = design / "design.json"
    try:
        name = json.loads(description.read_text())["platform"] if description.is_file() else OLDEST
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(f"{description} is damaged ({error!r}); compile the design again") from error
    return stored_platform(design, name)
