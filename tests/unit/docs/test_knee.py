"""The knee has one definition, that of `dse.archive`, wherever people are told it."""

import re

import pytest
from pages import ROOT
from wire_replies import reply

from api.schemas.explorations import Pick
from cli.front import picks_table
from cli.report import _RULE
from dse.archive import KNEE
from millrace import wire


def caption() -> str:
    return str(picks_table([reply(wire.Pick, kind="knee")], []).caption)


PLACES = {
    "API": str(Pick.__doc__),
    "command line": caption(),
    "report": _RULE,
    "dashboard": (ROOT / "web" / "src" / "features" / "pareto" / "QuickPicks.tsx").read_text(encoding="utf-8"),
    "docs/front.md": (ROOT / "docs" / "front.md").read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_knee_is_defined_in_the_same_words(place: str) -> None:
    words = " ".join(re.sub(r'" \+\n *"', "", PLACES[place]).split())
    assert KNEE in words
