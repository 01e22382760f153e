"""The pictures of notebooks and reports: what is drawn where, and how it is reached."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from millrace.drawing import Arrow, Box, Mark, cell_text, graph_svg, scatter_svg

FRONT = [Mark(10, 300, "slow\n<b>", "knee"), Mark(200, 20, "fast"), Mark(-1, 5, "no place")]


def drawn(svg: str) -> Element:
    return ElementTree.fromstring(svg)


def of_class(svg: str, name: str) -> list[Element]:
    return [one for one in drawn(svg).iter() if name in (one.get("class") or "").split()]


def test_designs_of_the_front_are_reached_by_tab_and_say_what_they_are() -> None:
    points = of_class(scatter_svg([], FRONT, "x", "y"), "point")
    assert [point.get("tabindex") for point in points] == ["0", "0"]
    assert [point.findtext("{*}title") for point in points] == ["slow\n<b>", "fast"]
    assert [point.findtext("{*}text") for point in points] == ["knee", None]


def test_what_is_far_from_the_front_is_counted_and_not_drawn() -> None:
    svg = scatter_svg([(50, 50), (10_000, 50), (50, 10_000), (-1, 5)], FRONT, "x", "y")
    [cloud] = of_class(svg, "cloud")
    assert len(cloud) == 1
    assert drawn(svg).get("aria-label") == "2 designs of the front among 5, 2 worse designs lie beyond"
    assert any(
        text.text == "y, 2 worse designs lie beyond" for text in drawn(svg).iter("{http://www.w3.org/2000/svg}text")
    )


def test_the_line_joins_what_no_other_beats_in_the_two_that_are_drawn() -> None:
    inside = Mark(150, 350, "small in a third")
    [line] = of_class(scatter_svg([], [*FRONT, inside], "x", "y"), "line")
    assert len(str(line.get("points")).split()) == 2
    assert len(of_class(scatter_svg([(1, 0)], [Mark(3, 0, "none of it"), Mark(1, 4, "")], "x", "y"), "point")) == 2


def test_many_designs_are_thinned() -> None:
    [cloud] = of_class(scatter_svg([(20 + n / 1000, 100) for n in range(10_001)], FRONT, "x", "y"), "cloud")
    assert 3000 < len(cloud) <= 4000


def test_ticks_are_round() -> None:
    [axes] = of_class(scatter_svg([(10, 10), (180, 290)], FRONT, "", ""), "axes")
    assert {text.text for text in axes} - {None} == {"10", "20", "50", "100", "200"}
    [axes] = of_class(scatter_svg([], [Mark(100, 100, "")], "", ""), "axes")
    assert {text.text for text in axes} - {None} == {"100", "95", "105"} or len(axes) > 4


def test_no_design() -> None:
    assert "no design fits the platform yet" in scatter_svg([], [], "x", "y")
    assert len(of_class(scatter_svg([(1, 1), (2, 2)], [], "x", "y"), "cloud")[0]) == 2


def test_kernels_lie_below_each_other_and_wide_streams_are_thick() -> None:
    boxes = [Box(name, "compute", kernel, f"about {name}") for name, kernel in (("a", 0), ("b", 0), ("c", 1), ("d", 1))]
    arrows = [Arrow("a", "b", 8, "ab"), Arrow("b", "c", 1024, "bc"), Arrow("a", "nobody", 8, "lost")]
    svg = graph_svg(boxes, arrows)
    tops = {
        task.findtext("{*}text"): float(task.find("{*}rect").get("y", ""))  # pyright: ignore[reportOptionalMemberAccess]
        for task in of_class(svg, "task")
    }
    assert tops["a"] < tops["b"] < tops["c"] == tops["d"]
    [streams] = of_class(svg, "streams")
    assert [float(path.get("stroke-width", "")) for path in streams] == [1.0, 3.3]
    assert [path.findtext("{*}title") for path in streams] == ["ab", "bc"]
    assert drawn(svg).get("aria-label") == "4 tasks, 2 streams, 2 kernels"


def test_tasks_in_a_circle_end_too() -> None:
    boxes = [Box(name, "compute", 0, "") for name in "abc"]
    svg = graph_svg(boxes, [Arrow(a, b, 8, "") for a, b in ("ab", "bc", "ca")])
    assert len(of_class(svg, "task")) == 3


def test_a_style_sheet_can_colour_all_and_nothing_is_inline() -> None:
    for svg in (scatter_svg([(20, 20)], FRONT, "x", "y"), graph_svg([Box("a", "load", 0, "")], [])):
        assert not re.search(r"\bstyle=|\bon\w+=|<script", svg)


def test_numbers_of_a_table() -> None:
    assert [cell_text(v) for v in (None, 7, 0.12345, 9999.96, 12345.6, "x")] == [
        "", "7", "0.1235", "10,000", "12,346", "x",
    ]  # fmt: skip
