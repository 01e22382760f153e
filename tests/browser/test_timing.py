"""What the dashboard shows of the cycle simulator: where the time goes, what deadlocks, how far estimates are off."""

import re

import pytest
from conftest import Service
from fake_api import Design
from fake_simulation import DEADLOCK
from playwright.sync_api import Page, expect
from walk import chart, check_timing, front_pixels, wait_for_front

pytestmark = pytest.mark.browser

DONE = "exp_03"


def designs(service: Service) -> list[Design]:
    return list(service.world.explorations[DONE].designs.values())


def one_that(service: Service, simulation: str | None) -> Design:
    """A feasible design that the simulator has got so far with."""
    return next(d for d in designs(service) if d.simulation == simulation and not d.violations)


def test_a_simulated_design_says_where_its_time_goes(page: Page, service: Service) -> None:
    design = one_that(service, "done")
    check_timing(page, service.url, design.id, 20)
    expect(page.get_by_test_id("timing-headline")).to_contain_text(f"{design.simulated_us:.1f}")
    expect(page.get_by_test_id("stalling")).to_contain_text("deadlocks after 1,204 cycles, FIFO h0_row is full")
    expect(page.get_by_test_id("limits")).to_contain_text("h3_qkv is busy 98 % of that; everything else waits for it")
    expect(page.get_by_test_id("hbm")).to_contain_text("/ 52.4")


def test_the_timeline_reads_under_the_pointer_and_the_arrow_keys(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/designs/{one_that(service, 'done').id}")
    plot = page.get_by_role("application")
    plot.hover(position={"x": 40, "y": 27})
    expect(plot).to_contain_text("h0_load")
    expect(plot).to_contain_text("waiting for input")
    plot.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    status = page.get_by_test_id("timeline").get_by_role("status")
    expect(status).to_contain_text(re.compile(r"h0_quantise, cycles .* idle 100 %"))
    page.keyboard.press("Escape")
    expect(status).to_have_text("")


def test_the_timeline_has_a_table_beside_it(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/designs/{one_that(service, 'done').id}")
    page.get_by_role("button", name="As a table").click()
    row = page.get_by_test_id("task-table").get_by_role("row").filter(has_text="h3_qkv")
    expect(row).to_contain_text("98 %")
    expect(page.get_by_test_id("task-table").get_by_role("row")).to_have_count(41)


def test_fifos_are_sorted_by_any_column(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/designs/{one_that(service, 'done').id}")
    fifos = page.get_by_test_id("fifos")
    rows = fifos.get_by_role("row")
    expect(fifos.get_by_role("columnheader", name="Depth")).to_have_attribute("aria-sort", "descending")
    expect(rows.nth(1).get_by_role("cell").nth(2)).to_have_text("128")
    fifos.get_by_role("button", name="Why not smaller").click()
    fifos.get_by_role("button", name="Why not smaller").click()
    expect(rows.nth(1).get_by_role("cell").last).to_have_text("no memory of its own up to 31 tokens")
    fifos.get_by_role("button", name="Depth").click()
    fifos.get_by_role("button", name="Show all 39").click()
    expect(rows).to_have_count(40)
    expect(rows.last.get_by_role("cell").nth(2)).to_have_text("2")


def test_a_simulation_is_started_from_the_design(page: Page, service: Service) -> None:
    design = one_that(service, None)
    page.goto(f"{service.url}/designs/{design.id}")
    service.world.holds.hold("simulate")
    page.get_by_test_id("timing").get_by_role("button", name="Simulate").click()
    expect(page.get_by_test_id("simulate-running")).to_be_visible()
    service.world.holds.let_go("simulate")
    expect(page.get_by_test_id("timing-headline")).to_contain_text("simulate")


def test_a_deadlock_is_explained(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/designs/{one_that(service, 'refuted').id}")
    note = page.get_by_test_id("deadlock")
    expect(note).to_contain_text("It runs with long_h0 64 deep instead of 2.")
    steps = note.get_by_role("listitem")
    expect(steps).to_have_text(["fork_h0waits for room in long_h0", "join_h0waits for a token in short_h0"])
    expect(note).to_contain_text(DEADLOCK["text"])
    expect(page.get_by_test_id("refuted")).to_have_text("Refuted by its simulationIt deadlocks: who waits for whom")
    expect(page.get_by_test_id("refuted").get_by_role("link")).to_have_attribute("href", "#timing")
    expect(page.get_by_text("refuted", exact=True)).to_be_visible()


def test_a_design_that_exceeds_a_budget_once_certified_says_so(
    page: Page, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    design, why = one_that(service, "done"), "with certified FIFOs: lut of SLR0 290,000 of 284,130"
    monkeypatch.setattr(design, "refuted", why)
    page.goto(f"{service.url}/designs/{design.id}")
    expect(page.get_by_test_id("refuted")).to_contain_text(why)
    expect(page.get_by_text("refuted", exact=True)).to_be_visible()
    expect(page.get_by_test_id("timing-headline")).to_contain_text(f"{design.simulated_us:.1f}")
    expect(page.get_by_test_id("deadlock")).to_have_count(0)


def test_an_impossible_value_is_a_warning(page: Page, service: Service) -> None:
    design = next(d for d in designs(service) if d.flags)
    page.goto(f"{service.url}/designs/{design.id}")
    expect(page.get_by_test_id("flags")).to_contain_text("is below the HBM bound of")
    page.goto(f"{service.url}/designs/{one_that(service, 'refuted').id}")
    expect(page.get_by_test_id("deadlock")).to_be_visible()
    expect(page.get_by_test_id("flags")).to_have_count(0)


def test_the_front_is_shown_at_either_fidelity(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/explorations/{DONE}")
    wait_for_front(page)
    estimated = [p["id"] for p in front_pixels(page)]
    page.get_by_role("group", name="Fidelity of the latency").get_by_role("button", name="Simulate").click()
    legend = page.get_by_role("list", name="Legend")
    expect(legend).to_contain_text("Latency simulate")
    expect(legend).to_contain_text("Same design, estimated")
    expected = _simulated_front(designs(service))
    page.wait_for_function(
        "ids => JSON.parse(document.querySelector('[data-front]').dataset.front).length == ids.length", arg=expected
    )
    assert [p["id"] for p in front_pixels(page)] == expected
    assert expected != estimated
    expect(chart(page)).to_have_attribute("aria-label", re.compile(f"{len(expected)} of them on the Pareto front"))


def _simulated_front(members: list[Design]) -> list[str]:
    front: list[Design] = []
    for design in sorted((d for d in members if d.is_simulated), key=lambda d: (d.simulated_us, d.energy_uj)):
        if not front or design.energy_uj < front[-1].energy_uj:
            front.append(design)
    return [d.id for d in front]


def test_the_error_of_the_estimates_is_drawn_and_told(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/explorations/{DONE}")
    panel = page.get_by_test_id("estimate-error")
    simulated = [d for d in designs(service) if d.is_simulated]
    expect(panel).to_contain_text(f"{len(simulated)} designs were simulated. In the median their estimates are")
    expect(panel.locator(".error-dot")).to_have_count(len(simulated))
    panel.locator(".error-dot").first.click()
    expect(page.get_by_test_id("design-panel")).to_be_visible()
    panel.get_by_text("As a table").click()
    expect(panel.get_by_role("row")).to_have_count(len(simulated) + 1)


def test_the_simulator_reports_while_the_search_ends(page: Page, service: Service) -> None:
    service.world.holds.hold("simulating")
    page.goto(f"{service.url}/explorations/exp_05")
    expect(page.get_by_test_id("state")).to_have_text("simulating")
    service.world.holds.let_go("simulating")
    expect(page.get_by_test_id("state")).to_have_text("done")
    expect(page.get_by_test_id("estimate-error")).to_be_visible()
    ready = [d for d in service.world.explorations["exp_05"].designs.values() if d.is_simulated]
    expect(page.locator(".error-dot")).to_have_count(len(ready))
