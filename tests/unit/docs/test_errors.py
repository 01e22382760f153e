"""docs/errors.md has every error that a person can meet, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pages import ROOT

from api import problems
from cli import errors as exit_codes
from compiler.measurement.errors import MeasurementFailure
from compiler.toolchain.report import FailureKind
from db.models import Failure

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
PACKAGES = ("api", "cli", "compiler", "db", "deploy", "dse", "worker")
# Caught where they are raised.
INSIDE = {
    "DescriptorError": "becomes a line in the log",
    "TooLargeError": "becomes a ReportError",
    "WrongLaunchError": "becomes a verdict of csim",
}


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[str]:
    return re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)


def classes() -> Iterator[str]:
    """Names of all public classes of errors in the packages."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from error_classes(path)


def error_classes(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Error") and not node.name.startswith("_"):
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            if any(base.endswith(("Error", "Exception", "Interrupt")) for base in bases):
                yield node.name


def kinds() -> Iterator[str]:
    """Kinds of the problem documents that the API answers with."""
    yield from (kind for _, _, kind, _ in problems._KINDS)
    for path in sorted((ROOT / "api").glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "problem":
                continue
            if len(call.args) > 1 and isinstance(kind := call.args[1], ast.Constant):
                yield str(kind.value)


@pytest.mark.slow
def test_every_class_has_an_entry() -> None:
    entries = re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)
    assert sorted(entries) == sorted(set(classes()) - set(INSIDE))
    assert set(classes()) >= set(INSIDE)


def test_every_entry_says_something() -> None:
    parts = re.split(r"^### `(\w+)`$", PAGE, flags=re.MULTILINE)[1:]
    assert [name for name, text in zip(parts[::2], parts[1::2], strict=True) if len(text.split()) < 8] == []


def test_every_problem_is_listed() -> None:
    assert sorted(rows(section("Problem documents"))) == sorted(set(kinds()))


def test_statuses_are_those_of_the_api() -> None:
    listed = dict(re.findall(r"^\| `([\w-]+)` \| (\d+) \|", section("Problem documents"), re.MULTILINE))
    given = {kind: str(status) for _, status, kind, _ in problems._KINDS}
    assert {kind: listed[kind] for kind in given} == given


def test_exit_codes_are_those_of_the_command_line() -> None:
    listed = re.findall(r"^\| (\d+) \| `(\w+)` \|", section("Exit codes"), re.MULTILINE)
    assert {name: int(code) for code, name in listed} == {
        name: value for name, value in vars(exit_codes).items() if name.isupper() and type(value) is int
    }


@pytest.mark.parametrize(
    ("title", "kinds"),
    [("What Vitis says", FailureKind), ("The compiler and its tools", MeasurementFailure)],
)
def test_kinds_of_failures_are_listed(title: str, kinds: object) -> None:
    assert rows(section(title)) == list(get_args(kinds))


def test_failures_of_builds_are_listed() -> None:
    assert rows(section("The service and its store")) == list(get_args(Failure))
