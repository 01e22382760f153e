"""A calibration file replaces numbers of the platform, and nothing else."""

from pathlib import Path

import pytest

from compiler.errors import InvalidInputError
from compiler.platforms.platform import load_platform

HEAD = 'platform = "u55c"\nsummary = "calibrated (two reports)"\n'


def written(folder: Path, text: str) -> Path:
    file = folder / "lab.toml"
    file.write_text(text)
    return file


def test_numbers_are_replaced_and_all_others_stay(tmp_path: Path):
    base = load_platform("u55c")
    text = HEAD + "[area.task.bit]\nlut = 0.5\n[power]\nstatic_w = 21.5\n[operators.fdiv]\nlut = 900\n"
    found = load_platform("u55c", written(tmp_path, text))
    assert (found.area.task.bit.lut, found.power.static_w, found.operators["fdiv"].lut) == (0.5, 21.5, 900)
    assert found.area.task.bit.ff == base.area.task.bit.ff
    assert found.operators["fdiv"].latency == base.operators["fdiv"].latency
    assert found.budget == base.budget
    assert found.calibration == "calibrated (two reports)"
    assert load_platform("u55c") == base


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not toml [", "not TOML"),
        ('platform = "u280"\nsummary = "x"\n', "u280"),
        ('platform = "u55c"\n', "summary"),
        (HEAD + "[area.task.bit]\nluts = 1\n", "luts"),
        (HEAD + "[area.task.bit]\nlut = -1\n", "-1"),
        (HEAD + "[area.task.bit]\nlut = nan\n", "nan"),
        (HEAD + "[area.task.bit]\nlut = true\n", "True"),
        (HEAD + "[operators.fadd]\nlatency = 1\n", "latency"),
        (HEAD + "[operators.fdiv]\nguess = false\n", "guess"),
        (HEAD + "area = 3\n", "table"),
        (HEAD + '[area]\ncalibration = "mine"\n', "calibration"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str, says: str):
    with pytest.raises(InvalidInputError, match=says):
        load_platform("u55c", written(tmp_path, text))


def test_tables_that_are_not_the_model_are_left_alone(tmp_path: Path):
    text = HEAD + "[budget]\nlut = 1\n[provenance]\ndate = '2026-11-21'\n"
    assert load_platform("u55c", written(tmp_path, text)).budget.lut > 1


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(InvalidInputError, match="can not be read"):
        load_platform("u55c", tmp_path / "none.toml")
