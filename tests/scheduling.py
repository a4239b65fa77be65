"""Distribute the tests of a whole run to the processes of pytest-xdist.

By default, pytest-xdist distributes single tests. So each process starts all servers and browsers, and prepares all
databases. Here a process runs all tests of a file, and of some folders, and prepares less.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

TOGETHER = ("tests/e2e/desk/", "tests/e2e/", "tests/middleware/servers/", "tests/webapp/ezid/")
"""The folders whose files share servers or a browser."""

FIRST = (
    *TOGETHER,
    "tests/bindings/storage/",
    "tests/bindings/imports/",
    "tests/bindings/test_",
    "tests/cli/serving/",
    "tests/middleware/test_",
    "tests/webapp/management/",
    "tests/webapp/desk/",
    "tests/spreadsheets/",
    "tests/webapp/jobs/",
    "tests/test_",
)
"""The tests that take long. They start first, so that all processes end at about the same time."""


def unit(name: str) -> str:
    """Return the folder or file whose tests run in the process of this test."""
    return next((folder for folder in TOGETHER if name.startswith(folder)), name.partition("::")[0])


class Scheduling(LoadScopeScheduling):
    """Distribute folders and files."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        # As in the base class, which searches a list for each test.
        scope, tests = self.workqueue.popitem(last=False)
        self.assigned_work.setdefault(node, {})[scope] = tests
        names = self.registered_collections[node]
        node.send_runtest_some([number for number, name in enumerate(names) if tests.get(name) is False])


def is_whole(config: pytest.Config) -> bool:
    """Return whether a run has all folders."""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.keyword


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    if not is_whole(config):
        return None
    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    places = {folder: place for place, folder in enumerate(FIRST)}
    items.sort(key=lambda item: next((places[each] for each in FIRST if item.nodeid.startswith(each)), len(FIRST)))
