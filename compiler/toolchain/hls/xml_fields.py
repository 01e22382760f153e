"""Values in the XML of C synthesis, each by its path, with errors that name file and path."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from compiler.toolchain.hls.csynth import Span
from compiler.toolchain.hls.csynth_rows import Area
from compiler.toolchain.numbers import UNKNOWN, damaged, integer, number
from compiler.toolchain.source import Source


@dataclass(frozen=True, slots=True)
class Fields:
    """Reads values below an element of `source`."""

    source: Source

    def text(self, element: Element, path: str) -> str:
        """Required text. Raises ReportError where it is missing or empty."""
        found = (element.findtext(path) or "").strip()
        if not found:
            raise self.source.truncated(f"<{path}> is missing")
        return found

    def integer(self, element: Element, path: str) -> int | None:
        return integer(self.source, element.findtext(path) or "", f"<{path}>")

    def number(self, element: Element, path: str) -> float | None:
        return number(self.source, element.findtext(path) or "", f"<{path}>")

    def span(self, element: Element, path: str) -> Span:
        """`12`, `3 ~ 12`, a <range>, or not known."""
        found = element.find(path)
        if found is None:
            return Span()
        if found.find("range") is not None:
            return Span(self.integer(found, "range/min"), self.integer(found, "range/max"))
        return span(self.source, found.text or "", f"<{path}>")

    def area(self, element: Element, path: str) -> Area:
        """Area under `path`, which must be there with all its parts; `DSP48E` is what 2019.2 calls a DSP."""
        found = element.find(path)
        if found is None:
            raise self.source.truncated(f"<{path}> is missing")
        dsp = "DSP" if found.find("DSP") is not None else "DSP48E"
        return Area(*(self._count(found, name) for name in ("BRAM_18K", dsp, "FF", "LUT", "URAM")))

    def _count(self, element: Element, name: str) -> int:
        count = self.integer(element, name)
        if count is None:
            raise self.source.truncated(f"<{element.tag}> has no <{name}>")
        return count


def span(source: Source, text: str, what: str) -> Span:
    """`12`, `3 ~ 12`, or not known (`inf` too: a loop without end has no tripcount)."""
    text = text.strip()
    if text in UNKNOWN or text == "inf":
        return Span()
    low, _, high = text.partition("~")
    best = integer(source, low, what)
    worst = integer(source, high, what) if high else best
    if best is None or worst is None or best > worst:
        raise damaged(source, text, what, "a number of cycles")
    return Span(best, worst)
