"""Reports of real runs, which lie beside the checkout, and small ones of ours of the same shape, which lie in it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "fixtures" / "vitis"
OURS = ROOT / "tests" / "fixtures" / "vitis"


def vitis_fixture(name: str) -> Path:
    """The real report `name` ("csynth/x.xml"). Skips the test where the folder of real reports is absent."""
    if not REAL.is_dir():
        pytest.skip(f"the real tool reports are not here: {REAL}")
    path = REAL / name
    assert path.is_file(), f"no such fixture: {path}"
    return path


def vitis_fixtures(pattern: str) -> list[Path]:
    """Real reports that match a glob ("csynth/*.xml"), for parametrisation: empty where the folder is absent."""
    return sorted(REAL.glob(pattern))


def synthetic_fixture(name: str) -> Path:
    """A small report written by us, of the same shape as the tools' ("csynth/small.xml")."""
    path = OURS / name
    assert path.is_file(), f"no such fixture: {path}"
    return path
