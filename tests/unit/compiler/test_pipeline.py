"""Where a design may be written."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compiler.errors import InvalidInputError
from compiler.options import Knobs
from compiler.pipeline import compile_design
from compiler.platforms.platform import load_platform

BUNDLE: Any = SimpleNamespace()  # not looked at where the directory is refused


def test_a_directory_that_can_not_be_made_or_is_in_use_is_refused(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("mine")
    for out, message in [(file / "design", "can not be made"), (file, "is not empty"), (tmp_path, "is not empty")]:
        with pytest.raises(InvalidInputError, match=message):
            compile_design(BUNDLE, Knobs(), load_platform("u55c"), out)
    assert file.read_text() == "mine"
