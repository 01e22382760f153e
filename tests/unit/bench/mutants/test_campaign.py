from collections import Counter
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.mutants import campaign
from bench.mutants.campaign import Campaign
from bench.mutants.designs import Built
from bench.mutants.draw import Emitted, Mutant
from bench.mutants.source import Function
from bench.mutants.trial import Judged, Unreal


def function(literals: int) -> Function:
    body = "".join(f"  const float v{n} = x * {n + 2}.5f;\n" for n in range(literals))
    return Function("task", "compute", f"void task(float& x) {{\n{body}}}\n")


def of(literals: dict[str, int], pool: Executor, count: int, seed: int = 0) -> Campaign:
    designs = {
        name: (Built(name, Path(), Path(), (), 1.0), Emitted(name, {"task": function(number)}, ()))
        for name, number in literals.items()
    }
    return Campaign(designs, ["constant x1.1"], count, seed, (), pool)


@pytest.fixture(autouse=True)
def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every third edit changes nothing."""

    def fake(mutant: Mutant, built: Built, trials: object) -> Judged | Unreal:
        return Unreal(mutant) if mutant.number % 3 == 0 else Judged(mutant, "check", "task", True, "", 0.0)

    monkeypatch.setattr(campaign, "judge", fake)


def test_edits_that_change_nothing_are_drawn_again() -> None:
    with ThreadPoolExecutor(3) as pool:
        made = of({"a": 40, "b": 40}, pool, 20)
        ticks: list[None] = []
        made.run(lambda: ticks.append(None))
    assert len(made.judged) == len(ticks) == 20
    assert made.unreal == 8
    assert Counter(j.mutant.design for j in made.judged) == {"a": 10, "b": 10}


def test_other_designs_step_in_for_those_with_few_places() -> None:
    with ThreadPoolExecutor(3) as pool:
        made = of({"few": 3, "many": 60}, pool, 20)
        made.run(lambda: None)
    assert Counter(j.mutant.design for j in made.judged) == {"few": 2, "many": 18}


def test_where_no_design_has_more_fewer_are_made() -> None:
    with ThreadPoolExecutor(1) as pool:
        made = of({"few": 3}, pool, 20)
        made.run(lambda: None)
    assert len(made.judged) == 2


def test_the_same_are_made_however_many_run_side_by_side() -> None:
    def made(jobs: int) -> set[tuple[str, int]]:
        with ThreadPoolExecutor(jobs) as pool:
            done = of({"a": 5, "b": 9, "c": 60}, pool, 30, seed=2)
            done.run(lambda: None)
        return {(j.mutant.design, j.mutant.number) for j in done.judged}

    assert made(1) == made(8)
