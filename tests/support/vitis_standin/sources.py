"""What the stand-in needs of the C++: functions, their parameters, their memory ports; and .xo files."""

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_PRAGMA = re.compile(r"#pragma HLS interface mode=m_axi ([^\n]*)", re.IGNORECASE)
_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Function:
    """`arguments` in order, (name, is a pointer); `bundles` name -> m_axi port; `depths` name -> words."""

    name: str
    arguments: tuple[tuple[str, bool], ...]
    bundles: dict[str, str]
    depths: dict[str, int]


def find_function(name: str, files: Iterable[Path]) -> Function | None:
    """The function with a body, None where no file defines it."""
    for file in files:
        text = _COMMENT.sub("", file.read_text())
        match = re.search(rf"\bvoid\s+{re.escape(name)}\s*\(([^)]*)\)\s*\{{(.*?)^\}}", text, re.DOTALL | re.MULTILINE)
        if match:
            return Function(name, tuple(_arguments(match[1])), *_pragmas(match[2]))
    return None


def _arguments(text: str) -> Iterable[tuple[str, bool]]:
    for part in filter(None, (p.strip() for p in re.sub(r"<[^<>]*>", "", text).split(","))):
        yield re.split(r"[\s*&]+", part)[-1], "*" in part


def _pragmas(body: str) -> tuple[dict[str, str], dict[str, int]]:
    options = [dict(re.findall(r"(\w+)=(\S+)", pragma)) for pragma in _PRAGMA.findall(body)]
    bundles = {o["port"]: f"m_axi_{o.get('bundle', 'gmem')}" for o in options}
    return bundles, {o["port"]: int(o["depth"]) for o in options if "depth" in o}


def missing_header(file: Path) -> str | None:
    """A header in quotes that is not beside the source."""
    return next((name for name in _INCLUDE.findall(file.read_text()) if not (file.parent / name).is_file()), None)


def write_xo(file: Path, function: Function) -> None:
    """An archive with the kernel's description, as Vitis packs it."""
    kernel = ElementTree.Element("kernel", name=function.name, language="ip_c", hwControlProtocol="ap_ctrl_chain")
    args = ElementTree.SubElement(kernel, "args")
    for number, (name, pointer) in enumerate(function.arguments):
        port = function.bundles.get(name, "s_axi_control")
        ElementTree.SubElement(args, "arg", name=name, id=str(number), port=port, addressQualifier=str(int(pointer)))
    root = ElementTree.Element("root", versionMajor="1", versionMinor="6")
    root.append(kernel)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xo.xml", f'<xo_spec><xo_kernels><xo_kernel name="{function.name}"/></xo_kernels></xo_spec>')
        archive.writestr(f"{function.name}/kernel.xml", ElementTree.tostring(root, "unicode"))


@dataclass(frozen=True)
class XoKernel:
    """`arguments` name -> port; those of memory in `memories`."""

    name: str
    arguments: dict[str, str]
    memories: frozenset[str]


def read_xo(file: Path) -> XoKernel | None:
    """None for what is no .xo."""
    try:
        with zipfile.ZipFile(file) as archive:
            name = next(n for n in archive.namelist() if n.endswith("/kernel.xml"))
            root = ElementTree.fromstring(archive.read(name))
    except (zipfile.BadZipFile, StopIteration, ElementTree.ParseError):
        return None
    kernel = root.find("kernel")
    assert kernel is not None
    found = list(kernel.iter("arg"))
    memories = frozenset(a.attrib["name"] for a in found if a.attrib["addressQualifier"] == "1")
    return XoKernel(kernel.attrib["name"], {a.attrib["name"]: a.attrib["port"] for a in found}, memories)
