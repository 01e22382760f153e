import pytest

from compiler.errors import ReportError
from compiler.toolchain import xml_text
from compiler.toolchain.source import Source
from compiler.toolchain.xml_text import xml_root


def test_a_tree() -> None:
    root = xml_root(Source("a.xml", '<?xml version="1.0" encoding="UTF-16"?><a><b x="1">t</b></a>'))
    assert root.findtext("b") == "t"


def test_a_document_type_is_refused() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;">]><a>&y;</a>'
    with pytest.raises(ReportError, match="without a document type"):
        xml_root(Source("a.xml", bomb))


def test_broken_xml_names_the_line() -> None:
    with pytest.raises(ReportError, match="breaks at line 2"):
        xml_root(Source("a.xml", "<a>\n<b></a>"))


def test_more_than_a_report_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_text, "MOST_ELEMENTS", 100)
    with pytest.raises(ReportError, match=r"a\.xml is not a report"):
        xml_root(Source("a.xml", "<a>" + "<b/>" * 100 + "</a>"))
    with pytest.raises(ReportError, match=r"a\.xml is not a report"):
        xml_root(Source("a.xml", "<a>" * 300 + "</a>" * 300))
