from dse.comparison.causes import UNKNOWN, Circumstances, cause_text, changes, likely


def circumstances(gxx: str = "12.2.0", node: str = "n1", **settings: str) -> Circumstances:
    tools = {
        "search": {"compiler": "1a2b"},
        "simulate": {"compiler": "1a2b", "g++": gxx},
        "csim": {"compiler": "1a2b", "g++": gxx},
    }
    return Circumstances(tools, {"budget": "40", **settings}, {"simulate": frozenset({node})})


def test_a_tool_is_named_once_for_all_its_stages():
    [change] = changes(circumstances(), circumstances("13.1.0"))
    assert (change.text, change.stages) == ("g++ 12.2.0 -> 13.1.0", {"simulate", "csim"})


def test_a_tool_explains_only_what_it_has_a_part_in():
    found = changes(circumstances(), circumstances("13.1.0", budget="80"))
    assert [c.what for c in likely(found, "simulate")] == ["g++", "budget"]
    assert [c.what for c in likely(found, "search")] == ["budget"]
    assert [c.what for c in likely(found, None)] == ["g++", "budget"]


def test_a_stage_explains_those_that_build_on_it():
    found = changes(circumstances(), circumstances("13.1.0"))
    assert [c.what for c in likely(found, "cosim")] == ["g++"]


def test_another_node_counts_where_nothing_else_changed():
    moved = changes(circumstances(), circumstances(node="n2"))
    assert [c.text for c in likely(moved, "simulate")] == ["node of simulate n1 -> n2"]
    both = changes(circumstances(), circumstances("13.1.0", node="n2"))
    assert [c.what for c in likely(both, "simulate")] == ["g++"]


def test_a_setting_that_is_new_or_gone():
    found = changes(circumstances(seed="0"), circumstances(board="u55c"))
    assert [c.text for c in found] == ["seed 0 -> none", "board none -> u55c"]


def test_nothing_changed():
    assert changes(circumstances(), circumstances()) == ()
    assert cause_text(()) == UNKNOWN
