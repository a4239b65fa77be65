"""Order the files for the workers (`tests/workers.py`). Files that share servers or a browser run in one process."""

from __future__ import annotations

from collections import defaultdict

import pytest

TOGETHER = ("tests/e2e/", "tests/middleware/servers/", "tests/webapp/ezid/")
"""The folders whose files share servers or a browser."""

READING = (
    "tests/bindings/names/test_error_codes.py",
    "tests/cli/doctor/test_documented_codes.py",
    "tests/identifiers/registries/test_descriptions.py",
    "tests/test_catalogues.py",
    "tests/test_layout.py",
    "tests/test_patterns.py",
    "tests/test_references.py",
    "tests/test_style.py",
)
"""The files that read the code of the program. They run in one process, which parses it once (`tests/packages.py`)."""

DESCRIBED = ("tests/webapp/api/test_openapi.py", "tests/webapp/test_openapi.py")
"""The files that send the requests of a description. They run in one process, which loads Schemathesis once."""

SLOW = (
    READING[0],
    "tests/bindings/storage/databases/test_sqlite.py",
    "tests/bindings/test_replication.py",
    "tests/cli/serving/test_serve.py",
    "tests/cli/serving/test_server.py",
    "tests/test_workers.py",
)
"""The files that take longest. The first run has no times, and would start them late, because they have few tests."""

TIMES = "scheduling/seconds"
"""The key in the cache of pytest for the seconds of each file and folder in the last run of all tests."""

_seconds: defaultdict[str, float] = defaultdict(float)


def unit(name: str) -> str:
    """Return the folder or file whose tests run in one process."""
    file = name.partition("::")[0]
    for files in (READING, DESCRIBED):
        if file in files:
            return files[0]
    return next((each for each in TOGETHER if name.startswith(each)), file)


def units(session: pytest.Session) -> list[list[int]]:
    """Return the numbers of the tests of each file or folder, the one that takes longest last."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, item in enumerate(session.items):
        found[unit(item.nodeid)].append(number)
    known = _times(session.config)
    return [found[name] for name in sorted(found, key=lambda name: known.get(name, _guess(name, len(found[name]))))]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[unit(report.nodeid)] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if _has_cache(config) and config.args_source is config.ArgsSource.TESTPATHS and not config.option.keyword:
        times = _times(config) | {name: round(seconds, 2) for name, seconds in _seconds.items()}
        config.cache.set(TIMES, times)  # type: ignore[union-attr]


def _times(config: pytest.Config) -> dict[str, float]:
    return config.cache.get(TIMES, {}) if _has_cache(config) else {}  # type: ignore[union-attr]


def _has_cache(config: pytest.Config) -> bool:
    # Without the plugin, as with "-p no:cacheprovider", the attribute does not exist.
    return config.pluginmanager.has_plugin("cacheprovider")


def _guess(name: str, tests: int) -> float:
    return 60 if name in TOGETHER else 30 if name in SLOW else tests / 20
