"""Which tools the stages depend on, and the digests that name builds and workloads."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from compiler.metrics import VERSION
from db.models import Stage

_SOURCES = {".py", ".h", ".hpp", ".toml", ".cpp"}
# Parts of the compiler that read results instead of making designs: a better parser must not cost a day of synthesis.
READERS = ("calibration", "measurement", "toolchain")
_COMPARING = ("comparison",)  # of the search's sources, what reads the results of two runs


def digest(*parts: Any) -> str:
    """SHA-256 of JSON values, the same in every process."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def millrace_version() -> str:
    """Version of this checkout."""
    return VERSION


@cache
def compiler_digest() -> str:
    """Digest of the sources that make designs: a changed compiler makes other builds, whatever its version says."""
    return sources_digest("compiler", READERS)


def tools_of(stage: Stage, options: Mapping[str, Any], announced: Mapping[str, str] | None = None) -> dict[str, str]:
    """Tools that the stage depends on, with their versions. `announced` is what a node that does the stage said of
    itself: this process may run where there is no g++. Vitis is as the options choose it.
    """
    if stage == "lower":
        return {"millrace": _millrace(compiler_digest())}
    if stage == "search":
        search = {"search": sources_digest("dse", _COMPARING), "optuna": version("optuna")}
        return {"millrace": _millrace(compiler_digest()), **search}
    if stage in ("simulate", "csim"):
        return {"millrace": _millrace(compiler_digest()), "g++": (announced or {}).get("g++") or gxx_version()}
    if stage in ("csynth", "cosim", "link"):
        return {"vitis": options["vitis"]}
    part = "measurement" if stage == "measure" else "calibration"
    return {"millrace": _millrace(sources_digest(f"compiler.{part}"))}


def _millrace(sources: str) -> str:
    return f"{millrace_version()}+{sources}"


@cache
def gxx_version() -> str:
    """Of the g++ on this process's PATH, "none" without one: it builds C simulations and the timing simulator."""
    if shutil.which("g++") is None:
        return "none"
    done = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=False, timeout=10)
    return done.stdout.strip() or "unknown"


@cache
def sources_digest(package: str, without: tuple[str, ...] = ()) -> str:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return "none"
    root = Path(spec.origin).parent
    hasher = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.suffix in _SOURCES):
        relative = path.relative_to(root)
        if relative.parts[0] not in without:
            hasher.update(relative.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()[:16]


def key_of(stage: Stage, subject: str, options: Mapping[str, Any], tools: Mapping[str, str]) -> str:
    """Key of a build: equal keys, equal results. `subject` is the key of the build that it waits for, else the digest
    of what it is of; so the keys of a ladder are chained.
    """
    return digest(stage, subject, dict(options), dict(tools))
