import json
import sys
from datetime import UTC, datetime

import pytest
from rich.console import Console
from wire_replies import reply

from api.schemas import farm as schemas
from cli.output import emit_json, table, write_log
from millrace.wire import Node


def test_an_id_stays_whole_on_a_narrow_terminal():
    console = Console(width=60)
    row = ("dsg_01m7z14rsxp28kvfzd", "89.4", "742.3", "tile 16 unroll 4096 width 1024 hbm 4", "passed err 7.4e-08")
    with console.capture() as capture:
        console.print(table("", ("design", ">latency us", ">energy uJ", "knobs", "csim"), [row]))
    assert "dsg_01m7z14rsxp28kvfzd" in capture.get()
    assert "\u2026" not in capture.get()


@pytest.mark.parametrize(
    ("terminal", "shown"), [(True, "é\t^[]52;c;cm0=^Gok ?\n"), (False, "é\t\x1b]52;c;cm0=\x07ok \x9b\n")]
)
def test_a_log_does_not_command_a_terminal(
    terminal: bool, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    write_log("é\t\x1b]52;c;cm0=\x07ok \x9b\n")
    assert capsys.readouterr().out == shown


def test_models_in_json_are_as_the_service_sends_them(capsys: pytest.CaptureFixture[str]) -> None:
    node = reply(Node, cpus=4, last_seen=datetime(2026, 7, 1, 1, 2, 3, 40_000, tzinfo=UTC))
    emit_json({"nodes": [node]})
    [printed] = json.loads(capsys.readouterr().out)["nodes"]
    sent = schemas.Node.model_validate(printed).model_dump(mode="json")
    assert printed == sent
    assert printed["last_seen"] == "2026-07-01T01:02:03.040000Z"
