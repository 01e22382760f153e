"""XML of the tools, parsed with bounds: no document type (hence no entities), no more elements than a report has."""

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from compiler.toolchain.source import Source

MOST_ELEMENTS = 1_000_000
DEEPEST = 200


class TooLargeError(Exception):
    """More elements, or nested deeper, than any report."""


class _Bounded(ElementTree.TreeBuilder):
    """Builds the tree until it is larger than a report can be."""

    def __init__(self) -> None:
        super().__init__()
        self._elements = self._depth = 0

    def start(self, tag: str, attrs: dict[Any, Any], /) -> Element:
        self._elements += 1
        self._depth += 1
        if self._elements > MOST_ELEMENTS or self._depth > DEEPEST:
            raise TooLargeError
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def xml_root(source: Source) -> Element:
    """Root element. Raises ReportError for what is not well-formed, declares a document type, or is too large."""
    if "<!DOCTYPE" in source.text or "<!ENTITY" in source.text:
        raise source.foreign("a report", "the XML file as the tool wrote it, without a document type")
    try:
        return ElementTree.fromstring(source.text, ElementTree.XMLParser(target=_Bounded()))
    except ElementTree.ParseError as error:
        raise source.truncated(f"the XML ends or breaks at line {error.position[0]}") from None
    except (TooLargeError, ValueError):
        raise source.foreign("a report", "the XML file as the tool wrote it") from None
