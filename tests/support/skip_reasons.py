"""Why tests were skipped, counted, before the closing line; in CI a reason that is not expected there fails the run."""

import os
import re
from collections import Counter
from collections.abc import Iterable

import pytest

# Start of a reason: why a machine of CI may have it.
EXPECTED = {
    "the real tool reports are not here": "a fresh clone has no ../shared/fixtures",
    "the shared fixtures are not beside this checkout": "the same",
    "got empty parameter set": "one case for each of those reports",
    "mounting a small file system": "a container may not mount",
    "no cgroup v1": "most machines have version 2, or may not write it",
    "no cgroup v2": "the group of a CI job is seldom its own to divide; the same, in made-up folders, is tested anyway",
    "no mount namespace": "only root may make one",
    "no systemd-analyze": "a container has no systemd; the units are parsed by another test",
    "no kubectl": "the manifests are checked against the schemas by another test",
    "this machine allows too few open files": "a container may allow 1,024",
    "no keys are asked for": "one of two modes of the same test",
}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and _is_ci() and unexpected(_reasons(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reasons = _reasons(config)
    if not reasons:
        return
    terminalreporter.section("skipped, by reason")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5}  {reason}")
    if _is_ci() and (failing := unexpected(reasons)):
        terminalreporter.write_line(
            f"FAILED: {len(failing)} of these reasons are not expected in CI (tests/support/skip_reasons.py): "
            f"{'; '.join(failing)}",
            red=True,
        )


def unexpected(reasons: Iterable[str]) -> list[str]:
    return [reason for reason in reasons if not reason.startswith(tuple(EXPECTED))]


def _is_ci() -> bool:
    return os.environ.get("CI") == "true"


def _reasons(config: pytest.Config) -> Counter[str]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return Counter(_reason(report) for report in reports)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return re.sub(r"^Skipped: ", "", told)
