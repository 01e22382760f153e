"""A designer's own bounds, beside those of the board."""

from dataclasses import replace

import pytest
from small_graphs import mlp

from bench.workload import NoSink
from compiler.analysis.design_area import DesignArea
from compiler.analysis.placement.fit_dies import fit_dies
from compiler.errors import InvalidInputError, Violation
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from dse.at_most import amounts, bounded, text
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


def test_metrics_are_bounded_in_their_unit_and_dies_by_what_one_has() -> None:
    home = BOARD.dies.slrs[0]
    assert home.hbm
    one = amounts({"dies": 1, "lut": 90, "dsp": 1, "energy": 400.5, "area": 30, "hbm_ports": 8}, BOARD)
    assert (one["energy"], one["area"], one["hbm_ports"]) == (400.5, 30, 8)
    assert one["lut"] == BOARD.dies.fill * home.lut
    assert one["dsp"] == 0.01 * BOARD.budget.dsp
    assert set(one) == {"lut", "ff", "dsp", "bram36", "uram", "energy", "area", "hbm_ports"}
    assert text({"lut": 40, "dies": 1, "energy": 400.5}) == "lut 40 %, dies 1, energy 400.5 uJ"


@pytest.mark.parametrize(
    ("at_most", "said"),
    [
        ({"luts": 40}, "no bound for luts"),
        ({"dsp": 0}, "more than 0 of dsp"),
        ({"dies": 2}, "bounded to 1 die, not to 2"),
    ],
)
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


def test_one_die_is_what_the_estimate_has_on_one() -> None:
    """On dies half as large as the board has, so that many designs of a small network need more than one."""
    small = tuple(
        replace(slr, **{name: getattr(slr, name) // 2 for name in ("lut", "ff", "dsp", "bram36", "uram")})
        for slr in BOARD.dies.slrs
    )
    board = replace(BOARD, dies=replace(BOARD.dies, slrs=small))
    most, graph, whole = amounts({"dies": 1}, board), mlp(), list[bool]()
    for found in search(graph, board, SearchOptions(60, jobs=1), NoSink()).designs:
        if found.evaluation.priced:
            tasks = planned_tasks(graph, found.knobs, board)
            whole.append(fit_dies(DesignArea.of(tasks, board), board).use.shape[0] == 1)
            mine = bounded(replace(found.evaluation, violations=()), most)
            assert mine.feasible == whole[-1]
    assert 5 < sum(whole) < len(whole) - 5


def test_a_search_keeps_to_them() -> None:
    free, tight = searched(), searched(hbm_ports=4, lut=4)
    assert max(used(found, "hbm_ports") for found in free.front) > 4
    assert tight.front
    assert max(used(found, "hbm_ports") for found in tight.front) <= 4
    assert max(used(found, "lut") for found in tight.front) <= 0.04 * BOARD.budget.lut
    over = {v.resource for found in tight.designs for v in found.evaluation.violations}
    assert {"hbm_ports", "lut"} <= over
    middle = free.front[len(free.front) // 2].evaluation.objectives(("energy",))[0]
    frugal = searched(energy=middle)
    assert 0 < max(used(found, "energy") for found in frugal.front) <= middle
