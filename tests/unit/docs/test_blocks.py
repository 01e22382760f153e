"""What pages say and show of measured data is what the data say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.site import gallery, knobs
from bench.site.blocks import BLOCKS, with_block
from bench.site.front_picture import ticks
from bench.site.kept import PICTURES

DRAWN = {**gallery.pictures(), **knobs.pictures()}


@pytest.mark.parametrize(("page", "name", "content"), BLOCKS, ids=[f"{page.name}: {name}" for page, name, _ in BLOCKS])
def test_a_block_is_what_the_data_say(page: Path, name: str, content: Callable[[], str]) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_block(text, name, content()) == text, "run `python -m bench.site`, then docs/build.py"


def test_a_page_without_the_block_is_refused() -> None:
    with pytest.raises(ValueError, match="no block base"):
        with_block("# A page\n", "base", "")


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_of_the_data(name: str) -> None:
    assert (PICTURES / f"{name}.svg").read_text(encoding="utf-8") == DRAWN[name], "run `python -m bench.site`"


@pytest.mark.parametrize("values", [(2.9, 7.1), (65.0, 2400.0), (3426.0, 3429.0), (0.9, 1.1), (5.0, 5.0)])
def test_an_axis_has_a_few_round_ticks(values: tuple[float, float]) -> None:
    low, high = values
    found = ticks(values)
    assert len(found) <= 6
    assert len(found) >= (2 if high > low else 1)
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)
