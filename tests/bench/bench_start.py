"""Measure the start of the command: the processor time of the whole process."""

from __future__ import annotations

import os
import subprocess
import sys

from ararat.middleware import open_bindings

TURNS = 10


def bench_start(tell, tmp_path, in_turns):
    file = str(tmp_path / "bindings.sqlite")
    with open_bindings(file, create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/map")
    inspected = "https://example.org/ark:/12345/x6-np1"
    commands = {
        "python -c pass": ["-c", "pass"],
        "ararat --version": ["-m", "ararat", "--version"],
        "ararat inspect URL": ["-m", "ararat", "inspect", inspected],
        "ararat show ID, SQLite": ["-m", "ararat", "show", "ark:12345/x6np1", "--database", file],
    }
    # An installed package has compiled modules. The first turn compiles those of this checkout.
    environ = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    taken = {name: [] for name in commands}
    for turn, name in in_turns(commands, TURNS + 1):
        process = subprocess.Popen(
            [sys.executable, *commands[name]], cwd=tmp_path, env=environ, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, name
        if turn:
            taken[name].append((usage.ru_utime + usage.ru_stime) * 1000)
    rows = {name: [times, [min(times)]] for name, times in taken.items()}
    tell("Start the command", ["ms", "least ms"], rows, budget="the least below 150 ms")


SITES = """
import sys, time
from ararat.middleware import open_bindings
from ararat.webapp.app import create_app

with open_bindings(sys.argv[1]) as bindings:
    for _ in range(2):
        begun = time.process_time()
        app = create_app(bindings)
        created = time.process_time()
        assert app.test_client().get("/").status_code == 200
        print(created - begun, time.process_time() - created)
"""


def bench_sites(tell, tmp_path):
    """The first site of a process builds what the others share."""
    file = tmp_path / "bindings.sqlite"
    open_bindings(file, create=True).close()
    taken = {f"{site} site, {part}": [] for site in ("first", "second") for part in ("created", "first page")}
    for _ in range(TURNS):
        done = subprocess.run([sys.executable, "-c", SITES, file], capture_output=True, check=True, text=True)
        for times, seconds in zip(taken.values(), done.stdout.split(), strict=True):
            times.append(float(seconds) * 1000)
    rows = {name: [times, [min(times)]] for name, times in taken.items()}
    tell("Several inspectors in a process", ["ms", "least ms"], rows, budget="a second site below 10 ms")
