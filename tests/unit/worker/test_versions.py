from worker.versions import compiler_digest, csim_key, csim_tools, digest, lower_key


def test_keys_depend_on_every_input() -> None:
    base = csim_key("design", "workload", "u55c")
    assert base == csim_key("design", "workload", "u55c")
    others = {
        csim_key("d2", "workload", "u55c"),
        csim_key("design", "w2", "u55c"),
        csim_key("design", "workload", "u280"),
    }
    assert len(others | {base, lower_key("workload"), lower_key("w2")}) == 6


def test_digest_ignores_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest("ab", "c") != digest("a", "bc")


def test_tools_name_their_versions() -> None:
    tools = csim_tools()
    assert compiler_digest() in tools["millrace"]
    assert tools["g++"] != ""
