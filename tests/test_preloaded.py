"""Processes of tests that are forked are like those that are started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Server
from tests.preloaded import ARARAT, Process, can_start

STATE = """\
import json, os, signal, sys
signals = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)]
state = [sys.argv, os.getcwd(), dict(os.environ), os.getpgrp() == os.getpid(), os.isatty(0), __name__, sys.path[1:3]]
print(json.dumps([*state, [getattr(each, "__name__", str(each)) for each in signals], os.umask(0)]))
sys.exit(7)
"""


def test_a_forked_process_is_like_a_started_one(start_server: Callable[..., Server], tmp_path: Path) -> None:
    found: list[object] = []
    for preloaded in (True, False):
        command = [sys.executable, "-c", STATE, "one", "two words"]
        server = start_server(command, {"A": "ü"}, tmp_path, preloaded=preloaded)
        assert isinstance(server.process, Process) == preloaded
        assert server.process.wait(20) == 7
        found.append(json.loads(server.log()))
    assert found[0] == found[1]


def test_a_forked_script_is_like_a_started_one(start_server: Callable[..., Server], tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "script.py").write_text(f"import beside\n{STATE}")
    found = [
        (server.process.wait(20), json.loads(server.log()))
        for preloaded in (True, False)
        for server in [start_server([sys.executable, "script.py", "one"], {}, tmp_path, preloaded=preloaded)]
    ]
    assert found[0] == found[1]
    assert found[0][0] == 7


def test_a_program_for_scripts_is_like_the_command(search_path: str, tmp_path: Path) -> None:
    def run(path: str, script: str) -> tuple[int, str, str]:
        options: dict[str, Any] = {"cwd": tmp_path, "env": os.environ | {"PATH": path}, "capture_output": True}
        done = subprocess.run(["/bin/sh", "-c", script], text=True, timeout=100, check=False, **options)
        return done.returncode, done.stdout, done.stderr

    usual = search_path.partition(":")[2]
    for script in ("ararat --version", "echo ark:12345/x | ararat inspect -", "ararat inspect"):
        assert run(search_path, script) == run(usual, script)


def test_the_end_is_that_of_any_python(start_server: Callable[..., Server]) -> None:
    for code, expected in (("1/0", 1), ("import atexit; atexit.register(print, 'at the end')", 0)):
        assert start_server([sys.executable, "-c", code]).process.wait(20) == expected
    waiting = start_server([sys.executable, "-c", "print('ready'); import time; time.sleep(60)"])
    waiting.wait_for("ready")
    assert waiting.process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.process.wait(0.01)
    waiting.process.send_signal(signal.SIGKILL)
    assert waiting.process.wait(20) == -signal.SIGKILL


def test_output_is_not_delayed_and_errors_are_printed(start_server: Callable[..., Server]) -> None:
    server = start_server([sys.executable, "-c", "print('first'); raise SystemExit('second')"])
    assert server.process.wait(20) == 1
    assert server.log() == "first\nsecond\n"


def test_a_command_reads_its_input_and_keeps_its_streams_apart(run_command: Callable[..., Any]) -> None:
    code = "import sys, warnings; print(sys.stdin.read(), ascii(sys.argv[1])); warnings.warn('late')"
    done = run_command(sys.executable, "-W", "error", "-c", code, b"a\xff", given="ü".encode())
    assert (done.returncode, done.stdout.decode()) == (1, "ü 'a\\udcff'\n")
    assert done.stderr.endswith(b"UserWarning: late\n")


def test_commands_with_variables_of_python_are_started_as_usual() -> None:
    assert can_start([str(ARARAT), "serve"], {"ARARAT_DATABASE": "x"})
    assert can_start([sys.executable, "-m", "gunicorn"], {"PYTHONPATH": "x"})
    assert not can_start([str(ARARAT), "serve"], {"PYTHONUTF8": "0"})
    assert not can_start([sys.executable, "-m", "gunicorn"], {"PROMETHEUS_MULTIPROC_DIR": "x"})
    assert can_start([sys.executable, "script.py"], {})
    assert not can_start([sys.executable, "-I", "script.py"], {})
    assert not can_start(["nginx"], {})
