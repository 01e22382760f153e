"""What pages say of measured data is what the data say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.site.blocks import BLOCKS, with_block


@pytest.mark.parametrize(("page", "name", "content"), BLOCKS, ids=[f"{page.name}: {name}" for page, name, _ in BLOCKS])
def test_a_block_is_what_the_data_say(page: Path, name: str, content: Callable[[], str]) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_block(text, name, content()) == text, "run `python -m bench.site.blocks`, then docs/build.py"


def test_a_page_without_the_block_is_refused() -> None:
    with pytest.raises(ValueError, match="no block base"):
        with_block("# A page\n", "base", "")
