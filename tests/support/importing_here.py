"""Networks are converted in the test's own process, which loads torch once: a process each takes four seconds more.

The importer's process itself is what tests/unit/compiler/frontend/test_bundle.py is about.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compiler.frontend.inputs.source import Source
from compiler.options import Workload


@contextmanager
def importing_here() -> Generator[None]:
    """Bundles are made without a process of their own while this lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compiler.frontend.bundle.run_worker", _convert)
        yield


def _convert(
    source: Source, workload: Workload, directory: Path, on_progress: Callable[[str], None] | None = None
) -> None:
    from compiler.frontend.convert import convert

    convert(source, workload, directory, on_progress or (lambda _: None))
