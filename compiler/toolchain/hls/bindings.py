"""FIFOs, memories and operators of a whole design's csynth.xml: its <BindNode>s and <FIFOInformation>.

A per-module report, and versions before 2022.1, have none.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from compiler.toolchain.hls.csynth_rows import Area, FifoRow, MemoryRow, OperatorRow
from compiler.toolchain.hls.xml_fields import Fields
from compiler.toolchain.numbers import integer


def fifos(fields: Fields, root: Element) -> tuple[FifoRow, ...]:
    """FIFOs with a width come from the bindings, the rest from <FIFOInformation>, which gives a name and a depth."""
    bound = tuple(
        FifoRow(
            name=node.get("RTLNAME", ""),
            module=module,
            depth=size[1],
            width=size[0],
            area=_area(fields, node),
            implementation=node.get("IMPL", ""),
            kind=node.get("STORAGESUBTYPE", ""),
        )
        for module, node, size in _storage(fields, root)
        if node.get("OPTYPE") == "fifo"
    )
    known = {fifo.name for fifo in bound}
    listed = root.findall("FIFOInformation/FIFOInst")
    others = (FifoRow(fields.text(e, "Name"), "", fields.integer(e, "StaticDepth")) for e in listed)
    return (*bound, *(fifo for fifo in others if fifo.name not in known))


def memories(fields: Fields, root: Element) -> tuple[MemoryRow, ...]:
    return tuple(
        MemoryRow(
            name=node.get("RTLNAME", ""),
            module=module,
            kind=node.get("OPTYPE", ""),
            width=size[0],
            words=size[1],
            banks=size[2],
            area=_area(fields, node),
            implementation=node.get("IMPL", ""),
        )
        for module, node, size in _storage(fields, root)
        if node.get("OPTYPE", "").startswith(("ram", "rom"))
    )


def operators(fields: Fields, root: Element) -> tuple[OperatorRow, ...]:
    return tuple(
        OperatorRow(
            name=node.get("RTLNAME", ""),
            module=module,
            operation=node.get("OPTYPE", ""),
            implementation=node.get("IMPL", ""),
            latency=_attribute(fields, node, "LATENCY"),
            dsp=_attribute(fields, node, "DSP"),
        )
        for module, node in _nodes(root)
        if node.get("BINDTYPE") == "op"
    )


Size = tuple[int | None, int | None, int | None]  # width, words, banks


def _storage(fields: Fields, root: Element) -> Iterator[tuple[str, Element, Size]]:
    for module, node in _nodes(root):
        if node.get("BINDTYPE") != "storage":
            continue
        parts = [integer(fields.source, part, "STORAGESIZE") for part in node.get("STORAGESIZE", "").split()]
        yield module, node, (parts[0], parts[1], parts[2]) if len(parts) == 3 else (None, None, None)


def _nodes(root: Element) -> Iterator[tuple[str, Element]]:
    for module in root.findall("ModuleInformation/Module"):
        for node in module.findall("BindNodes/BindNode"):
            yield module.findtext("Name", "").strip(), node


def _area(fields: Fields, node: Element) -> Area:
    return Area(bram18=_attribute(fields, node, "BRAM"), uram=_attribute(fields, node, "URAM"))


def _attribute(fields: Fields, node: Element, name: str) -> int | None:
    return integer(fields.source, node.get(name, ""), name)
