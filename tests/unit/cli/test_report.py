"""`millrace report`: one file that needs nothing from elsewhere."""

import csv
import json
import re
from contextlib import nullcontext
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from wire_replies import reply

from cli.commands import report as command
from cli.main import app
from compiler.options import Knobs
from millrace.wire import (
    Design,
    DesignSummary,
    Exploration,
    Metric,
    Model,
    ModelRef,
    Objective,
    Pick,
    Scatter,
    WorkloadShape,
)

_TOOL = {"tool": "millrace", "tool_version": "0.1"}


def metric(name: str, value: float, unit: str, fidelity: str = "estimate") -> Metric:
    return reply(Metric, name=name, value=value, unit=unit, fidelity=fidelity, **_TOOL)


def design(number: int, latency: float, energy: float) -> Design:
    metrics = [metric("latency", latency, "us"), metric("latency", latency + 1, "us", "simulate")]
    values = {"objectives": [latency, energy], "dataflow_available": number == 2}
    metrics += [metric("energy", energy, "uJ"), metric("lut", 12345, "")]
    return reply(Design, id=f"dsg_{number}", number=number, knobs=Knobs().to_json(), metrics=metrics, **values)


DESIGNS = [design(1, 10, 300), design(2, 20, 30), design(3, 200, 20)]
DATAFLOW = {
    "kernels": 2,
    "tasks": [
        {"name": name, "kind": kind, "kernel": k, "op": None, "timing": {"trips": [2, 3], "ii": 1, "depth": 1}}
        for name, kind, k in (("load<x>", "load", 0), ("matmul", "compute", 0), ("store", "store", 1))
    ],
    "streams": [
        {"name": name, "source": source, "target": target, "width": width, "depth": depth, "tokens": 6,
         "itensor": "", "kind": None}
        for name, source, target, width, depth in (("a", "load<x>", "matmul", 512, 4), ("b", "matmul", "store", 32, 2))
    ],
}  # fmt: skip


class _Reader:
    """Has one exploration with a front of three designs, and the graph of its knee."""

    def __init__(self) -> None:
        self.front_ids = ["dsg_1", "dsg_2", "dsg_3"]

    def exploration(self, _key: str) -> Exploration:
        pick = reply(
            Pick, kind="knee", design_id="dsg_2", number=2, objectives=[21.0, 30.0], fidelity="simulate",
            estimates=[20.0, 30.0],
        )  # fmt: skip
        facts: dict[str, Any] = {"name": "mine", "sampler": "nsga2", "seed": 7, "platform": "u55c", "state": "done"}
        pairs = (("latency", "us"), ("energy", "uJ"))
        facts["objectives"] = [Objective(name=name, unit=unit, best="") for name, unit in pairs]
        model, shape = reply(ModelRef, name="gpt2"), reply(WorkloadShape, phase="decode", length=64, precision="w4a8")
        facts["at_most"] = {"lut": 40.0, "hbm_ports": 8.0}
        return reply(
            Exploration, id="exp_1", model=model, workload=shape, picks=[pick], notes="<script>1</script>", **facts
        )

    def front(self, _key: str) -> list[DesignSummary]:
        return [reply(DesignSummary, id=key) for key in self.front_ids]

    def design(self, key: str) -> Design:
        return next(d for d in DESIGNS if key in (d.id, f"exp_1#{d.number}"))

    def model(self, _key: str) -> Model:
        return reply(Model, name="gpt2", kind="builtin", digest="d" * 64)

    def scatter(self, _key: str) -> Scatter:
        columns: dict[str, Any] = {name: [None] * 4 for name in ("csim", "simulated_us", "simulation")}
        columns |= {"id": ["a", "b", "c", "d"], "number": [0, 1, 2, 3], "feasible": [True, True, False, True]}
        latency, energy = [30.0, 10.0, None, 9e9], [400.0, 300.0, None, 9e9]
        points: dict[str, Any] = {"latency_us": latency, "objectives": [latency, energy]}
        return Scatter(**columns, **points, on_front=[False, True, False, False])

    def artifact(self, design: str, path: str) -> bytes:
        assert (design, path) == ("dsg_2", "dataflow.json")
        return json.dumps(DATAFLOW).encode()


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> _Reader:
    made = _Reader()
    monkeypatch.setattr(command, "look", lambda _url: nullcontext(made))
    return made


def run(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["report", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


class _Tags(HTMLParser):
    """Every tag is closed, none loads anything."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not {"src", "href", "srcset", "onclick"} & {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_one_file_that_needs_nothing(reader: _Reader, tmp_path: Path) -> None:
    run("latest", "-o", str(tmp_path / "front.html"))
    text = (tmp_path / "front.html").read_text()
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert {"svg", "table", "title"} <= set(tags.seen)
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert "default-src 'none'" in text
    assert not re.search(r"https?:|url\(|@import", text.replace('xmlns="http://www.w3.org/2000/svg"', ""))
    assert "&lt;script&gt;1&lt;/script&gt;" in text


def test_what_it_says(reader: _Reader, tmp_path: Path) -> None:
    run("latest", "-o", str(tmp_path / "front.html"))
    text = (tmp_path / "front.html").read_text()
    assert "overall_unroll 256" in text  # of a point that is pointed at
    assert text.count('<g class="point" tabindex="0"') == 3
    assert "latency 21 us (simulate)" in text
    assert "<th>latency, us (simulate)</th>" in text
    assert "<td>12,345</td>" in text
    assert "21.00 (simulate)" in text  # the knee, and its estimate beside it
    assert "Dataflow of design 2" in text
    assert "load&lt;x&gt; to matmul\na: 6 tokens of 512 bits, depth 4" in text
    for fact in (
        f"SHA-256 {'d' * 64}",
        "nsga2, seed 7",
        "lut 40 %, hbm_ports 8",
        "millrace 0.1",
        "u55c",
        "decode, length 64",
    ):
        assert fact in text
    assert ", 1 worse designs lie beyond" in text


def test_another_design(reader: _Reader, tmp_path: Path) -> None:
    run("latest", "-o", str(tmp_path / "front.html"), "--design", "3")
    text = (tmp_path / "front.html").read_text()
    assert "Its graph is not stored" in text
    assert "millrace design export mine#3 --out d" in text


def test_csv_and_latex(reader: _Reader, tmp_path: Path) -> None:
    files = tmp_path / "new" / "a.csv", tmp_path / "a.tex"
    done = run("latest", "--csv", str(files[0]), "--latex", str(files[1]), "--json")
    assert json.loads(done.stdout)["written"] == {"csv": str(files[0]), "latex": str(files[1])}
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert [row["number"] for row in rows] == ["1", "2", "3"]
    assert (rows[1]["latency:simulate:us"], rows[1]["lut:estimate"], rows[1]["overrides"]) == ("21.0", "12345.0", "[]")
    table = files[1].read_text()
    assert r"    2 & 20 & 21 & 30 & 16 & 256 & 512 & 1 & fabric \\" in table
    assert table.count("{") == table.count("}")


def test_nothing_to_report(reader: _Reader, tmp_path: Path) -> None:
    reader.front_ids = []
    run("latest", "-o", str(tmp_path / "front.html"), code=1)
    assert not (tmp_path / "front.html").exists()
    assert "say what to write" in str(run("latest", code=1).exception)
