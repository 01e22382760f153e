"""The order of a front's designs by estimate is compared with that by simulation."""

from bench.front_ranks import chosen, inverted


def test_what_a_front_is_short_of_comes_from_behind_it() -> None:
    designs = [("a", (1.0, 4.0)), ("b", (4.0, 1.0)), ("behind", (2.0, 5.0)), ("far", (9.0, 9.0))]
    assert {*chosen(designs, 2)} == {"a", "b"}
    assert chosen(designs, 3)[2:] == ["behind"]
    assert chosen(designs, 9)[3:] == ["far"]


def test_pairs_are_inverted_where_simulation_says_the_contrary() -> None:
    pairs = [(100.0, 110.0), (101.0, 105.0), (200.0, 100.0), (300.0, 400.0)]
    assert inverted(pairs, 0.0) == (3, 6)
    assert inverted(pairs, 0.02) == (2, 5)
