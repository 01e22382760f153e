"""Padding changes how a network is computed, not what: equal results on the true extents."""

import numpy as np
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_networks import PRIME, integer_networks, networks

from compiler.analysis.padding import pad, padded_extent
from compiler.frontend.interpret import NUMPY_DTYPE, Array, interpret, outputs_of
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.padded_array import crop_array
from compiler.options import Knobs

POINTS = st.builds(Knobs, default_tile_size=st.integers(2, 64), max_padding=st.integers(0, 50))


def tensors_of(graph: LinalgGraph, seed: int) -> dict[str, Array]:
    """Content for what the network is given. Never zero, so that only padding is."""
    rng = np.random.default_rng(seed)
    given_values = [v for v in graph.values if v.role != "intermediate"]
    floats = {v.source: rng.uniform(0.5, 1.5, v.shape) * rng.choice((-1, 1), v.shape) for v in given_values}
    integers = {v.source: rng.integers(1, 8, v.shape) for v in given_values}
    return {
        v.source: (floats if v.dtype == "f32" else integers)[v.source].astype(NUMPY_DTYPE[v.dtype])
        for v in given_values
    }


@settings(max_examples=examples(150), deadline=None)
@given(networks(PRIME), POINTS, st.integers(0, 99))
def test_padded_networks_compute_the_same(graph: LinalgGraph, knobs: Knobs, seed: int) -> None:
    padded = pad(graph, knobs)
    padded.verify()
    assert pad(padded, knobs) == padded
    tensors = tensors_of(graph, seed)
    expected, got = interpret(graph, tensors), interpret(padded, tensors)
    for value in graph.values:
        true = crop_array(got[value.name], value.shape)
        with np.errstate(all="ignore"):
            scale = np.nanmax(np.abs(expected[value.name]), initial=1.0)
        np.testing.assert_allclose(true, expected[value.name], rtol=1e-4, atol=1e-4 * min(scale, 1e30))
    assert {o: a.shape for o, a in outputs_of(padded, got).items()} == {o.name: o.shape for o in graph.outputs}


@settings(max_examples=examples(60), deadline=None)
@given(integer_networks(), POINTS, st.integers(0, 99))
def test_integers_are_exact_without_masks(graph: LinalgGraph, knobs: Knobs, seed: int) -> None:
    padded = pad(graph, knobs)
    padded.verify()
    tensors = tensors_of(graph, seed)
    expected, got = interpret(graph, tensors), interpret(padded, tensors)
    for value in graph.values:
        assert np.array_equal(crop_array(got[value.name], value.shape), expected[value.name]), value.name
    assert not any(op.masked for op in padded.ops), "the weights' zeros make masks superfluous"


@given(st.integers(1, 5000), st.integers(1, 512), st.integers(0, 50))
def test_waste_is_bounded_and_padding_offers_lanes(extent: int, reach: int, limit: int) -> None:
    padded = padded_extent(extent, reach, limit)
    assert padded >= extent
    assert 100 * (padded - extent) <= limit * padded
    assert padded == extent or padded % 2 == 0
