"""The picture of the first page is small, plays for 20 seconds and has the numbers of the gallery."""

import re

from bench.site.first_page import entry
from bench.site.kept import PICTURES
from bench.site.svg import Drawing
from bench.site.timeline import SECONDS, Timeline
from millrace.numbers import number

PICTURE = (PICTURES / "first-page.svg").read_text(encoding="utf-8")
MAX_BYTES = 2_000_000


def test_it_is_small_and_asks_for_nothing() -> None:
    assert len(PICTURE.encode()) < MAX_BYTES
    assert re.findall(r"<script|<image|href=|url\(|@import|@font-face", PICTURE) == []


def test_it_plays_for_20_seconds() -> None:
    played = {int(seconds) for seconds in re.findall(r"animation: at\d+ (\d+)s infinite", PICTURE)}
    assert played == {SECONDS} == {20}
    assert Timeline(Drawing("")).style().strip() in PICTURE, "it stands still for those who ask"


def test_its_numbers_are_those_of_the_gallery() -> None:
    best, how = entry()["designs"][0], entry()["search"]
    run = best["simulate"]
    assert f"A search: {how['budget']} designs<" in PICTURE
    assert f">fastest: {number(best['estimate']['latency'])} us<" in PICTURE
    assert f">Simulated: {run['cycles']:,} cycles, {number(run['latency'])} us a layer and token<" in PICTURE


def test_parts_appear_in_their_turn() -> None:
    drawing = Drawing("two parts")
    timeline = Timeline(drawing)
    for part in timeline.one_by_one(("a", "b"), 1.0, 3.0):
        drawing.text(0, 0, part)
    svg = drawing.svg(1, 1, timeline.style())
    assert '<g class="at10">\n<text x="0" y="0" text-anchor="start">a</text>\n</g>\n<g class="at20">' in svg
    assert "@keyframes at20 { 0%, 10% { opacity: 0 } 11.5%, 98% { opacity: 1 } 100% { opacity: 0 } }" in svg
