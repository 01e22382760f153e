from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dse.turns import BATCH, LEAST, MAX_ISLANDS, Turn, next_turns


def test_one_island_has_one_turn() -> None:
    assert next_turns(200, 1, 0, 0) == (Turn(0, 200),)
    assert next_turns(200, 1, 190, 200) == (Turn(200, 10),)
    assert next_turns(200, 1, 200, 200) == ()


def test_several_share_a_quarter_of_the_budget_at_once() -> None:
    assert next_turns(4000, 2, 0, 0) == (Turn(0, 500, 0, 2), Turn(500, 500, 1, 2))
    assert next_turns(4000, 2, 3900, 4000) == (Turn(4000, 50, 0, 2), Turn(4050, 50, 1, 2))


def test_what_is_left_for_less_than_a_batch_each_is_not_shared() -> None:
    assert next_turns(1000, 8, 990, 1010) == (Turn(1010, 10),)


@given(
    budget=st.integers(1, 20_000),
    islands=st.integers(1, MAX_ISLANDS),
    alike=st.floats(0, 0.9),
)
def test_turns_follow_each_other_until_the_budget_is_spent(budget: int, islands: int, alike: float) -> None:
    """However many of a turn's designs are found twice, as long as one of them is new."""
    found, first, rounds = 0, 0, 0
    while turns := next_turns(budget, islands, found, first):
        counts = [turn.count for turn in turns]
        assert min(counts) >= 1
        assert sum(counts) <= budget - found
        assert turns[0].first == first
        assert all(b.first == a.first + a.count for a, b in pairwise(turns))
        assert [turn.island for turn in turns] == list(range(len(turns)))
        assert {turn.islands for turn in turns} == {len(turns)}
        if islands > 1:
            assert max(counts) <= max(LEAST, BATCH, -(-budget // (4 * islands)))
        found += max(1, round(sum(counts) * (1 - alike if len(turns) > 1 else 1)))
        first, rounds = first + sum(counts), rounds + 1
    assert found == budget
    assert rounds <= 200
