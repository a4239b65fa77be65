"""The files of docs/go-live.md: the units, the settings, log rotation, the backup and the Containerfile."""

from __future__ import annotations

import json
import os
import pwd
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.storage.databases.deadlines import PROGRESS_SECONDS
from ararat.middleware import open_bindings

from .fronts import DOCS, blocks, program_of
from .http_servers import Quiet, running
from .ports import free_port
from .waiting import until

PAGE = (DOCS / "go-live.md").read_text("utf-8")
FILES = dict(
    re.findall(
        r"`(/etc/(?:systemd|logrotate\.d)/[\w/.-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
)
UNITS = "/etc/systemd/system"
BESIDE = Path(sys.executable).parent
SETTINGS = next(block for block in blocks("go-live.md", "sh") if block.startswith("ARARAT_DATABASE="))
CONTAINER = blocks("go-live.md", "dockerfile")[0].replace("\\\n", "")


def values(unit: str, name: str) -> list[str]:
    """Return the values of a setting of a unit, in order."""
    return re.findall(rf"^{name}=(.*)$", FILES[f"{UNITS}/{unit}"], re.MULTILINE)


def here(text: str, folder: Path, programs: Path = BESIDE) -> str:
    """Replace the documented paths by those of the test."""
    paths = {"/opt/ararat/bin": programs, "/var/lib/ararat": folder, "/var/log/ararat": folder}
    for documented, path in paths.items():
        text = text.replace(documented, str(path))
    return text


def environment(folder: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in here(SETTINGS, folder).splitlines())


@pytest.fixture(scope="module")
def programs(search_path: str) -> Path:
    """Return the folder of a program ``ararat`` that starts quickly."""
    return Path(search_path.partition(":")[0])


@pytest.fixture
def names(tmp_path: Path) -> Path:
    """Return a folder with the documented database."""
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/about")
    return tmp_path


def test_the_page_has_each_file_and_uses_documented_variables() -> None:
    assert {path.rpartition("/")[2] for path in FILES} == {
        *("ararat.service", "workers.conf", "ararat-backup.service", "ararat-backup.timer", "ararat"),
        *("wsgi.conf", "asgi.conf"),
        *("ararat-digest.service", "ararat-digest.timer"),
    }
    # The variable of an option is its name in capitals (docs/settings.md).
    used = {f"--{name.lower().replace('_', '-')}" for name in re.findall(r"\bARARAT_([A-Z_]+)", PAGE)}
    assert {name for name in used if f"`{name}`" not in (DOCS / "settings.md").read_text("utf-8")} == set()
    assert values("ararat.service", "EnvironmentFile") == ["/etc/ararat.env"]


def test_the_commands_of_the_backup_unit_keep_a_verified_copy(names: Path, programs: Path) -> None:
    folder = names / "backups"
    folder.mkdir()
    for day, age in (("2020-01-01", 31), ("2020-02-01", 29)):
        (folder / f"{day}.sqlite").touch()
        changed = time.time() - age * 86400 - 7200
        os.utime(folder / f"{day}.sqlite", (changed, changed))
    rest = folder / f".{time.strftime('%Y-%m-%d')}.sqlite.part"
    rest.mkdir()
    (rest / "x.sqlite").write_bytes(b"the rest of a copy that was killed")
    days = {time.strftime("%Y-%m-%d")}
    # A running site has uncommitted pages in the second file of SQLite.
    with open_bindings(names / "bindings.sqlite") as bindings:
        bindings.bind("ark:12345/x6np2", "https://example.org/two")
        for command in values("ararat-backup.service", "ExecStart"):
            ran = subprocess.run(
                shlex.split(here(command, names, programs).replace("%%", "%")),
                cwd=folder,
                env=os.environ | environment(names),
                capture_output=True,
                check=False,
            )
            assert ran.returncode == 0, (command, ran)
    # The day can change while the commands run.
    days.add(time.strftime("%Y-%m-%d"))
    [new] = {path.name for path in folder.iterdir()} - {"2020-02-01.sqlite"}
    assert new.removesuffix(".sqlite") in days
    with open_bindings(folder / new) as copy:
        assert copy.count().number == 2


def test_the_digest_is_mailed_if_there_is_a_problem(names: Path, programs: Path) -> None:
    mailed, program = names / "mailed", names / "sendmail"
    program.write_text(f"#!/bin/sh\ncat > {mailed}\n")
    program.chmod(0o755)
    [command] = values("ararat-digest.service", "ExecStart")
    # systemd reads \\n as \n, and %% as %.
    command = here(command, names, programs).replace("%%", "%").replace("\\\\n", "\\n")
    run = shlex.split(command.replace("/usr/sbin/sendmail", str(program)))
    subprocess.run(run, env=os.environ | environment(names), check=True, capture_output=True, timeout=60)
    assert mailed.read_text().startswith("Subject: Ararat needs attention\n\n")
    assert "No backup was recorded." in mailed.read_text()


@pytest.mark.one_setup
@pytest.mark.parametrize("status", [204, 500])
def test_the_digest_is_sent_to_a_webhook(names: Path, programs: Path, status: int) -> None:
    received: list[tuple[str, Any]] = []

    class Webhook(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.headers["Content-Type"], json.loads(body)))
            self.send_response(status)
            self.end_headers()

    [command] = re.findall(r"^ExecStart=(.*example\.org/hook'?)$", PAGE, re.MULTILINE)
    with running(Webhook) as server:
        command = command.replace("https://example.org", f"http://127.0.0.1:{server.server_port}")
        run = shlex.split(here(command, names, programs).replace("%%", "%"))
        ran = subprocess.run(run, env=os.environ | environment(names), check=False, capture_output=True, timeout=60)
    [(media_type, digest)] = received
    assert media_type == "application/json"
    assert digest["problems"] == sum(fact["problem"] for fact in digest["facts"])
    # The unit fails if the digest does not arrive.
    assert (ran.returncode == 0) == (status == 204), ran


def test_the_backup_unit_has_a_time_limit() -> None:
    assert values("ararat-backup.service", "TimeoutStartSec") == ["2h"]


def units(folder: Path) -> dict[str, Path]:
    """Write the units into a folder as files, with the programs of this environment."""
    written = {}
    for path, content in FILES.items():
        name = path.removeprefix(f"{UNITS}/")
        if name == path:
            continue
        written[name] = folder / name
        written[name].parent.mkdir(exist_ok=True)
        written[name].write_text(content.replace("/opt/ararat/bin", str(BESIDE)), "utf-8")
    return written


@pytest.mark.long
def test_systemd_accepts_the_units_and_rates_them_as_hardened(tmp_path: Path) -> None:
    program = program_of("systemd-analyze", "systemd")
    found = units(tmp_path)
    checked = [str(path) for name, path in found.items() if not name.endswith(".conf")]
    verified = subprocess.run([program, "verify", *checked], capture_output=True, text=True, check=False, timeout=60)
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")
    for name, most in (("ararat.service", 15), ("ararat-backup.service", 25)):
        command = [program, "security", "--offline=yes", f"--threshold={most}", "--no-pager", str(found[name])]
        rated = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert rated.returncode == 0, rated.stdout + rated.stderr
    [moment] = values("ararat-backup.timer", "OnCalendar")
    subprocess.run([program, "calendar", moment], check=True, capture_output=True, timeout=60)


# Without new executable memory, as MemoryDenyWriteExecute=yes (PR_SET_MDWE, Linux 6.3).
CONFINED = """\
import ctypes, os, sys
refused = ctypes.CDLL(None, use_errno=True).prctl(65, 1, 0, 0, 0)
print("confined" if refused == 0 else "not confined", flush=True)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.long
def test_systemd_waits_longer_than_gunicorn_for_running_requests() -> None:
    from gunicorn.config import GracefulTimeout

    [seconds] = values("ararat.service", "TimeoutStopSec")
    assert int(seconds) > GracefulTimeout.default
    # Nor does a statement on a silent connection hold a stop.
    assert int(seconds) > PROGRESS_SECONDS


@pytest.mark.parametrize(
    "unit", ["ararat.service", pytest.param("ararat.service.d/workers.conf", marks=pytest.mark.long)]
)
def test_the_commands_of_the_units_start_with_the_settings(
    unit: str, names: Path, start_server: Callable[..., Any]
) -> None:
    command = values(unit, "ExecStart")[-1]
    settings = environment(names)
    port = free_port()
    settings["ARARAT_PORT"] = str(port)
    arguments = [part.replace(":8000", f":{port}") for part in shlex.split(here(command, names))]
    server = start_server([sys.executable, "-c", CONFINED, *arguments], settings, names)
    server.port = port
    server.wait_for("(?:not )?confined")
    until(lambda: answers(server))
    assert server.get("/healthz").json()["names"] == 1
    assert server.get("/ark:/12345/x6np1").header("Location") == "https://example.org/about"
    # The pages, their libraries and the passwords of accounts work without executable memory, too.
    assert server.get("/?q=ark:12345/x6np1").status == 200
    entries = [json.loads(line) for line in (names / "names.log").read_text("ascii").splitlines()]
    assert [entry["identifier"] for entry in entries] == ["ark:12345/x6np1"]
    assert server.stop() == 0


def answers(server: Any) -> bool:
    assert server.process.poll() is None, server.log()
    try:
        return server.get("/healthz").status == 200
    except OSError:
        return False


@pytest.mark.long
@pytest.mark.parametrize("unit", ["ararat.service", "ararat.service.d/workers.conf"])
def test_logrotate_loses_no_line_of_the_access_log(unit: str, names: Path, start_server: Callable[..., Any]) -> None:
    program = program_of("logrotate", "logrotate")
    user = pwd.getpwuid(os.geteuid()).pw_name
    names.chmod(0o755)
    rules = here(FILES["/etc/logrotate.d/ararat"], names)
    rules = rules.replace("create 0640 ararat ararat", f"create 0640 {user} {user}")
    rules = rules.replace("su ararat ararat", f"su {user} {user}")
    (names / "rotate.conf").write_text(rules, "utf-8")
    settings, port = environment(names), free_port()
    settings["ARARAT_PORT"] = str(port)
    command = here(values(unit, "ExecStart")[-1], names).replace(":8000", f":{port}")
    server = start_server(shlex.split(command), settings, names)
    server.port = port
    until(lambda: answers(server))
    for number in range(30):
        assert server.get(f"/ark:12345/n{number}").status == 404
        if number % 10 == 9:
            options = ["--force", "--state", str(names / "state"), str(names / "rotate.conf")]
            subprocess.run([program, *options], check=True, capture_output=True, timeout=60)
    assert server.get("/ark:12345/n30").status == 404
    assert server.stop() == 0
    logs = sorted(names.glob("names.log*"))
    assert [path.name for path in logs] == ["names.log", "names.log.1", "names.log.2.gz", "names.log.3.gz"]
    lines = subprocess.run(["zcat", "-f", *map(str, logs)], check=True, capture_output=True, text=True).stdout
    found = {json.loads(line)["identifier"] for line in lines.splitlines()}
    assert found == {f"ark:12345/n{number}" for number in range(31)}
    assert len(lines.splitlines()) == 31


@pytest.mark.long
def test_the_environment_and_the_health_check_of_the_container_work(
    tmp_path: Path, start_server: Callable[..., Any]
) -> None:
    settings = dict(re.findall(r"(ARARAT_\w+)=(\S+)", CONTAINER.partition("USER")[0]))
    assert settings["ARARAT_HOST"] == "0.0.0.0"  # noqa: S104 - the container publishes one port
    port = free_port()
    # Servers of tests listen on a loopback address only.
    settings |= {"ARARAT_HOST": "127.0.0.1", "ARARAT_PORT": str(port), "ARARAT_PREFIX": "https://example.org"}
    settings = {name: here(value, tmp_path) for name, value in settings.items()}
    [program] = json.loads(re.findall(r"^ENTRYPOINT (.*)$", CONTAINER, re.MULTILINE)[0])
    arguments = json.loads(re.findall(r"^CMD (.*)$", CONTAINER, re.MULTILINE)[0])
    server = start_server([BESIDE / program, *arguments], settings, tmp_path)
    server.port = port
    until(lambda: answers(server))
    assert [server.get("/", host=host).status for host in ("localhost", "example.org", "evil.example")] == [
        200,
        200,
        400,
    ]
    [check] = re.findall(r"HEALTHCHECK .*?CMD (\[.*\])$", CONTAINER, re.MULTILINE)
    command = [part.replace("8000", str(port)) for part in json.loads(check)]
    healthy = subprocess.run([sys.executable, *command[1:]], capture_output=True, check=False, timeout=60)
    assert healthy.returncode == 0, healthy.stderr
    with open_bindings(tmp_path / "bindings.sqlite") as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/about")
    assert server.get("/ark:12345/x6np1").status == 302
    server.wait_for('"identifier": ?"ark:12345/x6np1"')
    server.stop()
    sick = subprocess.run([sys.executable, *command[1:]], capture_output=True, check=False, timeout=60)
    assert sick.returncode == 1
