"""Parts, joins and reshapes of streams against brute force on the tensors that they stream."""

from itertools import product
from math import prod

import pytest
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.rearrange import Groups, collapsed, joined, part_of, unit_groups

Point = tuple[int, ...]


@st.composite
def itensors(draw: st.DrawFn) -> ITensor:
    """Any order of a tensor of one to three dimensions: elements, up to two loops a dimension, shuffled, re-reads."""
    element = tuple(draw(st.lists(st.sampled_from([1, 1, 2, 3]), min_size=1, max_size=3)))
    loops: list[Loop] = []
    for dim, extent in enumerate(element):
        for trip in draw(st.lists(st.sampled_from([1, 2, 3]), max_size=2)):
            loops.append(Loop(trip, extent, dim))
            extent *= trip
    loops += [Loop(2, 1, None)] * draw(st.integers(0, 1))
    return ITensor(element, "f32", tuple(draw(st.permutations(loops))))


def points(itensor: ITensor) -> list[list[Point]]:
    """Elements of each token, row-major within it."""
    box = list(product(*(range(extent) for extent in itensor.element)))
    return [[tuple(o + p for o, p in zip(offset, at, strict=True)) for at in box] for offset in itensor.offsets()]


@given(itensors(), st.data())
@settings(max_examples=examples(300), deadline=None)
def test_a_part_is_the_tokens_that_lie_in_it(whole: ITensor, data: st.DataObject) -> None:
    dim = data.draw(st.integers(0, len(whole.element) - 1))
    extent = data.draw(st.integers(1, whole.shape[dim]))
    try:
        part = part_of(whole, dim, extent)
    except VerificationError:
        return
    inside = [offset for offset in whole.offsets() if offset[dim] < extent]
    assert part.shape == tuple(extent if d == dim else e for d, e in enumerate(whole.shape))
    assert list(part.offsets()) == inside


@given(itensors(), st.integers(1, 4), st.data())
@settings(max_examples=examples(100), deadline=None)
def test_a_join_takes_tokens_in_turn(part: ITensor, count: int, data: st.DataObject) -> None:
    dim = data.draw(st.integers(0, len(part.element) - 1))
    assume(part.shape[dim] == part.element[dim])
    whole = joined(part, dim, count)
    whole.verify()
    turns = [(offset, i) for offset in part.offsets() for i in range(count)]
    shifted = [tuple(o + i * part.shape[dim] * (d == dim) for d, o in enumerate(offset)) for offset, i in turns]
    assert list(whole.offsets()) == shifted


@st.composite
def groupings(draw: st.DrawFn, rank: int) -> Groups:
    groups: list[list[int]] = []
    for dim in range(rank):
        if groups and draw(st.booleans()):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    return tuple(tuple(group) for group in groups)


def row_major(point: Point, shape: tuple[int, ...]) -> int:
    place = 0
    for at, extent in zip(point, shape, strict=True):
        place = place * extent + at
    return place


@given(itensors().flatmap(lambda i: st.tuples(st.just(i), groupings(len(i.element)))))
@settings(max_examples=examples(400), deadline=None)
def test_a_collapse_keeps_every_token(case: tuple[ITensor, Groups]) -> None:
    itensor, groups = case
    whole = points(itensor)
    kept = [
        [tuple(row_major(tuple(p[d] for d in g), tuple(itensor.shape[d] for d in g)) for g in groups) for p in t]
        for t in whole
    ]
    try:
        made = collapsed(itensor, groups)
    except VerificationError:
        straddles = [
            t
            for t in kept
            if any(max(p[g] for p in t) - min(p[g] for p in t) >= len({p[g] for p in t}) for g in range(len(groups)))
        ]
        assert straddles, "a token that is a run of neighbours was refused"
        return
    made.verify()
    assert made.shape == tuple(prod(itensor.shape[d] for d in group) for group in groups)
    assert points(made) == kept


@pytest.mark.parametrize(
    ("rank", "unit", "groups"), [(1, 0, ()), (2, 0, ((0, 1),)), (3, 2, ((0,), (1, 2))), (3, 1, ((0,), (1, 2)))]
)
def test_unit_dimensions_join_a_neighbour(rank: int, unit: int, groups: Groups) -> None:
    assert unit_groups(rank, unit) == groups


def test_what_is_refused() -> None:
    rows = ITensor((2, 4), "f32", (Loop(3, 2, 0), Loop(2, 4, 1)))
    with pytest.raises(VerificationError, match="no dimension 2"):
        part_of(rows, 2, 1)
    with pytest.raises(VerificationError, match="a token straddles"):
        part_of(rows, 0, 3)
    with pytest.raises(VerificationError, match="must span that dimension"):
        joined(rows, 1, 2)
    with pytest.raises(VerificationError, match="in order"):
        collapsed(rows, ((1,), (0,)))
