"""The comparison: every cell of it says what it rests on, and the numbers of others are those of the reference."""

import re

from pages import ROOT

PAGE = (ROOT / "docs" / "compared.md").read_text(encoding="utf-8")
OTHERS = ("StreamTensor", "FINN", "hls4ml", "Stream-HLS", "Allo", "CODO")


def rows(first: str) -> list[list[str]]:
    """Cells of the table whose second column has this heading, a list a row."""
    table = PAGE[PAGE.index(f"| | {first} |") :].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_every_cell_has_a_source() -> None:
    for table in (rows("inputs"), rows("farm")):
        assert [row[0] for row in table] == ["Millrace", *OTHERS]
        bare = [(row[0], cell) for row in table for cell in row[1:] if not re.search(r"\]\([^)]+\)", cell)]
        assert bare == []


def test_ours_is_not_flattered() -> None:
    [ours] = [row for row in rows("farm") if row[0] == "Millrace"]
    assert ours[3] == "[never](board.md)"
    assert "not\naffiliated" in PAGE
