"""What the dashboard shows of the farm: nodes, queues, licences, builds and their logs."""

import re

import pytest
from conftest import Service
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

BUILDING = "exp_06"


def build(service: Service, stage: str, state: str) -> str:
    return next(b["id"] for b in service.world.book.rows.values() if (b["stage"], b["state"]) == (stage, state))


def test_the_farm_at_a_glance(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/farm")
    node = page.locator("[data-node='build-1']")
    expect(node.get_by_role("meter", name="CPUs in use")).to_have_attribute("aria-valuenow", "2")
    expect(node.get_by_role("meter", name="Memory in use")).to_have_attribute("aria-valuetext", "20 / 57.6 GB, 35 %")
    expect(node.locator(".chip").filter(has_text="csynth")).to_contain_text("2023.2")
    node.get_by_text("1 thing it can not do").click()
    expect(node).to_contain_text("xbutil examine says reset needed")
    expect(page.locator("[data-node='desk']")).to_contain_text("gone")
    queue = page.locator("[data-queue='csynth@2023.2']")
    expect(queue).to_contain_text("waits for licence vitis_hls: 2 of 2 tokens in use")
    expect(queue).to_contain_text("1 h 30 min")
    expect(page.get_by_role("meter", name="vitis_hls")).to_have_attribute("aria-valuetext", "2 of 2 tokens in use")
    expect(page.get_by_test_id("running").get_by_role("row")).to_have_count(4)


def test_running_builds_count_on(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/farm")
    elapsed = page.locator(f"[data-build='{build(service, 'csynth', 'running')}'] td").nth(3)
    expect(elapsed).to_contain_text("min")
    before = elapsed.inner_text()
    expect(elapsed).not_to_have_text(before)


def test_a_node_is_drained_paused_and_resumed(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/farm")
    node = page.locator("[data-node='build-3']")
    node.get_by_role("button", name="Drain").click()
    expect(node).to_contain_text("draining")
    node.get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The build that it runs is given back")
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    dialog.get_by_role("button", name="Pause it").click()
    expect(node).to_contain_text("paused")
    node.get_by_role("button", name="Resume").click()
    expect(node).to_contain_text("active")
    page.locator("[data-node='desk']").get_by_role("button", name="Forget").click()
    expect(page.locator("[data-node]")).to_have_count(3)


def test_builds_are_filtered_and_paged(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/builds")
    rows = page.locator("tr[data-build]")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Older builds").click()
    expect(rows).not_to_have_count(50)
    page.get_by_label("Stage").select_option("csynth")
    expect(rows).to_have_count(11)
    page.get_by_label("State").select_option("queued")
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile(r"stage=csynth&state=queued"))
    expect(rows.first).to_contain_text("waits for licence vitis_hls")
    page.get_by_label("Node").select_option("build-3")
    expect(page.get_by_text("No such builds")).to_be_visible()


def test_a_build_tells_its_story(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/builds/{build(service, 'csynth', 'running')}")
    attempts = page.get_by_test_id("attempts")
    expect(attempts).to_contain_text("2 attempts")
    expect(attempts).to_contain_text("vitis_hls ended with signal 11")
    log = attempts.get_by_role("link", name="Log")
    expect(log).to_have_attribute("href", re.compile(r"/log\?attempt=1$"))
    facts = page.get_by_test_id("facts")
    expect(facts).to_contain_text("vitis_hls")
    expect(facts).to_contain_text("2023.2")
    expect(page.get_by_test_id("files").get_by_role("link", name="block.cpp")).to_be_visible()
    page.goto(f"{service.url}/builds/{build(service, 'cosim', 'blocked')}")
    expect(page.get_by_test_id("waiting")).to_contain_text("waits for csynth bld_csynth007")
    expect(page.get_by_text("It is written when the build runs.")).to_be_visible()


def test_the_log_follows_until_it_is_scrolled(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/builds/{build(service, 'csynth', 'running')}")
    log, state = page.get_by_test_id("log"), page.locator(".log-state")
    last = log.get_by_role("listitem").last
    expect(state).to_have_text("following")
    seen = last.inner_text()
    expect(last).not_to_have_text(seen)
    assert log.get_by_role("listitem").count() < 200, "only what is in sight is drawn"
    # Lines that come between the scroll and its event do not undo it.
    page.evaluate("() => { hold = event => event.stopPropagation(); addEventListener('scroll', hold, true) }")
    height = log.evaluate("element => { element.scrollTop = 0; return element.scrollHeight }")
    page.wait_for_function("h => document.querySelector('[data-testid=log]').scrollHeight > h", arg=height)
    assert log.evaluate("element => element.scrollTop") == 0
    page.evaluate("() => removeEventListener('scroll', hold, true)")
    log.dispatch_event("scroll")
    expect(state).to_have_text("paused")
    expect(log).to_contain_text("task 0 of the network")
    assert log.evaluate("element => element.scrollTop") == 0
    page.get_by_role("button", name="Follow").click()
    expect(state).to_have_text("following")
    expect(log).not_to_contain_text("task 0 of the network")


def test_the_log_is_searched(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/builds/{build(service, 'link', 'done')}")
    block = page.get_by_test_id("log-block")
    block.get_by_label("Search the log").fill("it only looks like one")
    expect(block.locator(".log-search").get_by_role("status")).to_have_text("1 of 1")
    expect(block.locator("li.current mark")).to_have_text("it only looks like one")
    block.get_by_label("Search the log").fill("warning")
    expect(block.locator(".log-search").get_by_role("status")).to_have_text("1 of 16")
    page.keyboard.press("Enter")
    expect(block.locator(".log-search").get_by_role("status")).to_have_text("2 of 16")
    expect(block.locator("li.current")).to_contain_text("fifo_46")


def test_cancelling_what_runs_asks_first(page: Page, service: Service) -> None:
    running = build(service, "link", "running")
    page.goto(f"{service.url}/builds/{running}")
    page.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("that work is lost")
    dialog.get_by_role("button", name="Keep it").click()
    assert service.world.book.rows[running]["state"] == "running"
    page.get_by_role("button", name="Cancel").click()
    dialog.get_by_role("button", name="Cancel the build").click()
    expect(page.get_by_test_id("state")).to_have_text("cancelled")
    service.world.holds.hold("retry")
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_test_id("waiting")).to_contain_text("waits for licence")
    service.world.holds.let_go("retry")
    expect(page.get_by_test_id("state")).to_have_text("running")


def test_a_clone_has_other_options(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/builds/{build(service, 'csynth', 'failed')}")
    page.get_by_role("button", name="Clone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Vitis").select_option("2024.1")
    dialog.get_by_label("Clock").fill("250")
    dialog.get_by_role("button", name="Clone").click()
    expect(page.get_by_test_id("waiting")).to_contain_text("no node offers csynth@2024.1")
    made = list(service.world.book.rows.values())[-1]
    assert page.url.endswith(made["id"])
    assert made["options"] == {"vitis": "2024.1", "clock_mhz": 250}


def test_a_design_shows_its_ladder(page: Page, service: Service) -> None:
    highest = next(b for b in service.world.book.rows.values() if b["stage"] == "measure")
    page.goto(f"{service.url}/designs/{highest['design_id']}")
    ladder = page.get_by_test_id("ladder")
    expect(ladder.get_by_role("listitem")).to_have_count(6)
    expect(ladder.locator("[data-stage=link]")).to_contain_text("on build-3")
    fidelities = page.get_by_test_id("fidelities")
    expect(fidelities.get_by_role("columnheader")).to_contain_text(["estimate", "simulate", "csynth", "cosim", "link"])
    latency = fidelities.get_by_role("row").filter(has_text="Latency")
    expect(latency).to_contain_text("csynth -2.8 %")
    expect(fidelities.get_by_role("row", name="Worst slack")).to_have_count(0)
    fidelities.get_by_role("button", name="All").click()
    expect(fidelities.get_by_role("row", name="Worst slack")).to_be_visible()
    ladder.get_by_role("link", name="cosim").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cosim of design")


def test_a_stage_is_run_from_the_ladder(page: Page, service: Service) -> None:
    design = next(d for d in service.world.explorations["exp_03"].designs.values() if d.csim == "passed")
    page.goto(f"{service.url}/designs/{design.id}")
    rung = page.get_by_test_id("ladder").locator("[data-stage=csynth]")
    expect(rung).to_contain_text("not run")
    rung.get_by_role("button", name="Run csynth").click()
    expect(rung).to_contain_text("waits for licence vitis_hls")


def test_an_exploration_shows_what_it_builds(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/explorations/{BUILDING}")
    expect(page.get_by_test_id("state")).to_have_text("building")
    expect(page.get_by_test_id("waiting")).to_contain_text("csynth waits for licence")
    climb = page.get_by_test_id("climb")
    expect(climb.locator("[data-stage=csynth]")).to_contain_text("11 / 14")
    expect(climb.locator("[data-stage=csynth]")).to_contain_text("7 passed, 1 running, 2 waiting, 1 failed")
    expect(climb.locator("[data-stage=link] .climb-chip")).to_have_count(3)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_contain_text("what they have done is lost")


def test_builds_are_asked_for_with_the_exploration(page: Page, service: Service) -> None:
    page.goto(service.url)
    page.get_by_role("button", name="New exploration").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Vitis")).to_contain_text("newest on the farm (2024.1)")
    dialog.get_by_label("Budget").fill("40")
    dialog.get_by_label("csynth").fill("4")
    dialog.get_by_label("link").fill("1")
    dialog.get_by_label("Vitis").select_option("2023.2")
    dialog.get_by_label("Priority").select_option("high")
    dialog.get_by_role("button", name="Start exploration").click()
    expect(page).to_have_url(re.compile(r"/explorations/exp_\d+$"))
    row = service.world.explorations[page.url.rsplit("/", 1)[1]].row
    assert row["builds"] == {"csynth": 4, "cosim": 0, "link": 1, "measure": 0}
    assert (row["vitis"], row["board"], row["priority"]) == ("2023.2", None, "high")
