"""The solver's answers, as the compiler sees them."""

from compiler.solver.milp import Milp, Row, solve

LIMITS = {"gap": 0.0, "nodes": 100, "seconds": 10.0}


def test_a_knapsack_is_solved_to_its_optimum() -> None:
    weights, values = (4, 3, 5, 6), (5, 4, 6, 9)
    row = Row(tuple(enumerate(map(float, weights))), 10.0)
    found = solve(Milp([-float(v) for v in values], 4, [row]), **LIMITS)
    assert found.outcome == "optimal"
    assert found.values is not None
    assert [round(v) for v in found.values] == [1, 0, 0, 1]
    assert found.bound == -14.0


def test_continuous_variables_may_lie_between() -> None:
    rows = [Row(((0, 1.0), (1, -1.0)), -0.5)]
    found = solve(Milp([0.0, 1.0], 1, rows), **LIMITS)
    assert found.values == (0.0, 0.5)


def test_what_can_not_be_is_infeasible_and_no_error() -> None:
    found = solve(Milp([1.0], 1, [Row(((0, -1.0),), -2.0)]), **LIMITS)
    assert (found.outcome, found.values) == ("infeasible", None)


def test_a_program_without_binaries_is_bounded_by_its_optimum() -> None:
    rows = [Row(((0, 1.0), (1, -1.0)), -1.5), Row(((1, 1.0),), 4.0)]
    found = solve(Milp([-1.0, 2.0], 0, rows), **LIMITS)
    assert (found.outcome, found.values, found.bound) == ("optimal", (0.0, 1.5), 3.0)
    assert solve(Milp([1.0], 0, [Row(((0, -1.0),), -2.0), Row(((0, 1.0),), 1.0)]), **LIMITS).values is None
    assert solve(Milp([-1.0], 0, []), **LIMITS).bound == float("-inf")
