from worker.versions import compiler_digest, digest, lower_key, stage_key, stage_tools


def test_keys_depend_on_every_input() -> None:
    base = stage_key("csim", "design", "workload", "u55c")
    assert base == stage_key("csim", "design", "workload", "u55c")
    others = {
        stage_key("simulate", "design", "workload", "u55c"),
        stage_key("csim", "d2", "workload", "u55c"),
        stage_key("csim", "design", "w2", "u55c"),
        stage_key("csim", "design", "workload", "u280"),
    }
    assert len(others | {base, lower_key("workload"), lower_key("w2")}) == 7


def test_digest_ignores_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest("ab", "c") != digest("a", "bc")


def test_tools_name_their_versions() -> None:
    tools = stage_tools()
    assert compiler_digest() in tools["millrace"]
    assert tools["g++"] != ""
