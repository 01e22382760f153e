from collections.abc import Callable

from bench.mutants.addresses import bank, cache, converter, index

MATMUL = """void task(hls::stream<i8x8>& x, hls::stream<i32x8>& y) {
  for (int n0 = 0; n0 < 4; ++n0) {
    for (int n1_lane = 0; n1_lane < 4; ++n1_lane) {
#pragma HLS unroll
      acc[n0][n1_lane] = x_token[n1_lane * 2 + k0_lane];
    }
  }
}
"""
PING_PONG = """void task(hls::stream<f32x8>& in, hls::stream<f32x4>& out) {
  float buffer[2][8];
  ap_uint<3> drain0 = 0;
  ap_uint<1> drain1 = 0;
  for (int round = 0; round < 97; ++round) {
    token[e1] = buffer[(round + 1) % 2][drain0][drain1 * 4 + e1];
    drain1 = drain1 == 1 ? 0 : int(drain1) + 1;
    if (drain1 == 0) {
      drain0 = drain0 == 5 ? 0 : int(drain0) + 1;
    }
  }
}
"""
RING = """void task(hls::stream<f32x8>& in, hls::stream<f32x4>& out) {
  for (int round = 0; round < 97; ++round) {
    drain_at = drain_at < 20 ? drain_at : drain_at - 20;
    fill_origin = fill_origin < 4 ? int(fill_origin) + 16 : int(fill_origin) - 4;
  }
}
"""
CONCAT = """void task(hls::stream<float>& past, hls::stream<float>& now, hls::stream<float>& out) {
  for (int n0 = 0; n0 < 16; ++n0) {
    if (n0 < 15) {
      token = past.read();
    }
    if (n0 == 15) {
      token = now.read();
    }
    out.write(token);
  }
}
"""


def test_a_subscript_is_off_or_its_terms_are_mixed_up(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(index, MATMUL, "compute")
    assert places[0] == {f"acc[n0 {by}][n1_lane] = x_token[n1_lane * 2 + k0_lane];" for by in ("+ 1", "- 1", "^ 1")}
    assert places[2] == {
        f"acc[n0][n1_lane] = x_token[{wrong}];"
        for wrong in (
            "n1_lane * 2 + k0_lane + 1",
            "n1_lane * 2 + k0_lane - 1",
            "k0_lane",
            "n1_lane * 2",
            "k0_lane * 2 + n1_lane",
        )
    }
    assert places[3] == {"acc[n1_lane][n0] = x_token[n1_lane * 2 + k0_lane];"}
    assert len(places) == 4


def test_terms_of_a_sum_keep_their_places(edited_lines: Callable[..., list[set[str]]]) -> None:
    body = MATMUL.replace("acc[n0][n1_lane]", "terms[n1_lane * 2 + k0_lane]")
    assert not any("k0_lane * 2 + n1_lane]" in line for line in edited_lines(index, body, "compute")[0])


def test_a_bank_is_another_or_another_half(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(bank, PING_PONG, "converter")
    assert places == [
        {f"token[e1] = buffer[{half}][drain0][drain1 * 4 + e1];" for half in ("round % 2", "0")},
        {f"token[e1] = buffer[(round + 1) % 2][drain0][drain1 * {factor} + e1];" for factor in (2, 3, 5, 8)},
    ]


def test_a_ring_wraps_at_whole_steps_only(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(bank, RING, "converter")
    assert places[0] == {f"drain_at = drain_at < {n} ? drain_at : drain_at - 20;" for n in (0, 40)}
    assert places[2] == {"fill_origin = fill_origin < 0 ? int(fill_origin) + 16 : int(fill_origin) - 4;"}
    assert places[3] == {
        f"fill_origin = fill_origin < 4 ? int(fill_origin) + {n} : int(fill_origin) - 4;" for n in (12, 20)
    }


def test_ports_of_a_memory_are_taken_for_one_another(edited_lines: Callable[..., list[set[str]]]) -> None:
    body = """void task(hls::stream<float>& in, ap_uint<512>* memory0, ap_uint<512>* memory1) {
  for (int w = 0; w < 8; ++w) {
    memory1[w] = word[1];
  }
}
"""
    assert {"memory1[w] = word[0];"} in edited_lines(bank, body, "store")


def test_counters_wrap_step_and_carry_wrongly(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(converter, PING_PONG, "converter")
    assert places == [
        {"token[e1] = buffer[(round + 1) % 2][drain1][drain0 * 4 + e1];"},
        {"drain1 = drain1 == 0 ? 0 : int(drain1) + 1;"},
        {"drain1 = drain1 == 1 ? 0 : int(drain1) + 2;"},
        {"if (drain1 == 1) {"},
        {"drain0 = drain0 == 4 ? 0 : int(drain0) + 1;", "drain0 = drain0 == 6 ? 0 : int(drain0) + 1;"},
        {"drain0 = drain0 == 5 ? 0 : int(drain0) + 2;"},
    ]
    assert edited_lines(converter, PING_PONG, "compute") == []


def test_counters_of_repetitions_do_not_matter(edited_lines: Callable[..., list[set[str]]]) -> None:
    body = PING_PONG.replace("[drain0]", "")
    assert edited_lines(converter, body, "converter") == [
        {"token[e1] = buffer[(round + 1) % 2][drain0 * 4 + e1];"},
        {"drain1 = drain1 == 0 ? 0 : int(drain1) + 1;"},
        {"drain1 = drain1 == 1 ? 0 : int(drain1) + 2;"},
    ]


def test_where_all_is_over_a_counter_wraps_unseen(edited_lines: Callable[..., list[set[str]]]) -> None:
    body = PING_PONG.replace("round", "t")
    assert {"drain0 = drain0 == 4 ? 0 : int(drain0) + 1;"} in edited_lines(converter, body, "converter")


def test_the_position_in_a_cache_is_another(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(cache, CONCAT, "concat") == [
        {"if (n0 < 14) {", "if (n0 < 16) {"},
        {"if (n0 == 14) {", "if (n0 == 16) {"},
        {"if (15 - n0 < 15) {;;if (15 - n0 == 15) {"},
        {"token = now.read();;;token = past.read();"},
    ]
    assert edited_lines(cache, CONCAT, "compute") == []
