"""Results of a board against the reference's."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from compiler.errors import InvalidInputError
from compiler.measurement.board_process import BoardProcess
from compiler.measurement.runs import Expected, check


class Board:
    """Answers with `results`."""

    def __init__(self, **results: Any) -> None:
        self._results = results

    def save(self, file: Path) -> None:
        np.savez(file, **self._results)


def checked(folder: Path, board: Board) -> bool:
    np.savez(folder / "expected.npz", y=np.ones(3, np.float32), z=np.ones(2, np.float32))
    return check(cast(BoardProcess, board), Expected(folder / "expected.npz", 1e-3, "PyTorch")).passed


def test_every_result_counts(tmp_path: Path) -> None:
    right, wrong = np.ones(2, np.float32), np.zeros(2, np.float32)
    assert checked(tmp_path, Board(y=np.ones(3, np.float32), z=right))
    assert not checked(tmp_path, Board(y=np.ones(3, np.float32), z=wrong))


@pytest.mark.parametrize("results", [{}, {"y": np.ones(3)}, {"y": np.ones(3), "z": np.ones(2), "w": np.ones(1)}])
def test_a_board_that_gives_less_or_more_than_the_reference_has_not_passed(
    tmp_path: Path, results: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError, match=r"results of the design and .*expected\.npz are not the same ones"):
        checked(tmp_path, Board(**results))
