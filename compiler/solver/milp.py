"""Linear programs, mixed-integer or not: the only module that imports the solver (cvxpy with HiGHS)."""

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Outcome = Literal["optimal", "limit", "infeasible", "failed"]

# What the solver says, as the compiler sees it; anything else is `failed`.
OUTCOMES: dict[str, Outcome] = {
    "optimal": "optimal",
    "optimal_inaccurate": "optimal",
    "user_limit": "limit",
    "infeasible": "infeasible",
    "infeasible_inaccurate": "infeasible",
    "infeasible_or_unbounded": "infeasible",
}


@dataclass(frozen=True, slots=True)
class Row:
    """Sum of coefficient x variable is at most `limit`; terms are (variable, coefficient)."""

    terms: tuple[tuple[int, float], ...]
    limit: float


@dataclass(frozen=True, slots=True)
class Milp:
    """Minimise cost.x under rows; the first `binaries` variables are 0 or 1, the others at least 0. With none of the
    first it is a linear program.
    """

    cost: Sequence[float]
    binaries: int
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class MilpSolution:
    """`values` is None where the solver found none. No solution costs less than `bound`."""

    outcome: Outcome
    values: tuple[float, ...] | None
    bound: float


def solve(program: Milp, gap: float, nodes: int, seconds: float) -> MilpSolution:
    """Solve to within a relative `gap` of the optimum, or stop after so many `nodes` of the search tree. A limit in
    nodes gives the same answer on every machine; `seconds` are for what takes far longer than planned.
    """
    cp: Any = importlib.import_module("cvxpy")  # takes seconds, and many designs need no solver
    sparse: Any = importlib.import_module("scipy.sparse")
    x = cp.Variable(len(program.cost), boolean=[tuple(range(program.binaries))] if program.binaries else [])
    terms = [(k, variable, value) for k, row in enumerate(program.rows) for variable, value in row.terms]
    places, columns, values = zip(*terms, strict=True) if terms else ((), (), ())
    matrix = sparse.csr_array((values, (places, columns)), shape=(len(program.rows), len(program.cost)))
    limits = np.array([row.limit for row in program.rows])
    problem = cp.Problem(cp.Minimize(np.array(program.cost) @ x), [matrix @ x <= limits, x >= 0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": said of every solution at a time limit
            problem.solve(solver=cp.HIGHS, mip_rel_gap=gap, mip_max_nodes=nodes, time_limit=seconds, threads=1)
    except (cp.SolverError, ValueError, TypeError):  # the last two: a time limit before the first solution
        return MilpSolution("failed", None, float("-inf"))
    outcome = OUTCOMES.get(problem.status, "failed")
    found = None if x.value is None else tuple(map(float, x.value))
    bound = problem.solver_stats.extra_stats.mip_dual_bound if program.binaries else _optimum(problem)
    return MilpSolution(outcome, found, float(bound))


def _optimum(problem: Any) -> float:
    """What bounds a program without binaries: its optimum, nothing where it is not solved."""
    return problem.value if OUTCOMES.get(problem.status) == "optimal" else float("-inf")
