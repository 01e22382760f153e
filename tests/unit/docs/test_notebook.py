"""How the notebook is executed and becomes a page; tests/e2e/test_notebook.py runs it against a service."""

import json
import runpy
from collections.abc import Callable
from typing import Any

from pages import ROOT

from bench.site.notebook import FILE, executed

as_page: Callable[[dict[str, Any]], str] = runpy.run_path(str(ROOT / "docs" / "build.py"))["as_page"]


def cell(source: str, kind: str = "code") -> dict[str, Any]:
    return (
        {"cell_type": kind, "source": source, "outputs": []}
        if kind == "code"
        else {"cell_type": kind, "source": source}
    )


def test_cells_share_their_names_and_show_their_last_value() -> None:
    done = executed({"cells": [cell("# A title", "markdown"), cell("a = 2\nprint('said')"), cell("a + 1")]}, {})
    assert [c.get("execution_count") for c in done["cells"]] == [None, 1, 2]
    assert done["cells"][1]["outputs"][0]["text"] == "said\n"
    assert done["cells"][2]["outputs"][0]["data"] == {"text/plain": "3"}


def test_a_page_has_texts_code_and_outputs() -> None:
    source = "class Table:\n    def _repr_html_(self):\n        return '<table>\\n\\n</table>'\n\nTable()"
    page = as_page(executed({"cells": [cell("# A title", "markdown"), cell("1 + 1"), cell(source)]}, {}))
    assert page.startswith("# A title\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n\n```python\nclass Table")
    assert '<div class="output">\n<table>\n</table>\n</div>' in page


def test_the_notebook_is_one() -> None:
    notebook = json.loads(FILE.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    for each in notebook["cells"]:
        if each["cell_type"] == "code":
            compile(each["source"], "cell", "exec")
