"""What is read back from a design directory."""

from pathlib import Path

import pytest

from compiler.design_dir import digests, stored_tasks
from compiler.errors import InvalidInputError
from compiler.platforms.platform import load_platform


@pytest.mark.parametrize("content", ["builtin.module {", "nothing", '"a.b"() : () -> ()'])
def test_a_damaged_stage_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "ir").mkdir()
    (tmp_path / "ir" / "07-lower.mlir").write_text(content)
    with pytest.raises(InvalidInputError, match=r"07-lower\.mlir is damaged"):
        stored_tasks(tmp_path, load_platform("u55c"))


def test_what_a_run_writes_is_no_part_of_the_design(tmp_path: Path) -> None:
    for name in ("simulation.json", "dataflow.json"):
        (tmp_path / name).write_text("{}")
    assert list(digests(tmp_path)) == ["dataflow.json"]
