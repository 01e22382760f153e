"""Installs the stand-in for Vitis: a folder that looks like AMD's installer left it, and how tests talk to it.

    root = install(tmp_path / "Xilinx", "2023.2")
    control(root, FAIL="link:placement")            # or the environment: MILLRACE_STANDIN_FAIL=link:placement
    find_installations(roots=[root])                # or MILLRACE_VITIS_ROOTS=<root> in the environment

Settings are MILLRACE_STANDIN_<NAME> in the environment, which wins, or <NAME> given to `control`:

    FAIL      `kind`, `stage:kind`, `kind@N` (the first N calls only), several with commas; kinds are in faults.py
    SECONDS   how long each call takes, `stage:seconds` for one stage; 0 by default
    REPORTS   `design`: csynth.xml fits dataflow.json (default where there is one); `real`: reports of real runs
    CALLS     a file to which every call is appended as a line of JSON
    RUNNING   a folder that holds a file for each running call, named by its PID
    MEMORY_MB what the fault `memory` takes in the end; 2048 by default
"""

import json
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

U55C = "xilinx_u55c_gen3x16_xdma_3_202210_1"
SETTINGS_FILE = "standin.json"
_SUPPORT = Path(__file__).parents[1]

_WRAPPER = """#!{python} -IS
import sys
sys.path.insert(0, {support!r})
from vitis_standin.main import main
sys.exit(main({tool!r}, {version!r}, {root!r}))
"""


def install(folder: Path, version: str, platforms: Iterable[str] = (U55C,)) -> Path:
    """Puts version `version` and the platforms into `folder`, and returns it. Call it again for another version."""
    number = tuple(map(int, version.split(".")))
    if number >= (2025, 1):
        home, vivado = folder / version / "Vitis", folder / version / "Vivado"
    else:
        home, vivado = folder / "Vitis" / version, folder / "Vivado" / version
    _program(folder, home, "v++", version)
    _program(folder, vivado, "vivado", version)
    if number >= (2023, 2):
        _program(folder, home, "vitis-run", version)
    if number <= (2024, 1):
        _program(folder, folder / "Vitis_HLS" / version, "vitis_hls", version)
    for name in platforms:
        place = folder / "platforms" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.xpfm").write_text(f'<sdx:platform sdx:name="{name}"/>\n')
    return folder


def control(root: Path, **settings: object) -> None:
    """Set settings for all calls from now on, without the environment; None takes one away."""
    file = root / SETTINGS_FILE
    known = json.loads(file.read_text()) if file.exists() else {}
    known = {name: value for name, value in {**known, **settings}.items() if value is not None}
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(known))
    new.replace(file)


def calls(file: Path) -> list[dict[str, object]]:
    """What MILLRACE_STANDIN_CALLS recorded: tool, version, argv, cwd, environment, stage, pid."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def running(folder: Path) -> int:
    """How many calls run now, by MILLRACE_STANDIN_RUNNING; a killed one does not count."""
    return sum(Path("/proc", entry.name).is_dir() for entry in folder.iterdir() if entry.name.isdigit())


def _program(root: Path, home: Path, tool: str, version: str) -> None:
    file = home / "bin" / tool
    file.parent.mkdir(parents=True, exist_ok=True)
    text = _WRAPPER.format(python=sys.executable, support=str(_SUPPORT), tool=tool, version=version, root=str(root))
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
