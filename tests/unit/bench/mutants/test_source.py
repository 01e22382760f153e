from bench.mutants.source import Function, functions_of

FILE = """#include "tasks.h"

// Sums: void not_this(int x) {
//   reads x: itensor
void sums(
    hls::stream<f32x4>& x, hls::stream<ap_int<8>>& y, const ap_uint<512>* memory0, float scale) {
  float acc[3][2];
#pragma HLS bind_storage variable=acc type=ram_s2p impl=lutram
  for (int k0 = 0; k0 < 6; ++k0) {
    for (int n0 = 0; n0 < 3; ++n0) {
#pragma HLS pipeline II=1 style=flp
      const f32x4 x_token = x.read();
      for (int k0_lane = 0; k0_lane < 4; ++k0_lane) {
#pragma HLS unroll
        terms[k0_lane] = x_token[k0_lane + 1] * scale;
      }
      const float total = k0 == 0 && n0 == 0 ? partial : acc[n0][1] + partial;
      if (k0 == 5) {
        y.write(ap_int<8>(int(total)));
      }
    }
  }
}

void helper() {
}
"""


def function() -> Function:
    return functions_of(FILE, {"sums": "compute"})["sums"]


def test_only_tasks_are_functions() -> None:
    assert list(functions_of(FILE, {"sums": "compute"})) == ["sums"]
    assert function().text.startswith("void sums(\n")
    assert function().text.endswith("  }\n}\n")


def test_parameters_have_types() -> None:
    assert function().parameters == {
        "x": "hls::stream<f32x4>&",
        "y": "hls::stream<ap_int<8>>&",
        "memory0": "const ap_uint<512>*",
        "scale": "float",
    }


def test_lines_are_code_within_their_loops() -> None:
    texts = [line.code.text for line in function().lines]
    assert not any(text.startswith(("#", "//")) for text in texts)
    [total] = [line for line in function().lines if line.code.text.startswith("const float total")]
    assert [loop.name for loop in total.loops] == ["k0", "n0"]
    assert (total.trip("n0"), total.trip("k0_lane")) == (3, None)


def test_places_are_where_they_say() -> None:
    text = function().text
    for line in function().lines:
        assert text[line.code.start : line.code.end] == line.code.text
    for piece, _ in function().subscripts:
        assert text[piece.start - 1 : piece.end + 1] == f"[{piece.text}]"


def test_loops_know_whether_they_are_unrolled() -> None:
    assert [(loop.name, loop.count, loop.unrolled) for loop in function().loops] == [
        ("k0", 6, False),
        ("n0", 3, False),
        ("k0_lane", 4, True),
    ]


def test_conditions_are_of_ifs_and_selections() -> None:
    found = [condition.whole.text for condition in function().conditions]
    assert found == ["k0 == 0 && n0 == 0", "k0 == 5"]
    [first, _] = function().conditions
    assert [(c.name, c.op, c.value) for c in first.compares] == [("k0", "==", 0), ("n0", "==", 0)]


def test_values_are_what_is_computed() -> None:
    assert [(v.target, v.piece.text) for v in function().values] == [
        ("terms", "x_token[k0_lane + 1] * scale"),
        ("total", "partial : acc[n0][1] + partial"),
        ("y", "ap_int<8>(int(total))"),
    ]
    assert next(iter(function().values)).plain == "x_token[###########] * scale"


def test_declarations_have_no_subscripts() -> None:
    assert [piece.text for piece, _ in function().subscripts] == ["k0_lane", "k0_lane + 1", "n0", "1"]
