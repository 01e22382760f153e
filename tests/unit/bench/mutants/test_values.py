from collections.abc import Callable

from bench.mutants.values import constant, operator, rounding, saturation, scale, sign

QUANTISE = """void task(hls::stream<float>& x, hls::stream<ap_int<8>>& y, float inv_scale) {
  const float x_token = x.read();
  const float sum = x_token[n0_lane] + 1e-06f;
  const float product = sum * inv_scale;
  const float product_1 = product * 0.125f;
  const float rounded = hls::rint(product_1);
  const float larger = hls::fmax(rounded, -127.0f);
  y.write(ap_int<8>(int(larger)));
}
"""
MATMUL = """void task(hls::stream<i8x8>& x, hls::stream<i4x64>& w, hls::stream<int>& y) {
  i8x8 x_token;
  ap_int<4> w_token[64];
  const int product = int(x_token[k0_lane]) * int(w_token[k0_lane * 4 + n0_lane]);
  const int partial = reduce_tree<Add>(terms);
  const int total = k0 == 0 ? partial : acc[n0] + partial;
}
"""


def test_literals_are_too_large(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(constant(1.1), QUANTISE, "compute") == [
        {"const float sum = x_token[n0_lane] + 1.1e-06f;"},
        {"const float product_1 = product * 0.1375f;"},
        {"const float larger = hls::fmax(rounded, -139.7f);"},
    ]


def test_a_clamp_of_whole_numbers_is_not_off_by_less_than_one(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(constant(1 + 2**-10), QUANTISE, "compute")
    assert places[1] == {"const float product_1 = product * 0.12512207f;"}
    assert len(places) == 2


def test_operators_are_others_but_not_those_of_addresses(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(operator, MATMUL, "compute") == [
        {"const int product = int(x_token[k0_lane]) + int(w_token[k0_lane * 4 + n0_lane]);"},
        {f"const int partial = reduce_tree<{other}>(terms);" for other in ("Maximum", "Multiply")},
        {"const int total = k0 == 0 ? partial : acc[n0] - partial;"},
    ]
    assert {"const float larger = hls::fmin(rounded, -127.0f);"} in edited_lines(operator, QUANTISE, "compute")
    assert edited_lines(operator, MATMUL, "fork") == []


def test_a_scale_is_dropped_inverted_doubled_or_another(edited_lines: Callable[..., list[set[str]]]) -> None:
    places = edited_lines(scale, QUANTISE, "compute")
    assert places[0] == {
        f"const float product = {value};"
        for value in ("sum", "sum / inv_scale", "sum * (2.0f * inv_scale)", "sum * 0.125f")
    }
    assert len(places) == 2


def test_rounding_is_another(edited_lines: Callable[..., list[set[str]]]) -> None:
    [place] = edited_lines(rounding, QUANTISE, "compute")
    others = {f"hls::{name}(product_1)" for name in ("floor", "ceil", "trunc", "round")}
    assert place == {f"const float rounded = {other};" for other in (*others, "hls::floor(product_1 + 0.5f)")}


def test_a_tie_is_a_tie_where_the_number_is_exact(edited_lines: Callable[..., list[set[str]]]) -> None:
    body = QUANTISE.replace("product * 0.125f", "hls::tanh(product)")
    [place] = edited_lines(rounding, body, "compute")
    assert place == {f"const float rounded = hls::{name}(product_1);" for name in ("floor", "ceil", "trunc")}


def test_a_clamp_is_one_off_or_none(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(saturation, QUANTISE, "compute") == [
        {f"const float larger = hls::fmax(rounded, {limit});" for limit in ("-128.0f", "-126.0f")},
        {"const float larger = rounded;"},
    ]


def test_signs_are_wrong(edited_lines: Callable[..., list[set[str]]]) -> None:
    quantised = edited_lines(sign, QUANTISE, "compute")
    assert {"const float sum = -x_token[n0_lane] + 1e-06f;"} in quantised
    assert {"const float larger = hls::fmax(rounded, 127.0f);"} in quantised
    assert {"y.write(ap_int<8>(-int(larger)));"} in quantised
    multiplied = edited_lines(sign, MATMUL, "compute")
    weight = "w_token[k0_lane * 4 + n0_lane]"
    assert {
        f"const int product = int(x_token[k0_lane]) * -int({weight});",
        f"const int product = int(x_token[k0_lane]) * int(ap_uint<4>({weight}));",
    } in multiplied
    assert {"const int partial = -reduce_tree<Add>(terms);"} in multiplied


def test_a_token_of_several_elements_has_no_sign(edited_lines: Callable[..., list[set[str]]]) -> None:
    body = "void task(hls::stream<f32x4>& y) {\n  const float v = a * b_token;\n  y.write(y_token);\n}\n"
    assert edited_lines(sign, body, "compute") == [{"const float v = -a * b_token;"}, {"const float v = a * -b_token;"}]


FIXED = """void task(hls::stream<i32x4>& x, hls::stream<i8x4>& y) {
  const int64_t shifted = sum >> 38LL;
  const int larger = int(shifted) > 0 ? int(shifted) : 0;
  const int smaller = larger < 127 ? larger : 127;
}
"""


def test_fixed_point_is_off_by_a_bit_and_clamped_elsewhere(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(rounding, FIXED, "compute") == [
        {f"const int64_t shifted = sum >> {bits}LL;" for bits in (37, 39)},
    ]
    lower = {f"const int larger = int(shifted) > {n} ? int(shifted) : {n};" for n in (-1, 1)}
    upper = {f"const int smaller = larger < {n} ? larger : {n};" for n in (126, 128)}
    assert edited_lines(saturation, FIXED, "compute") == [
        {*lower, "const int larger = int(shifted);"},
        {*upper, "const int smaller = larger;"},
    ]
