"""Whole-token metrics, by hand."""

from dataclasses import replace

import pytest
from small_graphs import mlp

from compiler.graph.linalg_graph import LinalgGraph, Output, Value
from compiler.whole_token import Part, Reply, least_bytes

# Layers of 1,000 us for the prompt and 100 us for a token, one and two kernels; a head of 50 us.
REPLY = Reply(
    prefill=Part(1, 1000.0, 500.0),
    decode=Part(2, 100.0, 40.0),
    head=Part(1, 50.0, 20.0),
    steps=10,
    least_bytes=42.1e6,
    idle_w=10.0,
)


def test_times_count_every_start() -> None:
    assert REPLY.first_token_us == 1000 + 50 + 2 * 270
    assert REPLY.starts_of_a_token == 3
    assert REPLY.token_us == 100 + 50 + 3 * 270
    assert REPLY.reply_us == REPLY.first_token_us + 10 * REPLY.token_us
    assert replace(REPLY, start_us=0.0).token_us == 150


def test_metrics_have_their_units_and_say_where_they_are_from() -> None:
    found = {m.name: (m.value, m.unit, m.fidelity.value) for m in REPLY.metrics}
    assert found == {
        "first_token_time": (pytest.approx(1.59), "ms", "simulate"),
        "time_per_token": (pytest.approx(0.96), "ms", "simulate"),
        "tokens_per_second": (pytest.approx(1e6 / 960), "1/s", "simulate"),
        "reply_time": (pytest.approx(11.19), "ms", "simulate"),
        "hbm_share": (pytest.approx(1e4 / 960), "%", "simulate"),  # 42.1 MB take 100 us
        "energy_per_token": (pytest.approx((40 + 20 + 10 * 960) / 1e3), "mJ", "estimate"),
    }
    assert REPLY.assumed.startswith("0.27 ms for each of 3 kernel starts a token (median ")
    assert "421 GB/s" in REPLY.assumed


def test_the_least_bytes_are_each_weight_once_and_the_cache_up_to_the_position() -> None:
    head = mlp(1, 4, 8)  # 2 x 32 weights and a scale of 4 bytes
    block = mlp(1, 4, 8)
    row = Value("row", (2, 3), "f32")
    cached = LinalgGraph(
        "block", (*block.values, row), block.ops, (*block.outputs, Output("h0.k", "row", (0, 1), (1, 2, 1, 3)))
    )
    assert least_bytes(block, head, [5]) == 2 * 65 * 4
    assert least_bytes(cached, head, [5]) == 2 * 65 * 4 + 24 * 6
    assert least_bytes(cached, head, [5, 7]) == 2 * 65 * 4 + 24 * 7


def test_padding_is_no_byte_of_it() -> None:
    block = mlp(1, 4, 8)
    longer = tuple(replace(v, shape=(4, 16), valid=(4, 8)) if v.name == "up.weight" else v for v in block.values)
    padded = replace(block, values=longer)
    assert least_bytes(padded, block, [1]) == least_bytes(block, block, [1])
