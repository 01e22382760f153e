"""Runs the `// RUN:` lines of the .mlir files beside this one, in process.

`millrace-opt ARGS | filecheck FILE`: options of the former are those of `compiler.ir.opt`, %s is the file.
"""

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

from compiler.ir.expand_tasks import ExpandTasksPass
from compiler.ir.opt import MillraceOpt
from compiler.passes.design_passes import DESIGN_PASSES

ROOT = Path(__file__).parent
RUN = re.compile(r"// RUN: millrace-opt (?P<opt>.*?) \| filecheck (?P<check>.*)")
FILES = sorted(ROOT.rglob("*.mlir"))


def run_opt(args: list[str]) -> str:
    output = io.StringIO()
    with redirect_stdout(output):
        MillraceOpt(args=args).run()
    return output.getvalue()


@pytest.mark.parametrize("file", FILES, ids=[str(f.relative_to(ROOT)) for f in FILES])
def test_filecheck(file: Path) -> None:
    runs = list(RUN.finditer(file.read_text()))
    assert runs, f"{file} has no `// RUN: millrace-opt ... | filecheck ...` line"
    for run in runs:
        opt, check = (shlex.split(run[part].replace("%s", str(file))) for part in ("opt", "check"))
        text = run_opt(opt)
        options = parse_argv_options(["filecheck", *check])
        report = io.StringIO()
        with redirect_stderr(report):
            code = Matcher(options, FInput("millrace-opt", text), Parser.from_opts(options)).run()
        assert code == 0, f"{run[0]}\n{report.getvalue()}\n--- output ---\n{text}"


def test_every_pass_has_a_filecheck_of_its_name() -> None:
    files = {f.stem for f in (ROOT / "passes").glob("*.mlir")}
    assert files == {pass_.name.replace("-", "_") for pass_ in (*DESIGN_PASSES, ExpandTasksPass)}
