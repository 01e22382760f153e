"""The parts of pages that are made from data: between `<!-- NAME: made by bench.site.blocks -->` and `<!-- end -->`.

`python -m bench.site` writes them again; a test compares them.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.site import gallery, headline, knobs
from bench.site.kept import DOCS

BLOCKS: tuple[tuple[Path, str, Callable[[], str]], ...] = (
    (DOCS / "knobs.md", "base", knobs.base_table),
    *((DOCS / "gallery.md", entry.name, partial(gallery.tables, entry.name)) for entry in gallery.ENTRIES),
    (DOCS / "compared.md", "headline", headline.table),
    (DOCS.parent / "README.md", "headline", headline.table),
)


def with_block(text: str, name: str, content: str) -> str:
    """The text of a page with this content of the block `name`. Raises ValueError where it has none."""
    mark = f"<!-- {name}: made by bench.site.blocks -->\n"
    pattern = re.compile(rf"{re.escape(mark)}.*?^<!-- end -->", re.MULTILINE | re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"no block {name}; it begins with {mark.strip()}")
    return pattern.sub(lambda _: f"{mark}{content.rstrip()}\n<!-- end -->", text)


def write() -> None:
    """Write every block into its page."""
    for page, name, content in BLOCKS:
        page.write_text(with_block(page.read_text(encoding="utf-8"), name, content()), encoding="utf-8")
