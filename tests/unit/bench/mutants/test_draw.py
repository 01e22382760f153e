from collections import Counter
from itertools import islice

from bench.mutants.draw import Emitted, mutants, offers
from bench.mutants.source import Function

LONG = "void long_one(float& x) {\n" + "".join(f"  const float v{n} = x * {n + 2}.5f;\n" for n in range(40)) + "}\n"
SHORT = "void short_one(float& x) {\n  const float v = x * 1.5f;\n  const float w = x * 3.5f;\n}\n"
PLAIN = "void plain(float& x) {\n}\n"


def design(name: str = "one") -> Emitted:
    texts = {"long_one": LONG, "short_one": SHORT, "plain": PLAIN}
    return Emitted(name, {task: Function(task, "compute", text) for task, text in texts.items()}, ())


def test_every_task_with_a_place_has_the_same_chance() -> None:
    first = Counter(next(mutants(design(), "constant x1.1", seed)).task for seed in range(400))
    assert set(first) == {"long_one", "short_one"}
    assert 160 <= first["short_one"] <= 240


def test_the_same_seed_draws_the_same() -> None:
    def drawn(name: str, seed: int) -> list[str]:
        return [mutant.after for mutant in islice(mutants(design(name), "operator", seed), 20)]

    assert drawn("one", 3) == drawn("one", 3)
    assert drawn("one", 3) != drawn("one", 4)
    assert drawn("one", 3) != drawn("another", 3)


def test_none_is_drawn_twice_and_all_are() -> None:
    drawn = list(mutants(design(), "constant x1.1", 0))
    assert len(drawn) == 42
    assert len({mutant.after for mutant in drawn}) == 42
    assert [mutant.number for mutant in drawn] == list(range(1, 43))


def test_a_mutant_is_its_function_with_one_mistake() -> None:
    mutant = next(mutants(design(), "constant x1.01", 1))
    assert mutant.before in (LONG, SHORT)
    assert mutant.after != mutant.before
    assert mutant.edited == (mutant.task,)
    assert not mutant.kernel


def test_a_design_without_a_place_offers_none() -> None:
    assert offers(design(), "scale")
    assert not offers(design(), "rounding")
    assert not offers(design(), "FIFO depth")
