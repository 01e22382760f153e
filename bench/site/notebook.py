"""Executes the tutorial's notebook with the client of this checkout and keeps what its cells show.

python -m bench.site.notebook    # a service must run; MILLRACE_SERVER names another one; writes notebook.ipynb

No kernel and no Jupyter: cells run one after the other in this process, as a kernel would run them, and the value of a
cell's last expression is shown by the methods that notebooks ask for.
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.site.kept import DOCS

FILE = DOCS / "notebook.ipynb"
CLIENT = DOCS.parent / "client"
SHOWN_BY = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "text/markdown": "_repr_markdown_"}


def executed(notebook: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its cells, which run in `names`; what a cell raises passes through."""
    names["__name__"] = "__main__"
    cells: list[dict[str, Any]] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number = sum(c["cell_type"] == "code" for c in cells) + 1
            cells.append(cell | {"execution_count": number, "outputs": outputs_of(cell["source"], names, number)})
        else:
            cells.append(cell)
    return notebook | {"cells": cells}


def outputs_of(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell in `names`: what it prints, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        data = shown(value)
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    return outputs


def shown(value: Any) -> dict[str, str]:
    """A value in every form that it has."""
    forms = {kind: getattr(value, method)() for kind, method in SHOWN_BY.items() if hasattr(value, method)}
    return {"text/plain": repr(value), **{kind: text for kind, text in forms.items() if text}}


def lay_out(folder: Path) -> None:
    """What cells read lies beside them; what they write is not of the documentation."""
    (folder / "data").symlink_to(DOCS / "data")


def main() -> None:
    sys.path.insert(0, str(CLIENT))
    notebook = json.loads(FILE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        lay_out(Path(scratch))
        os.chdir(scratch)
        done = executed(notebook, {})
        os.chdir("/")
    FILE.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
