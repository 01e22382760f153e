"""Which tools a build depends on, and the digests that name builds and workloads."""

import hashlib
import json
import shutil
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from db.models import DesignStage


def digest(*parts: Any) -> str:
    """SHA-256 of JSON values, the same in every process."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@cache
def millrace_version() -> str:
    """Version of this installation."""
    try:
        return version("millrace")
    except PackageNotFoundError:
        return "0+checkout"


@cache
def compiler_digest() -> str:
    """Digest of the compiler's own sources: a changed compiler makes other builds, whatever its version says."""
    spec = find_spec("compiler")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    hasher = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.suffix in {".py", ".h", ".hpp", ".toml", ".cpp"}):
        hasher.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()[:16]


@cache
def stage_tools() -> dict[str, str]:
    """Tools that the stages of a design run, with their versions: g++ builds C simulations and the timing simulator."""
    return {**lower_tools(), "g++": _gxx_version()}


def lower_tools() -> dict[str, str]:
    """Tools that import a model, with their versions."""
    return {"millrace": f"{millrace_version()}+{compiler_digest()}"}


def _gxx_version() -> str:
    if shutil.which("g++") is None:
        return "none"
    done = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=False, timeout=10)
    return done.stdout.strip() or "unknown"


def stage_key(stage: DesignStage, design_key: str, workload_digest: str, platform: str) -> str:
    """Key of a stage of one design: equal keys, equal results."""
    return digest(stage, design_key, workload_digest, platform, stage_tools())


def lower_key(workload_digest: str) -> str:
    """Key of the import of one workload."""
    return digest("lower", workload_digest, lower_tools())
