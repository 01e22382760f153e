"""Ports are dealt so that the slowest load is as fast as it can be."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from compiler.analysis.loads import Width, dealt_ports


@st.composite
def widths(draw: st.DrawFn) -> list[Width]:
    """More ports, fewer cycles."""
    steps = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 20)), min_size=1, max_size=4))
    ports = [sum(more for more, _ in steps[: end + 1]) for end in range(len(steps))]
    cycles = [1 + sum(fewer for _, fewer in steps[end:]) for end in range(len(steps))]
    return list(map(Width, ports, cycles))


@given(st.lists(widths(), min_size=1, max_size=4), st.integers(1, 30))
def test_no_choice_has_a_faster_slowest_load(loads: list[list[Width]], ports: int) -> None:
    dealt = dealt_ports(dict(enumerate(loads)), ports)
    fitting = [choice for choice in product(*loads) if sum(w.ports for w in choice) <= ports]
    if not fitting:
        assert dealt == {number: found[0] for number, found in enumerate(loads)}, "the fewest, which are too many"
        return
    assert sum(w.ports for w in dealt.values()) <= ports
    assert max(w.cycles for w in dealt.values()) == min(max(w.cycles for w in choice) for choice in fitting)


def test_ports_that_the_slowest_does_not_want_go_to_the_next() -> None:
    loads = {"long": [Width(1, 90)], "wide": [Width(1, 40), Width(4, 10)], "short": [Width(1, 20), Width(2, 10)]}
    assert dealt_ports(loads, 4) == {"long": Width(1, 90), "wide": Width(1, 40), "short": Width(2, 10)}
