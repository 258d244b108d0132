"""Shared by all tests: their own home (home.py), and skips that count.

A skip that nobody reads hides a test that never runs. At a desk skips are counted at the end of the run. With
`CI=true` in the environment they turn the run red, except for tests marked `@pytest.mark.allowed_skip("why")`.
"""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests import home

home.move_in()  # before Qt or the product looks at the environment
try:
    import PySide6.QtTest
    import PySide6.QtWidgets  # noqa: F401
except ImportError as error:
    QT_TROUBLE = f"Qt cannot be loaded here: {error}"
else:
    QT_TROUBLE = ""
# pytest-qt would load Qt for every run, and end those on a machine that lacks one of its system libraries.
pytest_plugins = [] if QT_TROUBLE else ["pytestqt.plugin"]

IN_CI = home.IN_CI
if not IN_CI:  # there hypothesis brings a profile of its own, which says the same
    settings.register_profile("a busy computer", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("a busy computer")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What runs the tests that are `async def` (pyproject.toml: anyio_mode), each in a loop of its own."""
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    if IN_CI and is_skip and item.get_closest_marker("allowed_skip") is None:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped in CI: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A module that skips itself while it is collected (importorskip) counts as well."""
    report = yield
    if IN_CI and report.outcome == "skipped":
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped in CI: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
