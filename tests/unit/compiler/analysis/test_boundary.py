"""Outputs that are inputs of the next run lie in HBM as that run reads them, or the design says that they do not."""

from dataclasses import replace

import pytest
from small_graphs import attention_front, mlp

from compiler.analysis.boundary import appends, carried, same_image
from compiler.graph.boundary import Carry
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import Dma, LoadTask, StoreTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

PLATFORM = load_platform("u55c")


def block() -> LinalgGraph:
    """The MLP as a block that runs once a layer: its result is its input."""
    graph = mlp(8, 32, 64)
    return replace(graph, outputs=(replace(graph.outputs[0], name="x_out", shape=(1, 8, 32)),))


def decode() -> LinalgGraph:
    """Attention whose new row of K joins the cache; 4 heads of 16 elements fill words of HBM."""
    graph = attention_front(4, 16, 7)
    values = tuple(replace(v, source="k_past") if v.name == "past" else v for v in graph.values)
    return replace(graph, values=values)


@pytest.mark.parametrize("tile", [4, 16, 32])
@pytest.mark.parametrize("unroll", [1, 64])
def test_hidden_is_loaded_as_it_was_stored(tile: int, unroll: int) -> None:
    tasks = planned_tasks(block(), Knobs(default_tile_size=tile, overall_unroll=unroll), PLATFORM)
    assert tasks.carries == (Carry("x_out", "x", relayout=False),)
    load = next(t.dma for t in tasks.transfers if isinstance(t, LoadTask) and t.dma.value == "x")
    store = next(t.dma for t in tasks.transfers if isinstance(t, StoreTask))
    assert load.layout.same_stream(store.layout)
    assert (load.tokens_per_word, load.words_per_token) == (store.tokens_per_word, store.words_per_token)


def test_a_transposed_output_is_laid_out_anew() -> None:
    graph = mlp(8, 8, 64)
    out = replace(graph.outputs[0], name="x_out", permutation=(1, 0), shape=(1, 8, 8))
    assert planned_tasks(replace(graph, outputs=(out,)), Knobs(), PLATFORM).carries == (Carry("x_out", "x", True),)


def test_a_new_row_follows_the_rows_of_its_cache() -> None:
    assert planned_tasks(decode(), Knobs(), PLATFORM).carries == (Carry("k", "k_past", relayout=False),)


def test_the_design_says_where_a_row_does_not_fit() -> None:
    # Two ports take the cache's words in turn, results have one.
    carries = planned_tasks(decode(), Knobs(hbm_channels=2, stream_width=1024), PLATFORM).carries
    assert carries == (Carry("k", "k_past", relayout=True),)


def test_names_say_what_is_carried() -> None:
    graph = decode()
    assert [(out.name, value.name) for out, value in carried(graph.outputs, graph.values)] == [("k", "past")]


def dma(element: tuple[int, ...], loops: tuple[Loop, ...], per_word: int, channels: int = 1) -> Dma:
    return Dma("v", ITensor(element, "f32", loops), channels, per_word, 1, 512)


def test_images_are_compared_element_by_element() -> None:
    single = dma((1, 1), (Loop(4, 1, 0), Loop(16, 1, 1)), 16)
    wide = dma((1, 16), (Loop(4, 1, 0),), 1)
    assert same_image(single, wide)
    assert not same_image(single, dma((1, 1), (Loop(16, 1, 1), Loop(4, 1, 0)), 16)), "another order"
    assert not same_image(single, dma((1, 1), (Loop(4, 1, 0), Loop(16, 1, 1)), 8)), "gaps between words"
    assert not same_image(wide, replace(wide, channels=2)), "striped over two ports"


def test_a_row_must_be_whole_words_of_the_outermost_step() -> None:
    row = dma((1,), (Loop(16, 1, 0),), 16)
    assert appends(row, dma((1, 16), (Loop(4, 1, 0),), 1), axis=0)
    assert not appends(row, dma((1, 1), (Loop(16, 1, 1), Loop(4, 1, 0)), 16), axis=0), "rows lie across"
    assert not appends(row, dma((1, 16), (Loop(4, 1, 0),), 1), axis=1), "that is no row"
    heads = dma((1, 1), (Loop(4, 1, 0), Loop(16, 1, 1)), 16)
    assert appends(heads, dma((1, 1, 1), (Loop(3, 1, 1), Loop(4, 1, 0), Loop(16, 1, 2)), 16), axis=1)
    assert not appends(heads, dma((1, 1, 1), (Loop(3, 1, 1), Loop(16, 1, 2), Loop(4, 1, 0)), 16), axis=1), "its order"
    assert not appends(dma((1,), (Loop(8, 1, 0),), 16), dma((1, 8), (Loop(4, 1, 0),), 2), axis=0), "half a word"
