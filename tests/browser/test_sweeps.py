"""What the dashboard shows of sweeps: the list, the history, and a run that went red."""

from typing import Any

import pytest
from conftest import Service
from playwright.sync_api import Page, expect

from api.schemas.sweeps import NewSweep

pytestmark = pytest.mark.browser


def test_sweeps_say_how_they_stand_and_when_they_run(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/sweeps")
    nightly = page.locator("[data-sweep=swp_1]")
    expect(nightly).to_contain_text("regressed")
    expect(nightly).to_contain_text("4 worse")
    expect(nightly).to_contain_text("Europe/Berlin, in")
    expect(page.locator("[data-sweep=swp_2]")).to_contain_text("same")
    expect(page.locator("[data-sweep=swp_3]")).to_contain_text("never ran")
    expect(page.locator("[data-sweep=swp_3]")).to_contain_text("switched off")


def test_the_history_is_a_line_and_a_table(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/sweeps/swp_1")
    expect(page.get_by_test_id("history").locator("canvas")).to_be_visible()
    expect(page.get_by_test_id("history")).to_have_attribute(
        "aria-label", "Hypervolume of 23 runs, 1 at the first. The table of runs holds the same."
    )
    expect(page.locator("tr[data-run]")).to_have_count(24)
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_test_id("state")).to_have_text("running")


def test_a_red_run_names_design_metric_and_cause(page: Page, service: Service) -> None:
    page.goto(service.url)
    expect(page.get_by_test_id("alarm")).to_have_text("1")
    page.goto(f"{service.url}/sweep-runs/run_red")
    rows = page.get_by_test_id("regressions").get_by_role("row")
    expect(rows).to_have_count(5)
    expect(rows.nth(1)).to_contain_text("link fails")
    expect(rows.nth(2)).to_contain_text("latency csynth")
    expect(rows.nth(2)).to_contain_text("+6.2 %")
    expect(rows.nth(2)).to_contain_text("tool vitis_hls 2023.2 → 2024.1")
    expect(rows.nth(2).get_by_role("link")).to_have_attribute("href", "/designs/" + _first(service))
    page.get_by_role("button", name="Accept as the baseline").click()
    expect(page.get_by_test_id("state")).to_have_text("regressed, accepted")
    expect(page.get_by_test_id("alarm")).to_have_count(0)


def _first(service: Service) -> str:
    assert service.world.sweeps is not None
    return service.world.sweeps.details["run_red"]["regressions"][1]["design"]["id"]


def test_both_fronts_are_drawn(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/sweep-runs/run_red")
    slot = page.get_by_test_id("slot")
    expect(slot.get_by_role("heading", level=2)).to_have_text("gpt2 decode 64 w4a8 u55c")
    assert service.world.sweeps is not None
    front = service.world.sweeps.details["run_red"]["slots"][1]["fronts"][0]
    assert front["new_count"] > 0 < front["lost_count"]
    label = f"{front['new_count']} new, {front['lost_count']} lost, {front['moved_count']} moved."
    chart = page.get_by_test_id("fronts-chart")
    expected = f"Front before with {front['before']} designs and after with {front['after']}: {label}"
    expect(chart).to_have_attribute("aria-label", expected)
    expect(chart.locator("canvas")).to_be_visible()
    expect(page.get_by_test_id("front-words")).to_contain_text("hypervolume -6.4 %")
    page.get_by_role("button", name="gpt2 decode 512").click()
    expect(page.get_by_test_id("front-words")).to_contain_text("no point changed")


def test_stages_without_a_node_are_said_of_the_sweep_and_of_its_run(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/sweeps/swp_2")
    expect(page.get_by_test_id("warnings")).to_contain_text("link will wait: no node offers")
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_test_id("state")).to_have_text("running")
    expect(page.get_by_test_id("warnings")).to_contain_text("link will wait: no node offers")
    page.goto(f"{service.url}/sweep-runs/run_201")  # has ended
    expect(page.get_by_test_id("state")).to_have_text("same")
    expect(page.get_by_test_id("warnings")).to_have_count(0)


def test_a_sweep_is_added_on_the_page(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/sweeps")
    page.get_by_role("button", name="New sweep").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("lengths")
    dialog.get_by_label("Models").select_option(["gpt2", "gpt2-medium"])
    dialog.get_by_label("Lengths").fill("64, 128")
    dialog.get_by_label("Schedule").fill("0 3 * * *")
    with page.expect_request(lambda r: r.method == "POST" and r.url.endswith("/v1/sweeps")) as asked:
        dialog.get_by_role("button", name="Store sweep").click()
    body: Any = asked.value.post_data_json
    assert (body["name"], body["cron"], body["enabled"]) == ("lengths", "0 3 * * *", True)
    assert body["matrix"]["models"] == ["gpt2", "gpt2-medium"]
    assert (body["matrix"]["lengths"], body["matrix"]["seeds"]) == ([64, 128], [0])
    assert body["options"] == {
        "budget": 200, "objectives": ["latency", "energy"], "verify": 3, "tolerance": 0.02,
    }  # fmt: skip
    NewSweep.model_validate(body)
    expect(page).to_have_url(f"{service.url}/sweeps/swp_4")
