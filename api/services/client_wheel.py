"""The wheel of the Python client that matches this service, packed from the checkout: equal sources, equal bytes."""

import base64
import hashlib
import io
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
SOURCES = _ROOT / "client"
_TAG = "py3-none-any"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first time that a zip file can say
_MODE = 0o100644 << 16


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel: its file name, and its bytes with their SHA-256."""

    name: str
    content: bytes
    digest: str


@cache
def client_wheel() -> Wheel:
    """Packed once a process."""
    project: dict[str, Any] = tomllib.loads((SOURCES / "pyproject.toml").read_text())["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    content = _packed(dict(_files(project, f"{stem}.dist-info")), f"{stem}.dist-info/RECORD")
    return Wheel(f"{stem}-{_TAG}.whl", content, hashlib.sha256(content).hexdigest())


def _files(project: dict[str, Any], folder: str) -> Iterator[tuple[str, bytes]]:
    """What lies in the wheel, but for the record of it all."""
    package = SOURCES / "millrace"
    for path in sorted([*package.glob("*.py"), package / "py.typed"]):
        yield f"millrace/{path.name}", path.read_bytes()
    yield f"{folder}/METADATA", _metadata(project).encode()
    yield f"{folder}/WHEEL", f"Wheel-Version: 1.0\nGenerator: millrace\nRoot-Is-Purelib: true\nTag: {_TAG}\n".encode()
    yield f"{folder}/licenses/LICENSE", (_ROOT / "LICENSE").read_bytes()


def _metadata(project: dict[str, Any]) -> str:
    """As the core metadata specification has it, version 2.4."""
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", project["name"]),
        ("Version", project["version"]),
        ("Summary", project["description"]),
        ("License-Expression", project["license"]),
        ("License-File", "LICENSE"),
        ("Requires-Python", project["requires-python"]),
        ("Description-Content-Type", "text/markdown"),
        *(("Requires-Dist", need) for need in project["dependencies"]),
    ]
    for extra, needs in project["optional-dependencies"].items():
        fields += [("Provides-Extra", extra), *(("Requires-Dist", f"{need}; extra == '{extra}'") for need in needs)]
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    return f"{head}\n{(SOURCES / project['readme']).read_text()}"


def _packed(files: dict[str, bytes], record: str) -> bytes:
    lines = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items()]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in {**files, record: "".join([*lines, f"{record},,\n"]).encode()}.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, _MODE, 3
            archive.writestr(entry, content)
    return out.getvalue()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
