import pytest
from rich.console import Console

from bench.mutants.draw import Mutant
from bench.mutants.edits import Change, Edit
from bench.mutants.report import enough, show, tallies, to_json
from bench.mutants.trial import Fate, Judged

TEXT = "void task() {\n  x = a[0] * 2.0f;\n}\n"


def judged(kind: str, fate: Fate, number: int = 1, right: bool = True) -> Judged:
    at = TEXT.index("2.0f")
    mutant = Mutant("gpt2", kind, 7, number, "task", "", TEXT, Edit((Change(at, at + 4, "2.2f"),)))
    return Judged(mutant, fate, "task", right, "task task differs", 1.5)


def test_shares_are_of_the_drawn_and_of_the_caught() -> None:
    found = [judged("sign", "check"), judged("sign", "crash", right=False), judged("sign", "survived")]
    sign, bank, total = tallies(found, ["sign", "bank"])
    assert (sign.caught, sign.right) == (pytest.approx(2 / 3), 0.5)
    assert (bank.caught, bank.right, len(bank.judged)) == (1.0, 1.0, 0)
    assert [total.ended(fate) for fate in ("check", "crash", "deadlock", "time-out", "survived")] == [1, 1, 0, 0, 1]


def test_enough_of_each_kind_and_of_all_must_be_caught() -> None:
    sign = [judged("sign", "check", n) for n in range(19)] + [judged("sign", "survived", 20)]
    assert not enough(tallies(sign, ["sign"]))  # 95 % of all
    bank = [judged("bank", "check", n) for n in range(40)]
    assert enough(tallies(sign + bank, ["sign", "bank"]))
    assert not enough(tallies([*sign, *bank, judged("sign", "survived", 21)], ["sign", "bank"]))


def test_a_survivor_is_shown_in_full() -> None:
    console = Console(width=120)
    with console.capture() as capture:
        show(console, tallies([judged("constant x1.1", "survived", 4)], ["constant x1.1"]), unreal=3)
    text = capture.get()
    assert "constant x1.1: gpt2, task (seed 7, draw 4)" in text
    assert "- x = a[0] * 2.0f;" in text
    assert "+ x = a[0] * 2.2f;" in text
    assert "3 more did not compile" in text


def test_json_has_every_mutant() -> None:
    data = to_json(tallies([judged("sign", "check")], ["sign"]), 2)
    assert [kind["kind"] for kind in data["kinds"]] == ["sign", "all"]
    [mutant] = data["mutants"]
    assert mutant["lines"] == [["x = a[0] * 2.0f;", "x = a[0] * 2.2f;"]]
    assert (mutant["fate"], mutant["named"], mutant["seed"], mutant["draw"]) == ("check", "task", 7, 1)
