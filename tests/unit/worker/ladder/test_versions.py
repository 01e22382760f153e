import pytest

from worker.ladder import versions
from worker.ladder.versions import compiler_digest, digest, key_of, tools_of


def test_keys_depend_on_every_input() -> None:
    base = key_of("csim", "subject", {"a": 1}, {"g++": "13"})
    assert base == key_of("csim", "subject", {"a": 1}, {"g++": "13"})
    others = {
        key_of("simulate", "subject", {"a": 1}, {"g++": "13"}),
        key_of("csim", "other", {"a": 1}, {"g++": "13"}),
        key_of("csim", "subject", {"a": 2}, {"g++": "13"}),
        key_of("csim", "subject", {"a": 1}, {"g++": "14"}),
    }
    assert len(others | {base}) == 5


def test_digest_ignores_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest("ab", "c") != digest("a", "bc")


def test_tools_name_their_versions() -> None:
    tools = tools_of("csim", {})
    assert compiler_digest() in tools["millrace"]
    assert tools["g++"] != ""
    assert tools_of("csynth", {"vitis": "2023.2"}) == {"vitis": "2023.2"}
    assert set(tools_of("search", {})) == {"millrace", "search", "optuna"}


def test_a_node_s_word_counts_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API may run where there is no g++."""
    monkeypatch.setattr(versions, "gxx_version", lambda: "none")
    assert tools_of("csim", {}, {"g++": "14.2.0"})["g++"] == "14.2.0"
    assert tools_of("csim", {}, {})["g++"] == "none"


def test_better_parsers_of_reports_do_not_change_designs() -> None:
    plain, all_of_it = (versions.sources_digest("compiler", without) for without in (versions.READERS, ()))
    assert plain == compiler_digest() != all_of_it
