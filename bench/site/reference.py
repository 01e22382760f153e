"""The pages that are made from declarations: command line, REST and Python.

python -m bench.site.reference    # writes docs/command-line.md, docs/rest.md and docs/python.md; a test compares them
"""

from collections.abc import Callable

from bench.site.command_reference import command_reference
from bench.site.kept import DOCS
from bench.site.python_reference import python_reference
from bench.site.rest_reference import rest_reference

PAGES: dict[str, Callable[[], str]] = {
    "command-line": command_reference,
    "rest": rest_reference,
    "python": python_reference,
}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / f"{name}.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
