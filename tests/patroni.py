"""Three hosts with etcd, Patroni, PostgreSQL and PgBouncer, configured by the blocks of docs/high-availability.md."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.databases import server_user
from tests.waiting import until

DOCUMENTED = Path(__file__).parents[1] / "docs" / "high-availability.md"
HOSTS = (1, 2, 3)
PROGRAMS = {
    "etcd": "etcd-server",
    "patroni": "patroni",
    "patronictl": "patroni",
    "pgbouncer": "pgbouncer",
}
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"


class PatroniCluster:
    """Three database hosts on loopback addresses, such as 127.5.6.1 to 127.5.6.3, with the documented ports.

    Each host is the set of its processes, which are signalled together as if the machine failed. The processes run as
    an unprivileged user in a temporary folder.
    """

    def __init__(self, binaries: Path) -> None:
        self._programs = {program: _path_of(program) for program in PROGRAMS}
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="ararat-patroni-"))
        self._as_user = server_user()
        # Other tests of this machine can use the same ports at other addresses.
        self._network = f"127.{random.randrange(1, 255)}.{random.randrange(256)}"  # noqa: S311
        self._blocks = re.findall(r"^```(sh|yaml|ini|sql)\n(.*?)^```$", _section(), re.MULTILINE | re.DOTALL)
        self._started: dict[int, dict[str, subprocess.Popen[Any]]] = {host: {} for host in HOSTS}
        self._configured: list[Path] = []
        self._direct, self._pooled = re.findall(r"^ {4}(postgresql://\S+)$", _section(), re.MULTILINE)

    @property
    def direct_url(self) -> str:
        """The documented URL of the three PostgreSQL servers."""
        return self._local(self._direct)

    @property
    def pooled_url(self) -> str:
        """The documented URL of the three PgBouncers."""
        return self._local(self._pooled)

    def url_of(self, host: int) -> str:
        """Return the URL of the PostgreSQL server of one host."""
        return self.direct_url.replace(f"{self._network}.1,{self._network}.2,{self._network}.3", self.address(host))

    def superuser_url(self, host: int) -> str:
        """Return the URL of the database of the superuser at one host."""
        return f"postgresql://postgres:secret-of-postgres@{self.address(host)}/postgres?connect_timeout=2"

    def address(self, host: int) -> str:
        """Return the loopback address of a host."""
        return f"{self._network}.{host}"

    def start(self) -> None:
        """Start all hosts and create the database."""
        for host in HOSTS:
            for folder in ("etcd", "postgresql", "etc"):
                (self._place(host) / folder).mkdir(parents=True)
            self._write(host, "config.yml", self._block("yaml", host))
            self._write(host, "pgbouncer.ini", self._block("ini", host))
            users = re.findall(r'`("\w+" "[\w-]+")`', _section())
            self._write(host, "userlist.txt", "\n".join(users))
        if user := self._as_user.get("user"):
            for path in (self._folder, *self._folder.rglob("*")):
                os.chown(path, user, self._as_user["group"])
        for host in HOSTS:
            self.start_host(host)
        self.wait_until_complete()
        ((_, statements),) = [block for block in self._blocks if block[0] == "sql"]
        with psycopg.connect(self.superuser_url(self.primary() or 1), autocommit=True) as connection:
            for statement in filter(None, map(str.strip, statements.split(";"))):
                connection.execute(statement.encode())

    def start_host(self, host: int) -> None:
        """Start all programs of a host, which is new or has failed."""
        environ = dict(line.split("=", 1) for line in self._block("sh", host).split())
        etc = self._place(host) / "etc"
        self._run(host, ["etcd"], environ | {"ETCD_LOG_LEVEL": "error"})
        self._run(host, ["patroni", str(etc / "config.yml")], {})
        self._run(host, ["pgbouncer", "-q", str(etc / "pgbouncer.ini")], {})

    def signal_host(self, host: int, number: signal.Signals) -> None:
        """Send a signal to all processes of a host, as if its machine failed."""
        for process in self._started[host].values():
            _signal_all(process.pid, number)
        # PostgreSQL is not always a descendant of Patroni.
        with contextlib.suppress(OSError):
            self.signal_postgresql(host, number)
        if number == signal.SIGKILL:
            for process in self._started[host].values():
                process.wait(10)
            self._started[host].clear()

    def signal_postgresql(self, host: int, number: signal.Signals) -> None:
        """Send a signal to the PostgreSQL server of a host and all its processes, but not to the other programs."""
        first = (self._place(host) / "postgresql" / "ararat" / "postmaster.pid").read_text().splitlines()[0]
        _signal_all(int(first), number)

    def wait_until_complete(self) -> None:
        """Wait until both standbys stream."""
        until(self.is_complete, 120, self.logs)

    def switch_over(self) -> None:
        """Make a standby the primary, as an administrator does."""
        place = self._place(1) / "etc" / "config.yml"
        command = [self._programs["patronictl"], "-c", str(place), "switchover", "ararat", "--force"]
        subprocess.run(command, check=True, capture_output=True, timeout=60, **self._common())

    def primary(self) -> int | None:
        """Return the host that holds the lock of the leader and runs as primary, or None."""
        return next((host for host, role, _, _ in self._members() if role in ("leader", "master", "primary")), None)

    def is_complete(self) -> bool:
        """Return whether there is a primary, and both standbys stream, one of them synchronously."""
        members = self._members()
        return (
            sorted(role for _, role, _, _ in members) == ["leader", "replica", "sync_standby"]
            and all(state in ("running", "streaming") for _, _, state, _ in members)
            and len({timeline for _, _, _, timeline in members}) == 1
            and all(map(self._answers, HOSTS))
        )

    def _answers(self, host: int) -> bool:
        """Return whether the PostgreSQL server of a host accepts connections. Patroni can report an older state."""
        with contextlib.suppress(psycopg.Error), psycopg.connect(self.superuser_url(host)):
            return True
        return False

    def logs(self) -> str:
        """Return the ends of all logs."""
        return "\n\n".join(
            f"{file}\n{file.read_text(errors='replace')[-3000:]}" for file in self._folder.rglob("*.log")
        )

    def remove(self) -> None:
        """Stop all programs and delete their files."""
        for host in HOSTS:
            self.signal_host(host, signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _members(self) -> list[tuple[int, str, str, int | None]]:
        """Return host, role, state and timeline of each member, as Patroni reports them."""
        for host in HOSTS:
            with contextlib.suppress(OSError, ValueError):
                address = f"http://{self.address(host)}:8008/cluster"
                with urllib.request.urlopen(address, timeout=2) as answer:
                    members = json.load(answer)["members"]
                return [
                    (int(each["name"].removeprefix("db")), each["role"], each["state"], each.get("timeline"))
                    for each in members
                ]
        return []

    def _place(self, host: int) -> Path:
        return self._folder / f"db{host}"

    def _write(self, host: int, name: str, text: str) -> None:
        (self._place(host) / "etc" / name).write_text(text)

    def _block(self, kind: str, host: int) -> str:
        """Return a block of the documentation for this host. Only addresses and folders differ."""
        ((_, text),) = [block for block in self._blocks if block[0] == kind]
        # As the documentation describes: the lines with all hosts are equal everywhere.
        own = "\n".join(
            line if "10.0.0.2" in line else line.replace("10.0.0.1", f"10.0.0.{host}").replace("db1", f"db{host}")
            for line in text.splitlines()
        )
        place = str(self._place(host))
        folders = {
            "/var/lib/etcd": f"{place}/etcd",
            "/var/lib/postgresql": f"{place}/postgresql",
            "/var/log/postgresql": place,
            "/var/run/postgresql": place,
            "/etc/pgbouncer": f"{place}/etc",
            "/usr/lib/postgresql/15/bin": str(self._binaries),
        }
        for documented, used in folders.items():
            own = own.replace(documented, used)
        # A client of a loopback address has the address 127.0.0.1.
        return self._local(own.replace("10.0.0.0/24", "127.0.0.0/8"))

    def _local(self, text: str) -> str:
        return text.replace("10.0.0.", f"{self._network}.")

    def _run(self, host: int, command: Sequence[str], environ: dict[str, str]) -> None:
        common = self._common()
        with (self._place(host) / f"{command[0]}.out.log").open("ab") as log:
            process: subprocess.Popen[Any] = subprocess.Popen(
                [self._programs[command[0]], *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **common | {"env": common["env"] | environ},
            )
        self._started[host][command[0]] = process

    def _common(self) -> dict[str, Any]:
        environ = {"PATH": f"{self._binaries}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(self._folder)}
        return {"cwd": self._folder, "env": environ, **self._as_user}


def _section() -> str:
    return DOCUMENTED.read_text("utf-8").partition("## Patroni\n")[2].partition("\n## ")[0]


def _path_of(program: str) -> str:
    found = shutil.which(program, path=_PATH)
    if found is None:
        pytest.skip(f"{program} is not installed (apt-get install {PROGRAMS[program]})")
    return found


def _signal_all(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process and all its descendants."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    pending = [pid]
    while pending:
        process = pending.pop()
        pending += parents.get(process, [])
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)
