"""itensor mathematics against the reference semantics, the stream of offsets."""

from collections import Counter
from math import prod

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.graph.converter import plan_converter, shared_prefix
from compiler.graph.itensor import ITensor, Loop

FACTORS = st.sampled_from([1, 2, 3, 4])


@st.composite
def itensors(draw: st.DrawFn, shape: tuple[int, ...], *, rereads: bool) -> ITensor:
    """A random stream of a tensor of `shape`: each extent split into an element and up to three loops, shuffled."""
    element: list[int] = []
    loops: list[Loop] = []
    for dim, extent in enumerate(shape):
        step = draw(st.sampled_from([d for d in range(1, extent + 1) if extent % d == 0]))
        element.append(step)
        while step < extent:
            trip = draw(st.sampled_from([d for d in range(2, extent // step + 1) if (extent // step) % d == 0]))
            loops.append(Loop(trip, step, dim))
            step *= trip
    if rereads:
        loops += [Loop(draw(st.integers(1, 3)), 1, None) for _ in range(draw(st.integers(0, 2)))]
    return ITensor(tuple(element), "f32", tuple(draw(st.permutations(loops))))


SHAPES = st.lists(st.sampled_from([1, 2, 4, 6, 8, 12]), min_size=1, max_size=3).map(tuple)


@st.composite
def pairs(draw: st.DrawFn, *, rereads: bool) -> tuple[ITensor, ITensor]:
    shape = draw(SHAPES)
    return draw(itensors(shape, rereads=False)), draw(itensors(shape, rereads=rereads))


@given(pairs(rereads=True))
@settings(max_examples=examples(300), deadline=None)
def test_equality_is_equality_of_offset_streams(pair: tuple[ITensor, ITensor]):
    a, b = pair
    if a.element == b.element:
        assert a.same_stream(b) == (list(a.offsets()) == list(b.offsets()))


@st.composite
def respelt(draw: st.DrawFn, itensor: ITensor) -> ITensor:
    """The same stream in another text: loops split where their tripcount allows, loops of one iteration in between."""
    loops: list[Loop] = []
    for loop in itensor.loops:
        inner = draw(st.sampled_from([d for d in range(1, loop.trip + 1) if loop.trip % d == 0]))
        step = loop.step if loop.dim is None else loop.step * inner
        loops += [Loop(loop.trip // inner, step, loop.dim), Loop(inner, loop.step, loop.dim)]
        loops += [Loop(1, draw(st.integers(1, 9)), draw(st.sampled_from([None, 0])))] * draw(st.integers(0, 1))
    return ITensor(itensor.element, itensor.dtype, tuple(loops))


@given(SHAPES.flatmap(lambda shape: itensors(shape, rereads=True)).flatmap(lambda i: st.tuples(st.just(i), respelt(i))))
@settings(max_examples=examples(300), deadline=None)
def test_other_texts_of_a_stream_are_equal(pair: tuple[ITensor, ITensor]):
    a, b = pair
    assert list(a.offsets()) == list(b.offsets())
    assert a.same_stream(b)
    assert a.key == b.key


@given(SHAPES.flatmap(lambda shape: itensors(shape, rereads=True)), st.data())
@settings(max_examples=examples(300), deadline=None)
def test_shuffled_loops_are_equal_only_where_their_offsets_are(a: ITensor, data: st.DataObject):
    """Near misses: the same loops in another order, over one dimension too, where merging must not be fooled."""
    b = ITensor(a.element, a.dtype, tuple(data.draw(st.permutations(a.loops))))
    assert a.same_stream(b) == (list(a.offsets()) == list(b.offsets()))


@given(SHAPES.flatmap(lambda shape: itensors(shape, rereads=True)))
@settings(max_examples=examples(200), deadline=None)
def test_every_element_passes_equally_often(itensor: ITensor):
    itensor.verify()
    assert prod(itensor.shape) * itensor.rereads == itensor.tokens * prod(itensor.element)
    counts = Counter(itensor.offsets())
    assert set(counts.values()) <= {itensor.rereads}


def _elements(itensor: ITensor, tokens: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    points: set[tuple[int, ...]] = set()
    for offset in tokens:
        box = [()]
        for start, extent in zip(offset, itensor.element, strict=True):
            box = [(*p, start + i) for p in box for i in range(extent)]
        points |= set(box)
    return points


@given(pairs(rereads=True))
@settings(max_examples=examples(300), deadline=None)
def test_converter_buffer_holds_exactly_what_each_shared_iteration_moves(pair: tuple[ITensor, ITensor]):
    """Replay of both streams: in each shared iteration source and target move the same box, of the planned extent."""
    source, target = pair
    converter = plan_converter(source, target)
    assert converter.shared * converter.fill == source.tokens
    assert converter.shared * converter.drain == target.tokens
    pushed, pulled = list(source.offsets()), list(target.offsets())
    for s in range(converter.shared):
        filled = _elements(source, pushed[s * converter.fill : (s + 1) * converter.fill])
        drained = _elements(target, pulled[s * converter.drain : (s + 1) * converter.drain])
        assert filled == drained
        extent = tuple(max(p[d] for p in filled) - min(p[d] for p in filled) + 1 for d in range(len(source.element)))
        assert extent == converter.extent
        assert len(filled) == prod(extent)


@given(SHAPES.flatmap(lambda shape: itensors(shape, rereads=False)))
@settings(max_examples=examples(100), deadline=None)
def test_equal_streams_share_every_loop(itensor: ITensor):
    steps = {dim: [k.step for k in itensor.canonical if k.dim == dim] for dim in range(len(itensor.element))}
    dense = all(walked == sorted(walked, reverse=True) for walked in steps.values())
    prefix = shared_prefix(itensor, itensor)
    assert prefix.source == prefix.target
    assert (prefix.loops == itensor.canonical) == dense
