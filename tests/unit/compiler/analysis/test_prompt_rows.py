"""Which designs take chunks of a prompt, and what these add to them."""

from dataclasses import replace

from stepping_networks import replying

from compiler.analysis.build import task_graph
from compiler.analysis.prompt_rows import PROMPT_ROWS, chunk_depths, prompt_rows
from compiler.graph.design import Design
from compiler.graph.layers import folded
from compiler.graph.task_graph import LoadTask
from compiler.options import Knobs
from compiler.passes.design_passes import planned
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def designed(layers: int = 2) -> Design:
    graph = replying(layers)
    return planned(folded(graph) or graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)


def test_all_loads_of_layers_start_anew_in_each_with_a_word_of_their_own() -> None:
    """So that a layer can be read again for each row."""
    design = designed(3)
    assert prompt_rows(design) == PROMPT_ROWS
    tasks = task_graph(design)
    assert tasks.control is not None
    assert tasks.control.rows == PROMPT_ROWS
    loads = [t for t in tasks.transfers if isinstance(t, LoadTask) and t.timing.restarts]
    assert {t.timing.trips[0] for t in loads} == {3}
    assert all(t.timing.iterations // 3 % t.dma.tokens_per_word == 0 for t in loads)
    assert {t.name for t in tasks.transfers if not t.by_layer} >= {"store_next", "load_prompt", tasks.control.given}


def test_what_a_layer_makes_of_a_chunk_is_held() -> None:
    tasks = task_graph(designed(3))
    assert tasks.control is not None
    (back,) = tasks.control.looped
    stream = tasks.stream[back]
    assert stream.feedback
    assert chunk_depths(tasks) == {back: PROMPT_ROWS * stream.tokens // 2}  # of two layers, of three
    assert stream.depth >= PROMPT_ROWS * stream.tokens // 2


def test_the_loads_of_kept_rows_follow_their_stores() -> None:
    tasks = task_graph(designed())
    for store, load in tasks.row_loads.items():
        assert tasks.task[store].kind == "store"
        found = tasks.task[load]
        assert isinstance(found, LoadTask)
        assert found.dma.below is not None
    assert tasks.row_loads


def test_several_kernels_take_no_chunks() -> None:
    design = designed()
    assert prompt_rows(replace(design, kernel_of={**design.kernel_of, "next": 1})) == 1


def test_one_layer_needs_no_loop() -> None:
    tasks = task_graph(designed(1))
    assert tasks.control is not None
    assert (tasks.control.rows, tasks.control.looped) == (PROMPT_ROWS, ())


def test_words_that_straddle_layers_take_no_chunks() -> None:
    design = designed()
    name, load = next((name, load) for name, load in design.loads.items() if load.value == "h0.scale")
    assert load.packing is not None
    wider = load._replace(packing=load.packing._replace(tokens_per_word=7 * load.packing.tokens_per_word))
    assert prompt_rows(replace(design, loads={**design.loads, name: wider})) == 1
