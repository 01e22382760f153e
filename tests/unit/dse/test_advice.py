"""What is said of a knob that was set to what no search tries."""

import pytest
from networks import NETWORKS
from small_graphs import mlp

from compiler.errors import InvalidInputError
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from dse.advice import advise
from dse.space import DesignSpace, tried

U55C = load_platform("u55c")


@pytest.fixture
def graph() -> LinalgGraph:
    return NETWORKS["mlp"]().graph()


def test_an_unroll_that_unrolls_nothing_is_refused_with_its_range(graph: LinalgGraph) -> None:
    least = sum(op.kind == "generic" for op in graph.ops)
    knobs = Knobs(overall_unroll=1)
    with pytest.raises(InvalidInputError, match=f"overall_unroll=1 would unroll nothing: the network has {least}") as e:
        advise(graph, knobs, ["overall_unroll"], U55C)
    assert f"It may be {least} to 65536; a search tries 32, 64, 128" in str(e.value)


def test_a_strange_value_is_said_with_what_it_costs(graph: LinalgGraph) -> None:
    (text,) = advise(graph, Knobs(stream_width=100), ["stream_width"], U55C)
    assert text.startswith("stream_width=100 is none of the values that a search tries (128, 256, 512, 1024, 2048):")
    assert "Estimated " in text
    assert "; with stream_width=128 " in text
    assert text.count(" us and ") == 2
    (text,) = advise(mlp(16, 512, 512), Knobs(fifo="normal"), ["fifo"], U55C)
    assert "(conservative, whole)" in text


def test_a_knob_that_changes_nothing_is_said(graph: LinalgGraph) -> None:
    knobs = Knobs(default_tile_size=32, slices=4)
    assert advise(graph, knobs, ["default_tile_size", "slices"], U55C) == [
        "slices=4 changes nothing here: with slices=1 it is the same accelerator"
    ]
    assert advise(graph, Knobs(engines="shared", slices=4), ["slices"], U55C) == []
    strange = Knobs(fusion_budget=10 << 20)  # said once
    assert advise(graph, strange, ["fusion_budget"], U55C) == [
        "fusion_budget=10485760 changes nothing here: with fusion_budget=16777216 it is the same accelerator"
    ]


def test_what_a_search_tries_is_not_said(graph: LinalgGraph) -> None:
    assert advise(graph, Knobs(overall_unroll=64, order="reduction-outer"), ["overall_unroll", "order"], U55C) == []
    assert advise(graph, Knobs(overall_unroll=7), [], U55C) == []  # not set by hand: a file of knobs has it


def test_every_knob_of_the_search_has_its_values(graph: LinalgGraph) -> None:
    offered = {p.name: p.choices for p in DesignSpace(graph, U55C, heaviest=0).parameters}
    # Overrides have parameters of their own, and rows are one only where the time of a prompt is an objective.
    assert len(offered) == len(Knobs.__dataclass_fields__) - len({"overrides", "rows"})
    assert offered["unroll"] == tried("overall_unroll", U55C, graph)
    assert offered["hbm_channels"] == (1, 2, 4, 8, 16, 32)
