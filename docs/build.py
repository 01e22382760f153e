"""Builds the site in docs/site from the pages of docs/ and those of the root, with Sphinx; says whether it is current.

python docs/build.py            # needs requirements-docs.lock in an environment of its own; 10 s
python docs/build.py --check    # needs nothing; exits 1 where docs/site was not built from these sources

Every text has one home, where people also read it on the repository's page. So the pages are laid out anew before they
are built: links between files become links between pages, with their titles where the text is a file's name; a link to
a file that is no page becomes that name.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SITE = DOCS / "site"
STAMP = SITE / "source.sha256"
LOCK = ROOT / "requirements-docs.lock"

# The pages in the order of the menu; `index` is docs/README.md. Those in capitals lie in the root of the repository.
MENU: dict[str, tuple[str, ...]] = {
    "Learn": ("tutorial", "notebook", "front", "concepts", "knobs", "gallery", "using", "architecture"),
    "Reference": ("command-line", "python", "rest", "errors"),
    "Networks": ("models", "generate"),
    "Run it": ("installing", "running", "limits", "sweeps", "vitis", "board"),
    "What the numbers rest on": ("numbers", "proof", "simulation", "calibration", "measurements"),
    "The project": ("compared", "CONTRIBUTING", "CHANGELOG", "SECURITY"),
}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_DROPPED = (".buildinfo", "objects.inv", "*.map", "*.pyc")


def pages() -> dict[Path, str]:
    """Every page by its file: its name on the site."""
    names = [name for group in MENU.values() for name in group]
    homes = {name: _home(name) for name in names}
    return {DOCS / "README.md": "index", **{home: name for name, home in homes.items()}}


def _home(name: str) -> Path:
    notebook = DOCS / f"{name}.ipynb"
    return notebook if notebook.is_file() else (ROOT if name.isupper() else DOCS) / f"{name}.md"


def sources() -> list[Path]:
    """Everything that the site depends on, in a fixed order."""
    beside = [path for path in DOCS.rglob("*") if path.is_file() and SITE not in path.parents]
    roots = [path for path in pages() if path.parent == ROOT]
    return sorted([*(path for path in beside if "__pycache__" not in path.parts), *roots, LOCK])


def digest() -> str:
    """SHA-256 over the paths and contents of the sources."""
    total = hashlib.sha256()
    for path in sources():
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{content}  {path.relative_to(ROOT).as_posix()}\n".encode())
    return total.hexdigest()


def lay_out(folder: Path) -> None:
    """Write the pages and what they show into `folder`, as Sphinx takes them."""
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("site", "*.md", "*.ipynb", "__pycache__"))
    for home, name in pages().items():
        page = folder / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        text = home.read_text(encoding="utf-8")
        text = as_page(json.loads(text)) if home.suffix == ".ipynb" else text
        page.write_text(_linked(text, home), encoding="utf-8")
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.writelines(_menu())


def as_page(notebook: dict[str, Any]) -> str:
    """An executed notebook as Markdown: its texts, its code, and what each cell has shown."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = _joined(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [shown for output in cell.get("outputs", ()) if (shown := _shown(output))]
    return "\n\n".join(parts) + "\n"


def _shown(output: dict[str, Any]) -> str:
    """The richest form that a page can have; HTML without blank lines, which would end it."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            lines = [line for line in _joined(data[kind]).splitlines() if line.strip()]
            return '<div class="output">\n' + "\n".join(lines) + "\n</div>"
    text = _joined(data.get("text/plain", "")).rstrip()
    return f"```text\n{text}\n```" if text else ""


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _menu() -> Iterator[str]:
    for title, names in MENU.items():
        yield f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(names) + "\n```\n"


def _linked(text: str, home: Path) -> str:
    """The text of a page with its links as the site has them; what stands in fences is left alone."""
    done, parts = 0, []
    for fence in _FENCE.finditer(text):
        parts += [_relinked(text[done : fence.start()], home), fence[0]]
        done = fence.end()
    return "".join([*parts, _relinked(text[done:], home)])


def _relinked(text: str, home: Path) -> str:
    known = pages()
    depth = known[home].count("/")

    def replaced(link: re.Match[str]) -> str:
        image, label, target = link.groups()
        address, hash_, anchor = target.partition("#")
        if not address or ":" in address:
            return link[0]
        file = (home.parent / address).resolve()
        if file in known:
            label = "" if label.strip("`").endswith((".md", ".ipynb")) else label  # the title of the page
            return f"{image}[{label}]({'../' * depth}{known[file]}.md{hash_}{anchor})"
        if DOCS in file.parents and file.is_file():
            return f"{image}[{label}]({'../' * depth}{file.relative_to(DOCS).as_posix()})"
        name = f"`{file.relative_to(ROOT).as_posix()}`"
        return label if label.startswith("`") else name if label == address else f"{label} ({name})"

    return _LINK.sub(replaced, text)


def build(out: Path) -> None:
    """Build the site into the empty folder `out`. The same sources give the same bytes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "pages"
        lay_out(folder)
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
        fixed = {"SOURCE_DATE_EPOCH": "0", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
        subprocess.run(
            [*command, "-d", str(Path(scratch) / "trees"), str(folder), str(out)],
            env={**os.environ, **fixed},
            check=True,
        )
    for pattern in _DROPPED:
        for path in out.rglob(pattern):
            path.unlink()


def main(arguments: list[str]) -> int:
    """`--check`, or nothing to build."""
    if arguments == ["--check"]:
        if STAMP.is_file() and STAMP.read_text().strip() == digest():
            return 0
        print("docs/site was not built from these sources; run docs/build.py (CONTRIBUTING.md says how) and commit it")
        return 1
    shutil.rmtree(SITE, ignore_errors=True)
    build(SITE)
    STAMP.write_text(digest() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
