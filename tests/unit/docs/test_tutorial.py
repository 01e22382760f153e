"""The tutorial's numbers are those that its commands print."""

import re
import shlex
from pathlib import Path

import pytest
from pages import ROOT
from typer.testing import CliRunner

from cli.main import app

_STEP = re.compile(r"^\./millrace (compile docs/\S+ .*--out (\w)|simulate (\w)  +# ([\d.]+) us.*)$", re.MULTILINE)


@pytest.mark.slow
def test_designs_take_as_long_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    found: dict[str, float] = {}
    for command, made, simulated, said in _STEP.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")):
        done = CliRunner().invoke(app, shlex.split(command, comments=True))
        assert done.exit_code == 0, done.output
        if simulated:
            assert f"simulated {said}" in done.output
            found[simulated] = float(said)
        else:
            assert f"written to {made}" in done.output
    assert list(found) == ["e", "f", "g"]
    assert sorted(found.values(), reverse=True) == list(found.values())  # each is quicker than the one before
