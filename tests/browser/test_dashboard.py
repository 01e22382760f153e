"""The dashboard in a real Chromium, against a stand-in for the service that follows the REST contract."""

import json
import re
import tarfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import Service, Serving
from fake_api import MODELS, Design, Json, World, groups_of, picks_of
from playwright.sync_api import Locator, Page, expect
from walk import click_front_point, evaluated, front_pixels, open_exploration, wait_for_front, walk

pytestmark = pytest.mark.browser

SEARCHING = "exp_05"
DONE = "exp_03"


def test_the_main_path_ends_with_the_files_of_a_design(page: Page, service: Service, tmp_path: Path) -> None:
    design_json, archive = walk(page, service.url, DONE, tmp_path)
    opened = page.url.split("design=")[1]
    _, design = service.world.design(opened)
    assert json.loads(design_json.read_text()) == design.knobs
    with tarfile.open(archive) as files:
        assert f"{opened}/hls/block.cpp" in files.getnames()


def test_points_appear_while_the_search_runs(page: Page, service: Service) -> None:
    service.world.holds.hold("batch")
    open_exploration(page, service.url, SEARCHING)
    wait_for_front(page)
    seen = evaluated(page)
    assert seen < 240
    service.world.holds.let_go("batch")
    page.wait_for_function(
        "seen => Number(document.querySelector('[data-testid=evaluated]').textContent) > seen", arg=seen
    )
    expect(page.get_by_test_id("state")).to_have_text("done")
    assert evaluated(page) == 240
    expected = [d.id for d in service.world.explorations[SEARCHING].designs.values() if d.on_front]
    assert sorted(p["id"] for p in front_pixels(page)) == sorted(expected)
    expect(page.locator("tr[data-design]").filter(has_text="passed")).to_have_count(3)


def test_a_c_simulation_is_started_from_the_design(page: Page, service: Service) -> None:
    open_exploration(page, service.url, DONE)
    wait_for_front(page)
    _, untested = next(
        (e, d) for e, d in map(service.world.design, (p["id"] for p in front_pixels(page))) if d.build is None
    )
    click_front_point(page, untested.id)
    panel = page.get_by_test_id("design-panel")
    service.world.holds.hold("csim")
    panel.get_by_role("button", name="Run C simulation").click()
    expect(panel.get_by_test_id("csim-running")).to_be_visible()
    service.world.holds.let_go("csim")
    expect(panel.get_by_test_id("verdict").get_by_text("✓ passed")).to_be_visible()
    expect(panel.get_by_role("link", name="block.cpp")).to_be_visible()
    expect(page.locator(f"tr[data-design='{untested.id}']")).to_contain_text("passed")


def test_a_failed_verdict_says_by_how_much(page: Page, service: Service) -> None:
    failed = next(d for d in service.world.explorations[DONE].designs.values() if d.csim == "failed")
    page.goto(f"{service.url}/designs/{failed.id}")
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_contain_text("✕ failed")
    expect(verdict).to_contain_text("hidden[0, 511] is 1.31, PyTorch says 0.49")
    expect(verdict).to_contain_text("checked: 41 of 41 tasks")
    verdict.get_by_text("How the tasks were checked").click()
    expect(verdict.get_by_role("row", name="converter its operation 20 187,520 1 none")).to_be_visible()


def test_an_infeasible_design_says_which_budget_it_exceeds(page: Page, service: Service) -> None:
    large = next(d for d in service.world.explorations[DONE].designs.values() if d.area["lut"] > 1_175_680)
    page.goto(f"{service.url}/designs/{large.id}")
    expect(page.get_by_test_id("violations")).to_contain_text(f"LUT: {large.area['lut']:,} of 1,175,680")


def test_a_compiled_design_shows_how_it_is_built(page: Page, service: Service) -> None:
    compiled = next(d for d in service.world.explorations[DONE].designs.values() if d.csim == "passed")
    page.goto(f"{service.url}/designs/{compiled.id}")
    fusion = page.get_by_test_id("fusion")
    expect(fusion).to_contain_text("h0.mlp.fc")
    bound = compiled.knobs["fusion_budget"]
    expect(fusion).to_contain_text(f"needs {3 * bound:,} of {bound:,} converter bytes")
    placement = page.get_by_test_id("placement")
    expect(placement).to_contain_text("SLR0: 15 tasks")
    expect(placement.get_by_role("meter", name="SLR0 to SLR1, wires, share of the budget")).to_be_visible()
    expect(placement.get_by_role("img")).to_have_count(5)
    rows = page.get_by_test_id("converters").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("two boxes in turn")
    expect(rows.last).to_contain_text("41 KiB")
    turns = page.get_by_test_id("turns")
    expect(turns.get_by_role("row", name="engine0 4 equal slices qkv 2,048")).to_be_visible()
    expect(turns.get_by_role("row", name="proj_in0 attention back to engine0_route0 192 0 512 bit")).to_be_visible()
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_contain_text("The emitted C++ agrees with PyTorch")


def test_a_design_that_replies_says_what_that_takes_and_what_is_assumed(page: Page, service: Service) -> None:
    designs = service.world.explorations[DONE].designs.values()
    replying, other = (next(d for d in designs if (d.number % 5 == 0) is replies) for replies in (True, False))
    page.goto(f"{service.url}/designs/{replying.id}")
    metrics = page.get_by_test_id("metrics")
    expect(metrics.get_by_role("row", name="Tokens a second")).to_contain_text("748")
    expect(metrics.get_by_role("row", name="Tokens a second")).to_contain_text("simulate")
    expect(metrics.get_by_role("row", name="First token after")).to_contain_text("110")
    expect(metrics).to_contain_text("Assumed: 0.27 ms for each start of a kernel (median")
    page.goto(f"{service.url}/designs/{other.id}")
    expect(metrics.get_by_role("heading", name="Latency")).to_be_visible()
    expect(metrics).not_to_contain_text("Assumed")


def test_knobs_are_named_in_plain_words(page: Page, service: Service) -> None:
    design = next(d for d in service.world.explorations[DONE].designs.values() if d.knobs["multiplier"] == "dsp_packed")
    page.goto(f"{service.url}/designs/{design.id}")
    knobs = page.get_by_test_id("knobs")
    words = {"greedy": "greedy, as in the paper", "traffic": "least HBM traffic"}
    expect(knobs).to_contain_text("DSP, two products each")
    expect(knobs).to_contain_text(words[design.knobs["fusion_plan"]])
    expect(knobs).to_contain_text("12 % at most")


def test_the_table_serves_the_keyboard(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/explorations/{DONE}")
    first = page.locator("tr[data-design]").first
    first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("design-panel")).to_be_visible()
    expect(first.get_by_role("button")).to_have_attribute("aria-pressed", "true")


def test_designs_that_the_estimate_can_not_tell_apart_are_one_row(page: Page, service: Service) -> None:
    exploration = service.world.explorations["exp_01"]
    groups = groups_of(list(exploration.designs.values()), exploration.names)["groups"]
    largest = max(groups, key=lambda group: len(group["members"]))
    others = [member for member in largest["members"] if member != largest["design_id"]]
    open_exploration(page, service.url, "exp_01")
    wait_for_front(page)
    rows = page.locator("tr[data-design]")
    expect(rows).to_have_count(len(groups))
    assert len(front_pixels(page)) > len(groups)
    page.locator(f"tr[data-design={largest['design_id']}]").get_by_role("button", name=f"{len(others)} alike").click()
    expect(rows).to_have_count(len(groups) + len(others))
    for other in others:
        expect(page.locator(f"tr.other[data-design={other}]")).to_be_visible()
    page.get_by_label("Fidelity of the latency").get_by_text("Simulate").click()
    expect(page.get_by_role("button", name="alike")).to_have_count(0)  # groups are by estimate


def test_a_cloud_of_thousands_keeps_its_front_whole(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/explorations/exp_01")
    wait_for_front(page)
    front = [d for d in service.world.explorations["exp_01"].designs.values() if d.on_front]
    assert len(front_pixels(page)) == len(front)


def test_cancel_and_resume(page: Page, service: Service) -> None:
    service.world.holds.hold("batch")
    page.goto(f"{service.url}/explorations/{SEARCHING}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_test_id("state")).to_have_text("cancelled")
    service.world.holds.let_go("batch")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_test_id("state")).to_have_text("done")
    assert evaluated(page) == 240


def test_a_new_exploration_starts_from_the_empty_list(page: Page, world: World, serving: Serving) -> None:
    url = serving(world)
    page.goto(url)
    expect(page.get_by_text("./millrace explore gpt2")).to_be_visible()
    page.get_by_role("button", name="New exploration").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Model").select_option("gpt2-medium")
    dialog.get_by_label("Phase").select_option("prefill")
    dialog.get_by_label("Sequence length").fill("32")
    dialog.get_by_label("Precision").select_option("f32")
    dialog.get_by_label("Budget").fill("40")
    dialog.get_by_label("third").select_option("area")
    dialog.get_by_text("At most", exact=True).click()
    dialog.get_by_label("Dies").fill("1")
    dialog.get_by_label("Energy, µJ", exact=True).fill("400.5")
    dialog.get_by_role("button", name="Start exploration").click()
    expect(page).to_have_url(f"{url}/explorations/exp_01")
    row = world.explorations["exp_01"].row
    assert [objective["name"] for objective in row["objectives"]] == ["latency", "energy", "area"]
    assert (row["model"]["name"], row["budget"]) == ("gpt2-medium", 40)
    assert row["at_most"] == {"dies": 1, "energy": 400.5}
    expect(page.get_by_text("Dies 1, Energy 400.5 µJ")).to_be_visible()
    assert row["workload"] == {"phase": "prefill", "length": 32, "precision": "f32", "batch": 1, "layers": 1}
    expect(page.get_by_test_id("state")).to_have_text("done")
    front = [d for d in world.explorations["exp_01"].designs.values() if d.on_front]
    expect(page.locator("tr[data-design]")).to_have_count(len(front))
    smallest = min(front, key=lambda d: d.area["lut"])
    expect(page.get_by_role("button", name="Least area")).to_contain_text(f"{smallest.values(['area'])[0]}")
    page.get_by_role("button", name="Energy / Area").click()
    expect(page.get_by_test_id("pareto-chart")).to_have_attribute("aria-label", re.compile("of energy and area of"))


def test_an_exploration_is_renamed_annotated_and_deleted(page: Page, world: World, serving: Serving) -> None:
    decode = {"phase": "decode", "length": 64, "precision": "w4a8"}
    world.add_past(MODELS[0], {"workload": decode, "budget": 60, "seed": 1}, timedelta(hours=1))
    page.goto(f"{serving(world)}/explorations/exp_01")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("before-the-fix")
    dialog.get_by_label("Tags").fill("paper, best paper")
    dialog.get_by_label("Notes").fill("with the old sizing")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("before-the-fix")
    expect(page.get_by_text("paper · best")).to_be_visible()
    assert world.explorations["exp_01"].row["tags"] == ["paper", "best"]
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_role("button", name="Delete").click()
    expect(dialog).to_contain_text("it is pinned; take the pin off first")
    expect(dialog.get_by_role("button", name="Delete it")).to_be_disabled()
    dialog.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Unpin").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("button", name="List again")).to_be_visible()
    page.get_by_role("link", name="Explorations").first.click()
    expect(page.locator("[data-exploration=exp_01]")).to_have_count(0)
    page.get_by_role("button", name="Archived too").click()
    page.locator("[data-exploration=exp_01]").click()
    page.get_by_role("button", name="Delete").click()
    expect(dialog).to_contain_text("Delete before-the-fix?")
    expect(dialog).to_contain_text("4 files of 4.768 MiB go with it")
    dialog.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("./millrace explore gpt2")).to_be_visible()
    assert world.explorations == {}


def test_the_longest_texts_stay_within_the_page(page: Page, world: World, serving: Serving) -> None:
    decode = {"phase": "decode", "length": 64, "precision": "w4a8"}
    world.add_past(MODELS[0], {"workload": decode, "budget": 60, "seed": 1}, timedelta(hours=1))
    texts = {"name": "a" * 100, "tags": ["<b>" + "y" * 37] * 20, "notes": "<img src=x onerror=alert(1)>" + "x" * 9972}
    world.explorations["exp_01"].row.update(texts)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{serving(world)}/explorations/exp_01")
    expect(page.get_by_role("heading", level=1)).to_contain_text(texts["name"])
    expect(page.get_by_text("<img src=x onerror=alert(1)>xx")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"Delete {texts['name']}?")
    room = "(() => { const e = document.querySelector('SELECTOR'); return e.clientWidth - e.scrollWidth })()"
    page.wait_for_function(room.replace("SELECTOR", "html") + " === 0")  # charts follow the window
    assert page.evaluate(room.replace("SELECTOR", "dialog")) == 0


def test_what_is_offered_first_carries_its_fidelity(page: Page, world: World, serving: Serving) -> None:
    decode = {"phase": "decode", "length": 64, "precision": "w4a8"}
    world.add_past(MODELS[0], {"workload": decode, "budget": 60, "seed": 1}, timedelta(hours=1))
    url = serving(world)
    page.goto(url)
    expect(page.locator("[data-exploration=exp_01] td").nth(5)).to_contain_text("simulate")
    page.goto(f"{url}/explorations/exp_01")
    picks = page.get_by_label("Choose a design")
    expect(picks.get_by_role("button", name="Fastest")).to_contain_text("simulate")
    expect(picks.get_by_role("button", name="Fastest")).to_contain_text("estimate")


def test_the_knee_is_the_one_that_the_service_names(
    page: Page, world: World, serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fastest_for_knee(designs: list[Design], objectives: Sequence[str]) -> list[Json]:
        fastest = picks_of(designs, objectives)[0]
        return [fastest, fastest | {"kind": "knee"}]

    monkeypatch.setattr("fake_api.picks_of", fastest_for_knee)
    decode = {"phase": "decode", "length": 64, "precision": "w4a8"}
    world.add_past(MODELS[0], {"workload": decode, "budget": 60, "seed": 1}, timedelta(hours=1))
    url = serving(world)
    page.goto(f"{url}/explorations/exp_01")
    [fastest, _] = page.request.get(f"{url}/v1/explorations/exp_01").json()["picks"]
    expect(page.locator("tr", has=page.locator(".tone-knee"))).to_have_attribute("data-design", fastest["design_id"])
    expect(page.get_by_label("Choose a design").get_by_role("button")).to_contain_text(["Fastest, Knee"])


def test_a_stage_without_a_node_is_said(page: Page, world: World, serving: Serving) -> None:
    decode = {"phase": "decode", "length": 64, "precision": "w4a8"}
    body = {"workload": decode, "budget": 60, "seed": 1, "builds": {"csynth": 1, "link": 1}}
    world.add_past(MODELS[0], body, timedelta(hours=1), "building")
    page.goto(f"{serving(world)}/explorations/exp_01")
    expect(page.get_by_test_id("warnings")).to_contain_text("link will wait: no node offers")


@pytest.fixture
def world() -> World:
    return World(pace=0.1)


@pytest.fixture
def dialog(page: Page, world: World, serving: Serving) -> Locator:
    """The form for a new exploration, open."""
    page.goto(serving(world))
    page.get_by_role("button", name="New exploration").first.click()
    return page.get_by_role("dialog")


def test_a_network_from_a_file_has_its_own_shapes(page: Page, world: World, dialog: Locator) -> None:
    expect(dialog.get_by_label("Phase")).to_be_visible()
    dialog.get_by_role("combobox", name="Model").select_option(label="vit-block (.onnx)")
    expect(dialog.get_by_label("Phase")).to_have_count(0)
    expect(dialog.get_by_label("Context length")).to_have_count(0)
    expect(dialog.get_by_label("Precision")).to_have_value("f32")
    dialog.get_by_label("Precision").select_option("w8a8")
    dialog.get_by_label("Budget").fill("40")
    dialog.get_by_role("button", name="Start exploration").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("whole network (.onnx) · w8a8")
    assert world.explorations["exp_01"].row["model"]["name"] == "vit-block"


def test_an_uploaded_model_is_chosen(world: World, dialog: Locator) -> None:
    dialog.get_by_text("Add a model").click()
    content = b"module {}" * 1000
    dialog.get_by_label("File").set_input_files({"name": "my net.mlir", "mimeType": "", "buffer": content})
    expect(dialog.get_by_label("Store as")).to_have_value("my_net")
    dialog.get_by_role("button", name="Upload").click()
    expect(dialog.get_by_text("stored as my_net")).to_be_visible()
    expect(dialog.get_by_role("combobox", name="Model")).to_have_value("my_net")
    assert world.models[0] == {"id": "mdl_04", "name": "my_net", "kind": "mlir"}


def test_samples_go_with_the_network_that_they_calibrate(world: World, dialog: Locator) -> None:
    dialog.get_by_text("Add a model").click()
    dialog.get_by_label("File").set_input_files({"name": "config.json", "mimeType": "", "buffer": b"{}"})
    expect(dialog.get_by_label("Samples")).to_have_count(0)
    dialog.get_by_label("File").set_input_files({"name": "net.onnx", "mimeType": "", "buffer": b"x"})
    dialog.get_by_label("Samples").set_input_files({"name": "inputs.npz", "mimeType": "", "buffer": b"PK"})
    dialog.get_by_role("button", name="Upload").click()
    expect(dialog.get_by_text("stored as net")).to_be_visible()
    assert world.models[0]["config"] == {"samples": "inputs.npz"}


def test_a_refused_upload_says_what_the_service_says(world: World, dialog: Locator) -> None:
    dialog.get_by_text("Add a model").click()
    dialog.get_by_label("File").set_input_files({"name": "net.zip", "mimeType": "", "buffer": b"PK"})
    dialog.get_by_label("Store as").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("'net.zip' is no model; upload a config.json")
    assert len(world.models) == 3
