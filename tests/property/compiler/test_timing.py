"""Access counts of a timing spec against walking its iterations one by one."""

from itertools import accumulate, compress, count, product

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import TimingSpec


@st.composite
def accesses(draw: st.DrawFn) -> tuple[TimingSpec, Access]:
    trips = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    gates: list[Gate] = []
    for loop, trip in enumerate(trips):
        if draw(st.booleans()):
            low = draw(st.integers(0, trip - 1))
            gates.append(Gate(loop, low, draw(st.integers(low + 1, trip))))
    return TimingSpec(trips, 1, 1), Access("s", tuple(gates))


@given(accesses())
@settings(max_examples=examples(300), deadline=None)
def test_counts_first_and_last_match_a_walk(case: tuple[TimingSpec, Access]):
    timing, access = case
    admitted = [
        all(gate.low <= index[gate.loop] < gate.high for gate in access.gates)
        for index in product(*(range(trip) for trip in timing.trips))
    ]
    assert timing.tokens(access) == sum(admitted)
    assert timing.first(access) == admitted.index(True)
    assert timing.last(access) == len(admitted) - 1 - admitted[::-1].index(True)
    passage = timing.passage(access)
    assert [passage.until(iteration) for iteration in range(len(admitted))] == list(accumulate(admitted))
    assert [passage.iteration_of(token) for token in range(passage.tokens)] == list(compress(count(), admitted))
