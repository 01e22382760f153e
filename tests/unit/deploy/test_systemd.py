"""The units for a workstation and for a node."""

import configparser
import subprocess
from pathlib import Path

import pytest
from deploy_files import DEPLOY
from needed import need
from typer.testing import CliRunner

from cli.main import app

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
NOT_INSTALLED_HERE = "/opt/millrace/millrace is not executable"


class _CaseKept(configparser.ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def read(path: Path) -> configparser.ConfigParser:
    parser = _CaseKept(strict=False, interpolation=None)
    parser.read(path)
    return parser


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_understands_it(path: Path) -> None:
    need("systemd-analyze")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stderr.splitlines() if path.name in line and NOT_INSTALLED_HERE not in line]
    assert lines == []


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_it_starts_a_command_that_exists(path: Path) -> None:
    service = read(path)["Service"]
    program, *arguments = service["ExecStart"].split()
    assert program == "/opt/millrace/millrace"
    words = [word for word in arguments if not word.startswith(("-", "/"))]
    done = CliRunner().invoke(app, [*words, "--help"], terminal_width=200)
    assert done.exit_code == 0, done.output
    assert all(word in done.output for word in arguments if word.startswith("--"))


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_it_has_time_to_stop_and_starts_again(path: Path) -> None:
    service = read(path)["Service"]
    assert service["Restart"] == "always"
    assert service["KillMode"] == "mixed"
    assert int(service["TimeoutStopSec"]) >= 30


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_it_is_confined_but_not_from_what_vitis_needs(path: Path) -> None:
    service = read(path)["Service"]
    for option in ("NoNewPrivileges", "PrivateTmp", "ProtectKernelTunables", "RestrictSUIDSGID"):
        assert service[option] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert not {"MemoryDenyWriteExecute", "PrivateDevices", "PrivateNetwork"} & set(service)
    assert f"/var/lib/{service['StateDirectory']}" == service["Environment"].partition("=")[2]
