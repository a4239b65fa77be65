"""Workers run each test once. Each failure is reported, and also a process that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.waiting import until

CONFTEST = """\
import os, pathlib, sys
import pytest
sys.path.insert(0, {root!r})
pytest_plugins = ["tests.scheduling", "tests.workers"]

@pytest.fixture(scope="session", autouse=True)
def server():
    file = pathlib.Path(__file__).with_name(f"{{os.getpid()}}.started")
    file.touch()
    yield
    file.rename(file.with_suffix(".stopped"))
"""
FILES = {
    "conftest.py": CONFTEST.format(root=str(Path(__file__).parents[1])),
    "test_ends.py": """\
import os, signal

def test_before(): pass
def test_ends():
    print("the last words")
    os.kill(os.getpid(), signal.SIGKILL)
def test_after(): pass
""",
    "test_fails.py": """\
import time, pytest

@pytest.mark.timeout(0.2, func_only=True)
def test_hangs():
    print("printed before")
    time.sleep(30)
""",
    "test_passes.py": """\
import pytest

@pytest.mark.parametrize("number", range(20))
def test_passes(number, tmp_path): assert "worker" in tmp_path.parent.name
""",
    "test_waits.py": "import time\n\ndef test_waits():\n    open('waits', 'w').close()\n    time.sleep(30)\n",
}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """run(*arguments) runs the files of FILES in two workers."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)

    def run_(*arguments: str) -> subprocess.Popen[str]:
        options = ["-p", "pytest_timeout", "--processes", "2", "--rootdir", ".", "-o", "addopts="]
        command = [sys.executable, "-m", "pytest", *options, *arguments]
        environ = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.Popen(
            command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    return run_


def test_all_tests_run_and_each_failure_is_reported_with_its_output(
    run: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    output, _ = run("--junit-xml=report.xml", "--ignore=test_waits.py").communicate(timeout=100)
    assert "2 failed, 22 passed" in output
    assert "FAILED test_ends.py::test_ends - The process of this test ended with -9" in output
    assert "FAILED test_fails.py::test_hangs - Failed: Timeout" in output
    for printed in ("the last words", "printed before"):
        assert f"Captured stdout call -----------------------------\n{printed}" in output
    cases = ET.parse(tmp_path / "report.xml").getroot().iter("testcase")  # noqa: S314 - written by pytest
    assert len(list(cases)) == 24
    # The killed process could not stop its server.
    assert [len(list(tmp_path.glob(f"*.{state}"))) for state in ("started", "stopped")] == [1, 2]

    output, _ = run("--last-failed", "--ignore=test_waits.py").communicate(timeout=100)
    assert "2 failed in" in output


def test_a_run_ends_at_the_first_failure_if_asked(run: Callable[..., subprocess.Popen[str]]) -> None:
    output, _ = run("-x", "test_fails.py", "test_waits.py").communicate(timeout=100)
    assert "stopping after 1 failures" in output


@pytest.mark.one_setup
@pytest.mark.parametrize("number", [signal.SIGINT])
def test_an_interrupt_stops_the_servers_of_all_workers(
    run: Callable[..., subprocess.Popen[str]], tmp_path: Path, number: int
) -> None:
    process = run("test_waits.py", "test_passes.py")
    until((tmp_path / "waits").exists)
    process.send_signal(number)
    output, _ = process.communicate(timeout=100)
    assert "KeyboardInterrupt" in output
    assert list(tmp_path.glob("*.started")) == []
