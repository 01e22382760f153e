"""The dashboard's main path, walked as a person does; it works against the stand-in and against the real service."""

import json
import re
from pathlib import Path
from typing import TypedDict

from playwright.sync_api import Download, Locator, Page, expect

POINT_SIZE = 14  # pixels, with the ring of a C simulation
LEVELS = ("Tiling", "Fusion", "Resources")


class FrontPixel(TypedDict):
    """Where the plot draws a design of the front, in pixels from its top left corner."""

    id: str
    x: int
    y: int


def chart(page: Page) -> Locator:
    return page.get_by_test_id("pareto-chart")


def front_pixels(page: Page) -> list[FrontPixel]:
    """The front as it is drawn now."""
    return json.loads(chart(page).get_attribute("data-front") or "[]")


def click_front_point(page: Page, design_id: str) -> None:
    """Click the point of `design_id` in the plot itself."""
    chart(page).scroll_into_view_if_needed()
    point = next(p for p in front_pixels(page) if p["id"] == design_id)
    chart(page).click(position={"x": point["x"], "y": point["y"]})


def free_point(page: Page) -> str:
    """The fastest design of the front whose point in the plot no other one covers."""
    front = front_pixels(page)

    def is_free(point: FrontPixel) -> bool:
        near = [p for p in front if max(abs(p["x"] - point["x"]), abs(p["y"] - point["y"])) < POINT_SIZE]
        return near == [point]

    return next((p["id"] for p in front if is_free(p)), front[0]["id"])


def evaluated(page: Page) -> int:
    return int(page.get_by_test_id("evaluated").inner_text().replace(",", ""))


def wait_for_front(page: Page, timeout_s: float = 60) -> None:
    """Wait until the plot draws a front."""
    expect(chart(page)).to_have_attribute("data-front", re.compile("id"), timeout=timeout_s * 1000)


def open_exploration(page: Page, base_url: str, exploration_id: str) -> None:
    """From the list to the exploration."""
    page.goto(base_url)
    row = page.locator(f"[data-exploration='{exploration_id}']")
    expect(row).to_contain_text("/")
    row.get_by_role("link").click()
    expect(page).to_have_url(f"{base_url}/explorations/{exploration_id}")


def check_design(page: Page, timeout_s: float) -> None:
    """The open design shows its knobs by level, numbers with their fidelity, and a verdict (asked for if need be)."""
    panel = page.get_by_test_id("design-panel")
    for level in LEVELS:
        expect(panel.get_by_test_id("knobs").get_by_role("heading", name=level, exact=True)).to_be_visible()
    metrics = panel.get_by_test_id("metrics")
    expect(metrics.get_by_text("estimate").first).to_be_visible()
    expect(metrics.get_by_role("meter", name="DSP, share of the budget")).to_be_visible()
    verdict = panel.get_by_test_id("verdict")
    start = verdict.get_by_role("button", name="Run C simulation")
    expect(verdict.locator(".badge").or_(start).first).to_be_visible()
    if start.is_visible():
        start.click()
    expect(verdict.get_by_text("✓ passed")).to_be_visible(timeout=timeout_s * 1000)


def download_files(page: Page, folder: Path) -> tuple[Path, Path]:
    """Download design.json and the archive of the open design."""
    files = page.get_by_test_id("files")
    with page.expect_download() as one:
        files.get_by_role("link", name="design.json", exact=True).click()
    with page.expect_download() as archive:
        files.get_by_role("link", name="Download all").click()
    return _save(one.value, folder), _save(archive.value, folder)


def check_timing(page: Page, base_url: str, design_id: str, timeout_s: float) -> None:
    """The page of a design says where its time goes, by the simulator (asked to run if need be)."""
    page.goto(f"{base_url}/designs/{design_id}")
    timing = page.get_by_test_id("timing")
    headline = page.get_by_test_id("timing-headline")
    start = timing.get_by_role("button", name="Simulate")
    expect(headline.or_(start).first).to_be_visible()
    if start.is_visible():
        start.click()
    expect(headline.get_by_text("simulate", exact=True).first).to_be_visible(timeout=timeout_s * 1000)
    expect(headline.get_by_text("estimate", exact=True)).to_be_visible()
    expect(headline).to_contain_text("The estimate is")
    expect(page.get_by_test_id("limits")).to_contain_text("busy")
    expect(page.get_by_test_id("timeline").locator("canvas")).to_be_visible()
    expect(page.get_by_test_id("fifos").get_by_role("row").nth(1)).to_be_visible()


def _save(download: Download, folder: Path) -> Path:
    path = folder / download.suggested_filename
    download.save_as(path)
    return path


def walk(page: Page, base_url: str, exploration_id: str, folder: Path, timeout_s: float = 120) -> tuple[Path, Path]:
    """List, exploration, a point of the front in the plot, its design, its files.

    `base_url` without a slash at its end. The front's fastest design that can be clicked is opened; its C simulation
    must pass, and is started here if nobody has yet (`timeout_s` bounds that wait). Returns design.json and archive,
    saved in `folder`.
    """
    open_exploration(page, base_url, exploration_id)
    wait_for_front(page, timeout_s)
    design_id = free_point(page)
    click_front_point(page, design_id)
    expect(page).to_have_url(f"{base_url}/explorations/{exploration_id}?design={design_id}")
    check_design(page, timeout_s)
    return download_files(page, folder)
