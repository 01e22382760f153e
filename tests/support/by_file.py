"""How pytest-xdist shares out the tests: a file at a time, the longest first, so that none is left alone at the end.

What the tests of a module share (a server, a browser) is started once then. A file whose tests share nothing, or only
what a parameter chooses, is given out in parts.

End-to-end tests wait for processes and clocks more than they compute. Every other worker takes those first, and the
rest of them the others: were all of them waiting at once, the cores would idle, and later there would be too few.
"""

import re
from collections.abc import Collection
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# Those that take longest, in order; after them end-to-end tests, and what is marked slow.
LONGEST = (
    "e2e/test_ladder.py",
    "e2e/test_farm.py",
    "e2e/test_join.py",
    "e2e/test_readme.py",
    "e2e/test_backup.py",
    "e2e/test_chaos.py",
    "e2e/test_sweeps.py",
    "e2e/test_service.py",
    "unit/compiler/frontend/test_convert_families.py",
    "unit/compiler/test_generation.py",
    "e2e/test_hostile_models.py",
    "e2e/test_whole_way.py",
    "e2e/test_notebook.py",
)
WAITING = ("tests/e2e/", "tests/browser/")
_EACH = r"::(\w+)"
# What of the rest of a test's name makes a part.
PARTS = {
    "e2e/test_farm.py": r"\[(sqlite|postgres)",
    "e2e/test_join.py": _EACH,
    "e2e/test_sweeps.py": _EACH,
    "property/compiler/test_timing_core.py": _EACH,
    "unit/compiler/targets/test_padding.py": _EACH,
    "unit/compiler/test_generation.py": r"\b(gpt2|gemma3)\b",
}


class ByFile(LoadFileScheduling):
    """`--dist loadfile`, with the files of `PARTS` in parts, and workers that prefer tests that wait."""

    def _split_scope(self, nodeid: str) -> str:
        return part_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        waits = self.nodes.index(node) % 2 == 0
        self.workqueue.move_to_end(next_of(self.workqueue, waits), last=False)
        super()._assign_work_unit(node)


def next_of(parts: Collection[str], waits: bool) -> str:
    """The first part whose tests wait, or do not; the first of all where there is none."""
    return next((part for part in parts if part.startswith(WAITING) == waits), next(iter(parts)))


def part_of(nodeid: str) -> str:
    """The name of what is given to one worker as a whole, and holds this test."""
    file = nodeid.partition("::")[0]
    pattern = PARTS.get(file.removeprefix("tests/"))
    found = pattern and re.search(pattern, nodeid)
    return f"{file}::{found[1]}" if found else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile | None:
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # which puts files of few tests last, and those are the longest
    return ByFile(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    name = item.nodeid.partition("::")[0].removeprefix("tests/")
    if name in LONGEST:
        return LONGEST.index(name)
    marks = [mark.name for mark in item.iter_markers()]
    order = ("e2e", "slow", "browser")
    return len(LONGEST) + min((order.index(mark) for mark in marks if mark in order), default=len(order))


def missing(tests: Path) -> set[str]:
    """Files that are named here and are no longer there."""
    return {name for name in (*LONGEST, *PARTS) if not (tests / name).is_file()}
