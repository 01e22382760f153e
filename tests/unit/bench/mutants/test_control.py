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
        token = in.read();
      }
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
    assert len(places) == 5


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
