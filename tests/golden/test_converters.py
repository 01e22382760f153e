"""The C++ of each way to realise a converter. `--update-golden` writes the files anew; then read them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from converters import code_of

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("construct", "case"),
    [
        ("converter_even_pace", "even pace"),
        ("converter_refill", "refill with tiles"),
        ("converter_ring", "ring"),
        ("converter_ring_of_banks", "banks apart in a ring"),
    ],
)
def test_realisation(construct: str, case: str, golden: Callable[[str, Path], None]) -> None:
    golden(code_of(case), HERE / f"{construct}.cpp")
