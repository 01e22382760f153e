"""Where the site's data and pictures are kept, and how: JSON that says of which commit it is."""

import json
import subprocess
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = DOCS / "data"
PICTURES = DOCS / "pictures"
PLATFORM = "u55c"


def commit() -> str:
    """The commit that the sources are of, with `+` where they were changed since."""
    git = ["git", "-C", str(DOCS), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def keep(name: str, data: dict[str, Any]) -> None:
    """Write `data` as docs/data/NAME.json, with the commit first."""
    text = json.dumps({"commit": commit(), **data}, indent=1)
    (DATA / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def kept(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def draw(name: str, svg: str) -> None:
    """Write a picture as docs/pictures/NAME.svg."""
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")
