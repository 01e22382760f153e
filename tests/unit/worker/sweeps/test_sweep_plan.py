import pytest

from compiler.errors import InvalidInputError
from worker.sweeps.sweep_plan import Cell, cells, check_size, exploration_options


def test_a_matrix_is_every_combination() -> None:
    matrix = {"workload": ["w1", "w2"], "platform": ["u55c"], "seed": [0, 1], "sampler": ["nsga2"]}
    assert cells(matrix) == [Cell(w, "u55c", seed, "nsga2") for w in ("w1", "w2") for seed in (0, 1)]


def test_a_matrix_has_bounds() -> None:
    check_size([range(10), range(20)])
    with pytest.raises(InvalidInputError, match="has 201 explorations; a sweep may have 1 to 200"):
        check_size([range(201)])
    with pytest.raises(InvalidInputError, match="10000000000"):
        check_size([range(10**5), range(10**5)])


def test_options_of_an_exploration_are_those_it_knows() -> None:
    options = {"budget": 40, "verify": 3, "tolerance": 0.02, "webhook_secret": "s", "builds": {"csynth": 1}}
    expected = {"verify": 3, "builds": {"csynth": 1}, "seed": 7, "sampler": "tpe"}
    assert exploration_options(options, Cell("w", "u55c", 7, "tpe")) == expected
