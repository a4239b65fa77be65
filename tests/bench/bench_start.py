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
