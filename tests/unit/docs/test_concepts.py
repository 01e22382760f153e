"""Pictures of concepts are what the code draws."""

from pathlib import Path

import pytest
from pages import ROOT

from bench.site.concepts import PICTURES
from bench.site.converter_picture import SOURCE, TARGET, elements_in
from compiler.graph.converter import plan_converter

OF_A_NETWORK = ("fusion", "fifo")  # which is imported first
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in OF_A_NETWORK else []) for name in PICTURES]


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_redrawn_equal(name: str) -> None:
    kept = ROOT / "docs" / "pictures" / f"{name}.svg"
    assert PICTURES[name]() == kept.read_text(encoding="utf-8"), (
        "run `python -m bench.site.concepts`, then docs/build.py"
    )


def test_every_picture_is_shown() -> None:
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert [name for name in PICTURES if f"](pictures/{name}.svg)" not in page] == []


def test_pictures_are_in_use() -> None:
    """No picture is left that no page shows."""
    pages = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *Path(ROOT / "docs").glob("**/*.md")]]
    files = [path.name for path in (ROOT / "docs" / "pictures").iterdir()]
    assert [name for name in files if not any(f"pictures/{name})" in page for page in pages)] == []


def test_what_the_converter_holds_is_within_its_buffer() -> None:
    converter = plan_converter(SOURCE, TARGET)
    inside = elements_in(converter)
    assert inside[-1] == 0
    assert converter.exact_bits <= max(inside) * 32 <= converter.bits <= converter.paper_bits
