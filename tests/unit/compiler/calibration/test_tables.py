"""Tables of the fixtures' `derived/`: what is no such table says so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.calibration.tables import core_samples, fifo_samples, latency_error
from compiler.errors import InvalidInputError


@pytest.mark.parametrize("read", [core_samples, fifo_samples, latency_error])
@pytest.mark.parametrize("text", ["a,b\n1,2\n", "tool,core\n2023.2\n"])
def test_another_table(tmp_path: Path, read: Callable[[Path], object], text: str):
    file = tmp_path / "x.csv"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=r"x\.csv is damaged"):
        read(file)
