"""Networks are converted in the test's own process, which loads torch once: a process each takes four seconds more.

The importer's process itself is what tests/unit/compiler/frontend/test_bundle.py is about.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.process import Importer
from compiler.frontend.worker import fill
from compiler.options import Workload


@contextmanager
def importing_here() -> Generator[None]:
    """Bundles and networks are made without a process of their own while this lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Importer, "run", _run)
        yield


def _run(
    importer: Importer,
    job: Workload | NetworkRequest,
    directory: Path,
    on_progress: Callable[[str], None] | None = None,
) -> None:
    fill(directory, job, importer.source, on_progress or (lambda _: None))
