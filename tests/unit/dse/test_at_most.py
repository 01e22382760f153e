"""A designer's own bounds, beside those of the board."""

import pytest
from small_graphs import mlp

from bench.workload import NoSink
from compiler.errors import InvalidInputError, Violation
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from dse.at_most import amounts, bounded
from dse.evaluate import Evaluation
from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, search

BOARD = load_platform("u55c")


def design(*violations: Violation, **used: float) -> Evaluation:
    metrics = tuple(Metric(name, value, "", Fidelity.ESTIMATE) for name, value in used.items())
    return Evaluation(Knobs(), metrics, violations)


def searched(**at_most: float) -> SearchResult:
    return search(mlp(), BOARD, SearchOptions(60, jobs=1, at_most=at_most), NoSink())


def used(found: EvaluatedDesign, resource: str) -> float:
    return next(m.value for m in found.evaluation.metrics if m.name == resource)


def test_shares_are_of_what_the_board_offers() -> None:
    assert amounts({"lut": 40, "hbm_ports": 8}, BOARD) == {"lut": 0.4 * BOARD.budget.lut, "hbm_ports": 8}


@pytest.mark.parametrize(("at_most", "said"), [({"luts": 40}, "no bound for luts"), ({"dsp": 0}, "more than 0 of dsp")])
def test_what_can_not_be_bounded_is_said(at_most: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        amounts(at_most, BOARD)


def test_the_tighter_of_two_bounds_counts() -> None:
    board, wires = Violation("lut", 90.0, 80.0), Violation("sll", 2.0, 1.0)
    found = design(board, wires, lut=90.0, dsp=5.0)
    assert bounded(found, {"lut": 40.0, "dsp": 5.0}).violations == (Violation("lut", 90.0, 40.0), wires)
    assert bounded(found, {"lut": 85.0}).violations == (board, wires)
    assert bounded(found, {"uram": 1.0}) == found


def test_what_can_not_be_built_stays_as_it_is() -> None:
    refused = Evaluation(Knobs(), reason="the tile does not fit")
    assert bounded(refused, {"lut": 1.0}) == refused


def test_a_search_keeps_to_them() -> None:
    free, tight = searched(), searched(hbm_ports=4, lut=4)
    assert max(used(found, "hbm_ports") for found in free.front) > 4
    assert tight.front
    assert max(used(found, "hbm_ports") for found in tight.front) <= 4
    assert max(used(found, "lut") for found in tight.front) <= 0.04 * BOARD.budget.lut
    over = {v.resource for found in tight.designs for v in found.evaluation.violations}
    assert {"hbm_ports", "lut"} <= over
