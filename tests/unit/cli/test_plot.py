from cli.plot import scatter


def test_ends_of_the_front_are_in_opposite_corners():
    lines = scatter([], [(1.0, 100.0), (10.0, 1.0)], "latency us", "energy uJ", width=10, height=4).splitlines()
    assert lines[0].strip() == "energy uJ"
    assert lines[1] == "100 ┤●         "
    assert lines[4] == "  1 ┤         ●"
    assert lines[6].split() == ["1", "10", "latency", "us"]


def test_cloud_is_drawn_in_braille_dots():
    lines = scatter([(1.0, 1.0), (4.0, 4.0)], [], "x", "y", width=2, height=2).splitlines()
    assert lines[1:3] == ["4 ┤ ⠈", "1 ┤⡀ "]


def test_one_point_and_no_point():
    assert "●" in scatter([], [(3.0, 5.0)], "x", "y")
    assert scatter([], [], "x", "y") == "(no feasible design yet)"


def test_what_is_far_from_the_front_is_counted():
    lines = scatter([(2.0, 2.0), (1e6, 1.0), (1.0, 1e6)], [(1.0, 1.0)], "x", "y").splitlines()
    assert lines[0].strip() == "y   (2 worse designs lie beyond)"
    assert lines[1].strip().startswith("2 ┤")
