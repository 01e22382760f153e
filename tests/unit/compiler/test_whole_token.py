"""Whole-token metrics, by hand."""

from dataclasses import replace

import pytest
from small_graphs import mlp
from stepping_networks import SLOTS, replying, stepping

from compiler.assumed import assumed_of
from compiler.graph.layers import folded
from compiler.graph.linalg_graph import LinalgGraph, Output, Row, Value
from compiler.metrics import Fidelity
from compiler.whole_token import Lengths, Reply, least_bytes, positions_of

# Three launches of two kernels for the prompt, two for tokens after the first.
REPLY = Reply(
    kernels=2,
    prompt_us=(100.0, 100.0, 200.0),
    later_us=(300.0, 500.0),
    energy_uj=60.0,
    least_bytes=42.1e6,
    idle_w=10.0,
)


def test_times_count_every_start() -> None:
    assert REPLY.first_token_us == 400 + 3 * 2 * 270
    assert REPLY.token_us == 400 + 2 * 270
    assert REPLY.reply_us == REPLY.first_token_us + 2 * REPLY.token_us
    assert replace(REPLY, start_us=0.0).token_us == 400


def test_a_reply_of_one_token_takes_no_time_after_it() -> None:
    """What a token takes is then that of the launch which gave it."""
    alone = replace(REPLY, later_us=())
    assert alone.reply_us == alone.first_token_us == REPLY.first_token_us
    assert alone.token_us == 200 + 2 * 270


def test_metrics_have_their_units_and_say_where_they_are_from() -> None:
    found = {m.name: (m.value, m.unit, m.fidelity.value) for m in REPLY.metrics}
    assert found == {
        "first_token_time": (pytest.approx(2.02), "ms", "simulate"),
        "time_per_token": (pytest.approx(0.94), "ms", "simulate"),
        "tokens_per_second": (pytest.approx(1e6 / 940), "1/s", "simulate"),
        "reply_time": (pytest.approx(3.9), "ms", "simulate"),
        "hbm_share": (pytest.approx(1e4 / 940), "%", "simulate"),  # 42.1 MB take 100 us
        "energy_per_token": (pytest.approx((60 + 10 * 940) / 1e3), "mJ", "estimate"),
    }
    assert REPLY.assumed.startswith("0.27 ms for each of 2 kernel starts a token (median ")
    assert "421 GB/s" in REPLY.assumed


def test_an_estimate_says_so() -> None:
    assert {m.fidelity for m in replace(REPLY, fidelity=Fidelity.ESTIMATE).metrics} == {Fidelity.ESTIMATE}


def test_what_is_assumed_is_told_of_designs_that_make_replies() -> None:
    """And that a board has measured it."""
    assert assumed_of(["latency", "cycles"]) is None
    names = [metric.name for metric in REPLY.metrics]
    text = assumed_of(names)
    assert text is not None
    assert text.startswith("0.27 ms for each start of a kernel (median ")
    assert "TeraFly" in text
    assert "Shuhai" in text
    assert "board" not in text
    assert "of a board, where the start was measured" in str(assumed_of([*names, "kernel_start"]))


def test_replies_have_128_tokens_of_prompt_and_128_behind_the_first_where_there_is_room() -> None:
    assert Lengths.within(1024) == Lengths.within(256) == (128, 128)
    assert Lengths.within(200) == (100, 100)
    assert Lengths.within(31) == (15, 16)
    assert Lengths.within(1024).later == range(128, 256)
    assert Lengths(5, 0).later == range(5, 6)


def test_only_networks_that_take_a_token_have_replies() -> None:
    assert positions_of(replying()) == SLOTS
    assert positions_of(stepping()) is None
    assert positions_of(mlp()) is None


def test_the_least_bytes_of_folded_layers_are_those_of_all() -> None:
    network = replying(3)
    once = folded(network)
    assert once is not None
    for positions in ([0], [7, 9]):
        assert least_bytes(once, positions) == least_bytes(network, positions)
    assert least_bytes(network, [1]) - least_bytes(network, [0]) == 3 * 4 * 32  # a row of each layer


def test_the_least_bytes_are_each_weight_once_and_the_cache_up_to_the_position() -> None:
    """Of a table only rows are read, which are no weights."""
    block = mlp(1, 4, 8)  # 2 x 32 weights and a scale of 4 bytes
    row, table = Value("row", (2, 3), "f32"), Value("table", (1, 9), "f32", "param", row=Row("token", 100))
    cached = LinalgGraph(
        "block", (*block.values, row, table), block.ops, (*block.outputs, Output("h0.k", "row", (0, 1), (1, 2, 1, 3)))
    )
    assert least_bytes(block, [5]) == 65 * 4
    assert least_bytes(cached, [5]) == 65 * 4 + 24 * 6
    assert least_bytes(cached, [5, 7]) == 65 * 4 + 24 * 7


def test_padding_is_no_byte_of_it() -> None:
    block = mlp(1, 4, 8)
    longer = tuple(replace(v, shape=(4, 16), valid=(4, 8)) if v.name == "up.weight" else v for v in block.values)
    padded = replace(block, values=longer)
    assert least_bytes(padded, [1]) == least_bytes(block, [1])
