from collections.abc import Callable

from bench.mutants.windows import window

PIXELS = """void task(hls::stream<float>& rows, hls::stream<float>& pixels) {
  const int origin = row * 2 - 1;
  float token;
  token = origin + n4 >= 0 && origin + n4 < 9 ? column[n4] : -INFINITY;
  pixels.write(token);
}
"""
LANES = """void task(hls::stream<float>& rows, hls::stream<float>& pixels) {
  token[e1] = column[e2 * 2][e1];
}
"""


def test_windows_begin_and_end_elsewhere(edited_lines: Callable[..., list[set[str]]]) -> None:
    origin, step, first, last, fill = edited_lines(window, PIXELS, "window")
    assert origin == {"const int origin = row * 2 - 2;", "const int origin = row * 2 + 0;"}

    def tap(inside: str, line: str = "n4", outside: str = "-INFINITY") -> str:
        return f"token = {inside} ? column[{line}] : {outside};"

    ends = "origin + n4 >= 0 && origin + n4 < 9"
    assert step == {tap(ends, "n4 + 1"), tap(ends, "0")}
    assert first == {
        tap("origin + n4 >= -1 && origin + n4 < 9"),
        tap("origin + n4 >= 1 && origin + n4 < 9"),
        tap("origin + n4 < 9"),
    }
    assert last == {
        tap("origin + n4 >= 0 && origin + n4 < 8"),
        tap("origin + n4 >= 0 && origin + n4 < 10"),
        tap("origin + n4 >= 0"),
    }
    assert fill == {tap(ends, outside="0.0f"), tap(ends, outside="1.0f")}


def test_a_tap_is_of_another_line(edited_lines: Callable[..., list[set[str]]]) -> None:
    assert edited_lines(window, LANES, "window") == [
        {"token[e1] = column[e2 * 2 + 1][e1];", "token[e1] = column[0][e1];"}
    ]
    assert edited_lines(window, LANES, "compute") == []
