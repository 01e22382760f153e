from collections.abc import Callable

from bench.mutants.control import bound, gate, interchangeable, order
from bench.mutants.source import Function

SUM = """void task(hls::stream<float>& x, hls::stream<float>& y) {
  for (int k0 = 0; k0 < 6; ++k0) {
    for (int n0 = 0; n0 < 3; ++n0) {
#pragma HLS pipeline II=1 style=flp
      const float x_token = x.read();
      const float total = k0 == 0 ? x_token : acc[n0] + x_token;
      if (k0 == 5 && n0 == 1) {
        y.write(total);
      }
    }
  }
}
"""
CONVERTER = """void task(hls::stream<float>& in, hls::stream<float>& out) {
  for (int round = 0; round < 9; ++round) {
    for (int t = 0; t < 4; ++t) {
      if (round < 8 && t == 0) {
        came = in.read();
      }
      if (round >= 1) {
        out.write(buffer[(round + 1) % 2][t]);
      }
      if (round < 8 && t == 0) {
        buffer[round % 2][0] = came;
      }
    }
  }
}
"""
ONCE = """void task(hls::stream<i32x4>& in, hls::stream<i32x8>& out) {
  for (int t = 0; t < 3; ++t) {
    i32x4 came;
    if (t < 2) {
      came = in.read();
    }
    if (t == 2) {
      out.write(token);
    }
    if (t < 2) {
      buffer[fill0] = came;
      fill0 = fill0 == 1 ? 0 : int(fill0) + 1;
    }
  }
}
"""
LOAD = """void task(hls::stream<float>& out, const ap_uint<512>* memory0) {
  for (int slot = 0; slot < 4; ++slot) {
#pragma HLS unroll
    if (0 * 4 + slot < 3) {
      out.write(word[slot]);
    }
  }
}
"""
SCALED = """void task(hls::stream<f32x4>& a, hls::stream<f32x4>& b, hls::stream<f32x4>& c, hls::stream<f32x4>& d) {
  const f32x4 a_token = a.read();
  const f32x4 b_token = b.read();
  const f32x4 c_token = c.read();
  for (int n0_lane = 0; n0_lane < 4; ++n0_lane) {
#pragma HLS unroll
    const float product = a_token[n0_lane] * b_token[n0_lane];
    const float sum = product + c_token[n0_lane];
    d_token[n0_lane] = sum;
  }
}
"""


def test_a_bound_is_one_off(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(bound, CONVERTER, "converter")
    assert places[0] == {f"for (int round = 0; round < {n}; ++round) {{" for n in (8, 10)}
    assert places[1] == {"for (int round = 1; round < 9; ++round) {"}
    assert places[4] == {"if (round < 7 && t == 0) {", "if (round < 9 && t == 0) {"}
    assert places[5] == {f"if (round >= {n}) {{" for n in (0, 2)}


def test_what_is_filled_after_all_was_drained_is_no_mistake(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(bound, CONVERTER, "converter")[6:] == [{"if (round < 7 && t == 0) {"}]
    fills = edited_lines(gate, CONVERTER, "converter")[-3]
    assert fills == {"if (round == 7 && t == 0) {"}
    one_half = CONVERTER.replace("round % 2", "0").replace("(round + 1) % 2", "0")  # drained while it is filled
    assert "if (t == 0) {" in edited_lines(gate, one_half, "converter")[-3]
    read, drain, fill = edited_lines(gate, ONCE, "converter")
    assert read == {f"if ({c}) {{" for c in ("t <= 2", "t == 1", "true")}
    assert drain == {f"if ({c}) {{" for c in ("t == 1", "t != 2", "t <= 2", "true")}
    assert fill == {"if (t == 1) {"}
    again = ONCE.replace("t < 3", "t < 4").replace("t == 2", "t >= 2")  # drains twice: what is filled is in its way
    assert "if (true) {" in edited_lines(gate, again, "converter")[2]


def test_an_iteration_that_does_nothing_may_be_left_out_or_added(edited_lines: Callable[..., list[set[str]]]) -> None:
    trips = [lines for lines in edited_lines(bound, ONCE, "converter") if any("for" in line for line in lines)]
    assert trips == [{"for (int t = 0; t < 2; ++t) {"}, {"for (int t = 1; t < 3; ++t) {"}]
    assert edited_lines(bound, LOAD, "load") == [{"for (int slot = 1; slot < 4; ++slot) {"}]
    full, following = LOAD.replace("+ slot < 3", "+ slot < 4"), LOAD.replace("0 * 4", "n0 * 4")
    assert {"for (int slot = 0; slot < 3; ++slot) {"} in edited_lines(bound, full, "load")
    assert {f"for (int slot = 0; slot < {n}; ++slot) {{" for n in (3, 5)} in edited_lines(bound, following, "load")
    unasked = LOAD.replace("    if", "    total = total + 1;\n    if")
    assert {f"for (int slot = 0; slot < {n}; ++slot) {{" for n in (3, 5)} in edited_lines(bound, unasked, "load")


def test_a_gate_admits_other_iterations(edited_lines: Callable[..., list[set[str]]]) -> None:
    reset, last, middle, either = edited_lines(gate, SUM, "compute")
    assert reset == {
        f"const float total = {condition} ? x_token : acc[n0] + x_token;"
        for condition in ("k0 == 1", "k0 != 0", "k0 >= 0", "true")
    }
    # That it is at its last value is all that `k0 >= 5` can say: it is the same.
    assert last == {
        f"if ({c}) {{" for c in ("k0 == 4 && n0 == 1", "k0 != 5 && n0 == 1", "k0 <= 5 && n0 == 1", "n0 == 1")
    }
    assert "if (k0 == 5 && n0 >= 1) {" in middle
    assert either == {"if (k0 == 5 || n0 == 1) {"}


def test_when_in_its_round_a_converter_reads_is_no_mistake(edited_lines: Callable[..., list[set[str]]]) -> None:
    lines = set[str]().union(*edited_lines(gate, CONVERTER, "converter"))
    assert "if (round < 8 && t == 1) {" not in lines
    assert {"if (round < 8) {", "if (t == 0) {", "if (round < 8 && t != 0) {"} <= lines


def test_loops_change_places_where_that_matters(edited_lines: Callable[..., list[set[str]]]) -> None:
    swapped = {"for (int n0 = 0; n0 < 3; ++n0) {;;for (int k0 = 0; k0 < 6; ++k0) {"}
    assert swapped in edited_lines(order, SUM, "compute")
    both_first = SUM.replace("k0 == 0 ?", "k0 == 0 && n0 == 0 ?").replace("n0 == 1", "n0 == 2")
    assert swapped not in edited_lines(order, both_first, "compute")


def test_streams_are_taken_for_one_another_where_that_matters(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(order, SCALED, "compute")
    assert places[:2] == [
        {"const f32x4 a_token = c.read();;;const f32x4 c_token = a.read();"},
        {"const f32x4 b_token = c.read();;;const f32x4 c_token = b.read();"},
    ]
    assert interchangeable(Function("task", "compute", SCALED), "a", "b")


def test_elements_and_words_run_backwards(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert {"d_token[(3 - n0_lane)] = sum;"} in edited_lines(order, SCALED, "compute")
    load = """void task(hls::stream<float>& out, const ap_uint<512>* memory0) {
  for (int slot = 0; slot < 16; ++slot) {
#pragma HLS unroll
    unpack<1>(word, slot, 0, token);
  }
}
"""
    assert edited_lines(order, load, "load") == [{"unpack<1>(word, 15 - slot, 0, token);"}]
