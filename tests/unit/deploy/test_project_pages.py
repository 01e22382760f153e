"""What a stranger reads first, beside the code: README.md, CITATION.cff, CHANGELOG.md, NOTICE."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from needed import need
from pages import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BIN = Path(sys.executable).parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def tracked() -> list[str]:
    need("git")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_the_first_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_leads_to_what_is_there(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text())
    assert [link for link in links if not is_there(page.parent / link[0] if link[0] else page, link[1])] == []


def is_there(path: Path, anchor: str) -> bool:
    """Whether there is such a file, with a heading of that anchor if one is given."""
    if not anchor or not path.is_file():
        return path.exists()
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return anchor in (re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings)


def test_every_document_is_listed() -> None:
    listed = (ROOT / "docs" / "README.md").read_text()
    names = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert [name for name in names if f"]({name})" not in listed] == []


def test_the_citation_follows_its_format_and_names_this_version() -> None:
    tool = [str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.citation-file-format", "CITATION.cff"]
    done = subprocess.run(tool, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_the_changelog_has_this_version() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert PROJECT["version"] in headings


def test_the_notice_names_what_others_wrote() -> None:
    notice = (ROOT / "NOTICE").read_text()
    vendored = {path.parent.relative_to(ROOT).as_posix() for path in map(ROOT.joinpath, tracked()) if is_licence(path)}
    packages = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    bundled = {name.removeprefix("node_modules/") for name, found in packages.items() if name and not found.get("dev")}
    types_only = {name for name in bundled if name.startswith("@types/")} | {"csstype"}
    assert "tests/third_party/ap_types" in vendored
    assert [name for name in sorted({*vendored, *bundled, "web/dist/assets"} - types_only) if name not in notice] == []


def is_licence(path: Path) -> bool:
    """Whether this is the licence of a folder of others."""
    return re.match(r"(?i)(licen[cs]e|copying|notice)\b", path.name) is not None and path.parent != ROOT


def test_nobody_is_told_to_install_what_belongs_to_others() -> None:
    """The name `millrace` on the package index is not ours."""
    others = re.compile(rf"\b(?:pip|pipx|uv) (?:install|add|tool install) (?:-\S+ )*{'mill' + 'race'}(?![-\w])")
    wrong = [name for name in tracked() if others.search((ROOT / name).read_text(encoding="utf-8", errors="ignore"))]
    assert wrong == []
