"""Pages and files that are made from declarations and programs are what these make."""

import re

import pytest
from pages import ROOT

from api.services.client_wheel import client_wheel
from bench.site import mlp
from bench.site.gallery import ENTRIES
from bench.site.kept import kept
from bench.site.python_reference import python_reference
from bench.site.reference import PAGES
from millrace import Client


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_is_what_the_declarations_say(name: str) -> None:
    kept_page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert PAGES[name]() == kept_page, "run `python -m bench.site.reference`, then docs/build.py"


def test_the_python_reference_has_every_public_method_and_links_that_lead_somewhere() -> None:
    page = python_reference()
    methods = [name for name in vars(Client) if not name.startswith("_")]
    assert len(methods) > 40
    assert [name for name in methods if f"### `Client.{name}`\n" not in page] == []
    rest = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8").lower()
    anchors = set(re.findall(r"rest\.md#(\w+)", page))
    assert [name for name in anchors if f"### {name}\n" not in rest] == []
    assert page.index(f"/client/{client_wheel().name}") < page.index("MILLRACE_SERVER") < page.index("## ")


def test_the_network_of_the_tutorial_is_made_again_equal() -> None:
    assert mlp.network() == mlp.FILE.read_bytes()


def test_the_gallery_has_every_entry() -> None:
    entries = kept("gallery")["entries"]
    assert [entry["name"] for entry in entries] == [entry.name for entry in ENTRIES]
    assert [entry["search"]["budget"] for entry in entries] == [entry.budget for entry in ENTRIES]


def test_the_gallery_tells_how_to_get_each() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    sections = page.split("\n## ")[1:]
    for entry, section in zip(ENTRIES, sections, strict=True):
        assert section.startswith(entry.title), section
        assert f"--budget {entry.budget}" in section
        assert f"pictures/front-{entry.name}.svg" in section


def test_the_headline_is_of_the_gallery() -> None:
    """What both data files say of a design is the same."""
    from bench.site.headline import LAYERS

    ours = kept("headline")["ours"]
    [entry] = [entry for entry in kept("gallery")["entries"] if entry["name"] == "gpt2-medium-decode"]
    fastest = min(design["simulate"]["latency"] for design in entry["designs"])
    assert ours["tokens_per_s"]["value"] == round(1e6 / (LAYERS * fastest))


@pytest.mark.slow
def test_the_numbers_follow_the_code() -> None:
    """The estimate of one design of the gallery, of the network that also the pictures are of."""
    from bench.site.first_page import ENTRY, fastest
    from bench.site.networks import block_graph, board
    from dse.evaluate import evaluate

    [entry] = [entry for entry in kept("gallery")["entries"] if entry["name"] == ENTRY]
    found = {metric.name: metric.value for metric in evaluate(block_graph(), fastest(), board()).metrics}
    kept_ones = entry["designs"][0]["estimate"]
    now = {name: float(f"{found[name]:.5g}") for name in kept_ones}
    assert now == kept_ones, "run `python -m bench.site.gallery`, then the rest of CONTRIBUTING.md, Documentation"
