from collections.abc import Callable

from bench.mutants.masks import mask

SCORES = """void task(hls::stream<float>& scores, hls::stream<float>& mask, hls::stream<float>& y) {
  for (int n0 = 0; n0 < 6; ++n0) {
    for (int n1 = 0; n1 < 2; ++n1) {
      if (n0 == 0 && n1 == 0) {
        mask_token = mask.read();
      }
      const float sum = product + mask_token;
    }
  }
}
"""
PADDED = """void task(hls::stream<float>& x, hls::stream<float>& y) {
  const float term = k0_tile * 4 + k0 < 14 && k1 < 3 ? x_token[k0] : -INFINITY;
}
"""
PARTIAL = """void task(hls::stream<float>& in, ap_uint<512>* memory0) {
  if (w * 16 + slot < 100) {
  }
}
"""


def test_the_mask_is_left_out_or_late(edited_lines: Callable[..., list[set[str]]]) -> None:
    added, first, second = edited_lines(mask, SCORES, "compute")
    assert added == {
        f"const float sum = {value};"
        for value in ("product", "mask_token", "product - mask_token", "product * mask_token")
    }
    assert first == {"if (n0 == 1 && n1 == 0) {", "if (n1 == 0) {"}
    assert second == {"if (n0 == 0 && n1 == 1) {", "if (n0 == 0) {"}


def test_lanes_of_padding_count(edited_lines: Callable[..., list[set[str]]]) -> None:
    first, second, swapped = edited_lines(mask, PADDED, "compute")
    assert first == {
        f"const float term = {inside} ? x_token[k0] : -INFINITY;"
        for inside in ("k0_tile * 4 + k0 < 13 && k1 < 3", "k0_tile * 4 + k0 < 15 && k1 < 3", "k1 < 3")
    }
    assert len(second) == 3
    assert swapped == {"const float term = k0_tile * 4 + k0 < 14 && k1 < 3 ? -INFINITY : x_token[k0];"}


def test_the_last_word_holds_other_tokens(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(mask, PARTIAL, "store") == [
        {"if (w * 16 + slot < 99) {", "if (w * 16 + slot < 101) {", "if (true) {"}
    ]
