"""The login, and what a role may not do."""

import pytest
from conftest import Service
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

KEYS = {
    "mlr_view": {"access": True, "name": "vera", "role": "viewer", "quotas": {}},
    "mlr_user": {"access": True, "name": "ursula", "role": "user", "quotas": {}},
    "mlr_admin": {"access": True, "name": "ada", "role": "admin", "quotas": {}},
}


@pytest.fixture
def guarded(service: Service) -> Service:
    """The service asks for keys."""
    service.world.access = KEYS
    return service


def log_in(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Log in").click()


def test_a_stranger_logs_in_and_out(page: Page, guarded: Service) -> None:
    page.goto(f"{guarded.url}/farm")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(0)
    log_in(page, "mlr_wrong")
    expect(page.get_by_role("alert")).to_contain_text("the key is not valid")
    log_in(page, "mlr_admin")
    expect(page.get_by_test_id("account")).to_contain_text("ada")
    expect(page.get_by_test_id("account")).to_contain_text("admin")
    expect(page.locator("[data-node]")).to_have_count(4)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_viewer_reads_why_nothing_may_be_changed(page: Page, guarded: Service) -> None:
    page.goto(f"{guarded.url}/farm")
    log_in(page, "mlr_view")
    drain = page.locator("[data-node='build-1']").get_by_role("button", name="Drain")
    expect(drain).to_have_attribute("aria-disabled", "true")
    expect(drain).to_have_accessible_description("This needs the role admin; your key has the role viewer")
    drain.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Explorations").click()
    start = page.get_by_role("button", name="New exploration")
    expect(start).to_have_accessible_description("This needs the role user; your key has the role viewer")
    assert guarded.world.nodes[0]["state"] == "active"


def test_a_user_changes_only_what_is_their_own(page: Page, guarded: Service) -> None:
    mine, other = [b for b in guarded.world.book.rows.values() if b["state"] == "running"][:2]
    mine["owner"], other["owner"] = "ursula", "bob"
    page.goto(f"{guarded.url}/builds/{other['id']}")
    log_in(page, "mlr_user")
    cancel = page.get_by_role("button", name="Cancel")
    expect(cancel).to_have_accessible_description("This belongs to bob; ask that person, or an admin")
    page.goto(f"{guarded.url}/builds/{mine['id']}")
    cancel.click()
    page.get_by_role("button", name="Cancel the build").click()
    expect(page.get_by_test_id("state")).to_have_text("cancelled")


def test_a_revoked_key_leads_back_to_the_login(page: Page, guarded: Service) -> None:
    page.goto(f"{guarded.url}/farm")
    log_in(page, "mlr_user")
    expect(page.locator("[data-node]")).to_have_count(4)
    guarded.world.access = {"mlr_other": KEYS["mlr_admin"]}
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
