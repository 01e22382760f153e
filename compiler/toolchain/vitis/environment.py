"""The environment that the tools run in: the caller's, without its secrets, with the tools on the path."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

MARK = "MILLRACE_RUN"  # names a run in the environment of its processes, however far they fork
STEPS, KERNELS = "MILLRACE_STEPS", "MILLRACE_KERNELS"  # read by run_hls.tcl

# Python's own settings break the tools' Python; the rest is none of their business. Licence variables end in _FILE.
_DROPPED = re.compile(
    r"PYTHON|VIRTUAL_ENV|CONDA|AWS_|.*(SECRET|PASSWORD|PASSWD|TOKEN|CREDENTIAL|API_KEY|DATABASE|BROKER)|.*_(KEY|URL|DSN)$"
)


def tool_environment(
    caller: Mapping[str, str], folders: Sequence[Path], settings: Mapping[str, str], mark: str
) -> dict[str, str]:
    """`folders` come first on the path; `settings` win; messages are in English, for they are read."""
    kept = {name: value for name, value in caller.items() if not _DROPPED.match(name)}
    path = os.pathsep.join([*map(str, folders), kept.get("PATH", os.defpath)])
    return kept | {"LC_ALL": "C", **settings, "PATH": path, MARK: mark}
