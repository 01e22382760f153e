"""The package as people install it: small, alone, for Python 3.10, and the models of this very service."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from api import wire as generator
from compiler.metrics import VERSION

ROOT = Path(__file__).resolve().parents[3]
CLIENT = ROOT / "client"
SOURCES = sorted((CLIENT / "millrace").glob("*.py"))
# By the extra that brings it; imported where it is needed.
OF_EXTRAS = {"pandas", "matplotlib", "torch"}
SINCE_3_11 = {
    ("datetime", "UTC"),
    ("enum", "StrEnum"),
    *(("typing", name) for name in ("Self", "Required", "NotRequired", "Never", "LiteralString", "Unpack", "override")),
    *(("typing", name) for name in ("assert_never", "assert_type", "reveal_type", "TypeVarTuple")),
    *(("itertools", name) for name in ("batched",)),
    ("contextlib", "chdir"),
}


def test_the_models_are_those_of_the_service() -> None:
    schema = generator.document()
    how = "make them anew: .venv/bin/python -m api.wire"
    assert generator.DOCUMENT.read_text() == generator.as_text(schema), how
    assert generator.MODELS.read_text() == generator.models(schema), how


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_every_module_is_for_python_3_10_and_needs_httpx_alone(source: Path) -> None:
    tree = ast.parse(source.read_text(), feature_version=(3, 10))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    outside = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names - {"millrace", "httpx"}
    assert outside <= OF_EXTRAS
    at_once = {
        alias.name.partition(".")[0] for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    }
    assert not at_once & OF_EXTRAS


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_module_imports_what_python_3_10_does_not_have(source: Path) -> None:
    tree = ast.parse(source.read_text())
    imported = {
        (node.module, alias.name) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert not imported & SINCE_3_11
    assert not {"tomllib", "asyncio.TaskGroup", "ExceptionGroup", "except*"} & set(source.read_text().split())


def test_versions_and_licence_agree() -> None:
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    service = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [said] = re.findall(r'^VERSION = "(.+)"$', (CLIENT / "millrace" / "version.py").read_text(), re.MULTILINE)
    assert project["version"] == service["version"] == said == VERSION
    assert project["license"] == service["license"]
    assert [re.split(r"[<>=]", need)[0] for need in project["dependencies"]] == ["httpx"]
