"""What `sweep run` writes for other systems."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from service_replies import reply
from typer.testing import CliRunner

from api.schemas.sweeps import FrontChange, Regression, SlotComparison, SweepRun
from cli.commands import sweep as command
from cli.main import app
from cli.sweep_files import junit, summary

FRONT = reply(
    FrontChange, fidelity="simulate", before=3, after=4, hypervolume_before=12, hypervolume_after=6, change=-0.5
)
RUN = reply(
    SweepRun,
    id="run_1",
    sweep="nightly",
    state="regressed",
    baseline_id="run_0",
    regression_count=60,
    regressions=[reply(Regression, slot="gpt2 | decode", text="latency 3 -> 4 us; <b>g++</b> \x07 changed")],
    slots=[
        reply(SlotComparison, slot="gpt2 | decode", result="regressed", exploration="exp_1", fronts=[FRONT]),
        reply(SlotComparison, slot="b", result="failed", error="no node", exploration="exp_2"),
        reply(SlotComparison, slot="c", result="cancelled", exploration="exp_3"),
        reply(SlotComparison, slot="d", result="same", exploration="exp_4"),
    ],
)


def test_a_case_an_exploration() -> None:
    root = ElementTree.fromstring(junit(RUN))
    (suite,) = root
    assert suite.attrib["name"] == "millrace sweep nightly"
    assert [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    assert [[child.tag for child in case] for case in suite.iter("testcase")] == [
        ["failure"],
        ["error"],
        ["skipped"],
        [],
    ]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib["message"] == "latency 3 -> 4 us; <b>g++</b> ? changed"


def test_a_run_that_compared_nothing_is_one_case() -> None:
    for state, children in (("failed", ["error"]), ("same", [])):
        (suite,) = ElementTree.fromstring(junit(RUN.model_copy(update={"slots": [], "state": state, "error": "x"})))
        assert [[child.tag for child in case] for case in suite.iter("testcase")] == [children]


def test_a_summary_says_what_got_worse() -> None:
    text = summary(RUN)
    assert text.startswith("## Sweep nightly: regressed\n")
    assert "- gpt2 \\| decode: latency 3 -> 4 us; &lt;b>g++&lt;/b>" in text
    assert "- and 59 more: `millrace sweep show run_1 --json`" in text
    assert "| gpt2 \\| decode `exp_1` | regressed | 3 → 4 designs (simulate) | 12 → 6 (-50.0 %) |" in text


def test_files_need_the_end_of_the_run(tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["sweep", "run", "nightly", "--junit", str(tmp_path / "a.xml")])
    assert "give --wait too" in str(refused.exception)


def test_both_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Connection:
        temporary = False
        client: Any = None

        def __enter__(self) -> "Connection":
            self.client = self
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def run_sweep(self, _name: str, _key: str) -> SweepRun:
            return RUN

    monkeypatch.setattr(command, "connect", lambda _url: Connection())
    files = [tmp_path / "a.xml", tmp_path / "a.md"]
    done = CliRunner().invoke(
        app, ["sweep", "run", "nightly", "--wait", "--junit", str(files[0]), "--summary", str(files[1])]
    )
    assert done.exit_code == 1, done.output
    assert [file.read_text() for file in files] == [junit(RUN), summary(RUN)]
