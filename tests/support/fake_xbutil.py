"""XRT's tool in PATH, as strict as the real one: it writes JSON into a new file, resets what it is told to."""

import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

BDF = "0000:3b:00.1"
SHELL = "xilinx_u55c_gen3x16_xdma_base_3"
CARD: dict[str, Any] = {"bdf": BDF, "vbnv": SHELL, "id": "97088961", "instance": "user(inst=128)", "is_ready": "true"}

_TOOL = r"""#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).resolve()
answers = json.loads(here.with_suffix(".json").read_text())
with here.with_suffix(".log").open("a") as log:
    print(json.dumps(sys.argv[1:]), file=log)
known = {{"examine": {{"--device", "--report", "--format", "--output"}}, "reset": {{"--device", "--type", "--force"}}}}
command, *words = sys.argv[1:]
options = {{}}
while words:
    word = words.pop(0)
    if word not in known[command]:
        sys.exit(f"ERROR: unrecognised option '{{word}}'")
    options[word] = "" if word == "--force" else words.pop(0)
if command == "reset":
    if "--force" not in options:
        sys.exit("ERROR: asks a person")
    print(f"Performing 'HOT Reset' on '{{options['--device']}}'")
    print(answers["reset"].format(options["--device"]))
    sys.exit(0)  # whether it worked or not
file = pathlib.Path(options["--output"])
if options["--format"] != "JSON" or file.exists():
    sys.exit(f"ERROR: The output file '{{file}}' already exists")
report = "electrical" if options.get("--report") == "electrical" else "host"
if report == "electrical" and "--device" not in options:
    sys.exit("ERROR: Device not specified")
content = answers[report]
if content is None:
    sys.exit("ERROR: no driver")
file.write_text(content if isinstance(content, str) else json.dumps(content))
print(f"Successfully wrote the JSON file: {{file}}")
"""


def host_report(devices: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What `examine` writes of the machine; an empty list is an empty text, as boost writes it."""
    host = {
        "os": {"sysname": "Linux"},
        "xrt": {"version": "2.16.204", "branch": "2023.2", "drivers": [{"name": "xocl", "version": "2.16.204"}]},
        "devices": list(devices) or "",
    }
    return {"schema_version": {"schema": "JSON"}, "system": {"host": host}}


class FakeXbutil:
    """The tool that `folder` has under `name`; PATH finds nothing else."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str = "xbutil") -> None:
        folder.mkdir(exist_ok=True)
        self._file = folder / name
        self._file.write_text(_TOOL.format(python=sys.executable))
        self._file.chmod(self._file.stat().st_mode | stat.S_IEXEC)
        self._answers: dict[str, Any] = {"reset": "Successfully reset Device[{}]", "electrical": None}
        self.answer(host=host_report([CARD]))
        monkeypatch.setenv("PATH", str(folder) + os.pathsep + "/nowhere")

    def answer(self, **answers: Any) -> None:
        """What a report is: JSON, a text, or None for an error; `reset` is what that prints."""
        self._answers |= answers
        self._file.with_suffix(".json").write_text(json.dumps(self._answers))

    @property
    def calls(self) -> list[list[str]]:
        log = self._file.with_suffix(".log")
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
