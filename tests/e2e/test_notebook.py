"""The notebook on a service with nothing stood in: every cell runs, and shows what the page of the site shows."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from running_service import service_starter

from bench.site.notebook import FILE, executed, lay_out

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NOTEBOOK = json.loads(FILE.read_text(encoding="utf-8"))


def test_it_runs_and_shows_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    with service_starter(tmp_path) as start:
        monkeypatch.setenv("MILLRACE_SERVER", start(MILLRACE_STAGES="worker.stages.functions:STAGES").address)
        done = executed(NOTEBOOK, names)
    assert [shapes(cell) for cell in code(done)] == [shapes(cell) for cell in code(NOTEBOOK)]
    table = names["df"]
    assert len(table) == 300
    assert table["lut"].notna().all()
    assert (tmp_path / "d" / "dataflow.json").is_file()


def test_three_lines_lead_to_a_data_frame() -> None:
    lines = [line for cell in code(NOTEBOOK) for line in ast.parse(cell["source"]).body if not is_shown(line)]
    first = next(number for number, line in enumerate(lines, 1) if ast.unparse(line).endswith(".df()"))
    assert first == 3


def code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def is_shown(line: ast.stmt) -> bool:
    """Whether it only has a value shown."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Name)


def shapes(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell shows, without what differs from run to run: kinds, columns, how many pictures; sizes as they are."""
    return [{kind: shape(kind, text) for kind, text in output["data"].items()} for output in cell["outputs"]]


def shape(kind: str, text: str) -> Any:
    if kind == "text/html":
        columns = [name for name in re.findall(r"<th[^>]*>([^<]*)</th>", text) if not re.match(r"\d|dsg_", name)]
        return columns, text.count("<svg")
    return text if re.fullmatch(r"\([\d, ]+\)", text) else re.findall(r"\w+", text)[0]
