"""Dashboard and alerts ask for metrics that the service has, in queries that parse."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from deploy_files import DEPLOY, compose, load
from every_table import fill_every_table
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import update

from api.metrics import Metrics
from db.migrate import upgrade
from db.models import Build
from db.types import utcnow
from worker.farm import open_farm
from worker.settings import Settings

DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboards" / "millrace.json").read_text())
RULES: list[dict[str, Any]] = load(DEPLOY / "prometheus" / "alerts.yml")["groups"][0]["rules"]
PROMETHEUS = {"up"}


def queries() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for rule in RULES:
        yield rule["alert"], rule["expr"]


def exported(tmp_path: Path) -> dict[str, set[str]]:
    """Every metric that /metrics has, with its labels."""
    from prometheus_client import generate_latest

    settings = Settings(home=tmp_path)
    upgrade(settings.database)
    farm = open_farm(settings, lambda *_: None)
    with farm.database.write() as session:
        fill_every_table(session.connection())
        session.execute(
            update(Build).values(state="done", adopted_from=None, started_at=utcnow(), finished_at=utcnow())
        )
    metrics = Metrics(farm)
    metrics.observe("GET", "/v1/builds", 200, 0.01)
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(generate_latest(metrics.registry).decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    farm.close()
    return found


@pytest.mark.parametrize(("title", "query"), list(queries()))
def test_queries_parse(title: str, query: str) -> None:
    promql_parser.parse(query)


def test_every_metric_and_label_of_a_query_exists(tmp_path: Path) -> None:
    found = exported(tmp_path)
    for title, query in queries():
        names = set(re.findall(r"\b(?:millrace|process|up)\w*\b", re.sub(r'"[^"]*"', '""', query)))
        assert names, title
        assert names - PROMETHEUS <= set(found), title
        for name, matchers in re.findall(r"\b(millrace_\w+)\{([^}]*)\}", query):
            assert set(re.findall(r"(\w+)\s*(?:=|!)", re.sub(r'"[^"]*"', "", matchers))) <= found[name], title


def test_what_an_operator_watches_is_there() -> None:
    text = " ".join(query for _, query in queries())
    for metric in (
        "queue_waiting",
        "queue_oldest_seconds",
        "node_running",
        "node_up",
        "licence_used",
        "licence_tokens",
    ):
        assert f"millrace_{metric}" in text
    for metric in ("build_seconds_total", "build_runs_total", "http_request_seconds_bucket"):
        assert f"millrace_{metric}" in text


def test_dashboard_is_whole() -> None:
    source = load(DEPLOY / "grafana" / "provisioning" / "datasources" / "prometheus.yml")["datasources"][0]
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["datasource"]["uid"] == source["uid"]
        assert panel["title"]
        assert panel["description"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells


def test_provisioning_names_folders_that_are_mounted() -> None:
    services = compose()["services"]
    volumes = {v.split(":")[1]: v.split(":")[0] for v in services["grafana"]["volumes"]}
    provider = load(DEPLOY / "grafana" / "provisioning" / "dashboards" / "millrace.yml")["providers"][0]
    assert (DEPLOY.parent / volumes[provider["options"]["path"]] / "millrace.json").is_file()
    assert (DEPLOY.parent / volumes["/etc/grafana/provisioning"] / "datasources").is_dir()


def test_prometheus_finds_api_rules_and_key() -> None:
    config = load(DEPLOY / "prometheus" / "prometheus.yml")
    assert set(config) <= {"global", "rule_files", "scrape_configs", "alerting"}
    assert all((DEPLOY / "prometheus" / name).is_file() for name in config["rule_files"])
    job = config["scrape_configs"][0]
    services = compose()["services"]
    assert job["static_configs"][0]["targets"] == ["api:8642"]
    assert "api" in services["api"]["environment"]["MILLRACE_ALLOWED_HOSTS"].split(",")
    [secret] = services["prometheus"]["secrets"]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_alerts_say_what_to_do(rule: dict[str, Any]) -> None:
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations", "keep_firing_for"}
    assert re.fullmatch(r"[A-Z]\w+", rule["alert"])
    assert re.fullmatch(r"\d+[smhd]", rule.get("for", "1m"))
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert set(rule["annotations"]) == {"summary", "action"}
