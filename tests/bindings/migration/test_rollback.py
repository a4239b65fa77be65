"""A failed upgrade is rolled back to a real installation of the commit before the schema changed."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.databases import Cluster, required_binaries

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
CHANGE = "bindings/storage/versions.py"
MINT = ("mint", "12345/k5", "--digits", "--length", "4", "--sequential")
PAINTING, SCULPTURE = "https://museum.example/painting", "https://museum.example/sculpture"

Run = Callable[..., subprocess.CompletedProcess[str]]


def git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"this copy has no history: git {arguments[0]}: {done.stderr.decode()[:100]}")
    return done.stdout


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the program before the first commit with version 5 of the schema."""
    commits = git("log", "--format=%H", "-S", "VERSION = 5", "--", CHANGE).decode().split()
    if not commits:
        pytest.skip("this copy has no history of the schema")
    folder = tmp_path_factory.mktemp("before") / "ararat"
    with tarfile.open(fileobj=io.BytesIO(git("archive", f"{commits[-1]}^"))) as archive:
        archive.extractall(folder, filter="data")
    return folder.parent


def program(folder: Path | None, database: str) -> Run:
    """Return a function that runs the command of the installation in ``folder``, or of this one."""
    environ = os.environ | {"ARARAT_DATABASE": database} | ({} if folder is None else {"PYTHONPATH": str(folder)})

    def run(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "ararat", *map(str, arguments)]
        done = subprocess.run(line, env=environ, cwd="/", capture_output=True, text=True, check=False)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done

    return run


@pytest.mark.parametrize(
    ("kind", "newer"),
    [("sqlite", "export"), ("sqlite", "database"), ("postgresql", "export"), ("postgresql", "history")],
)
def test_a_rollback_gives_no_published_name_twice(
    kind: str, newer: str, before: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    backup = tmp_path / "backup.sqlite"
    cluster: Cluster | None = request.getfixturevalue("cluster") if kind == "postgresql" else None
    database = cluster.new_database() if cluster else str(tmp_path / "bindings.sqlite")
    old, new = program(before, database), program(None, database)
    old("init")
    assert old(*MINT, "--count", "3").stdout.split() == ["ark:12345/k50000", "ark:12345/k50001", "ark:12345/k50002"]
    old("prefix", "set", "12345/m1", "--who", "M")
    old("bind", "ark:12345/shown", "https://museum.example/shown")
    old("reserve", "ark:12345/later")
    # The backup before the upgrade is made by the new program, which the old one need not have.
    new("backup", backup)
    for arguments in (("show", "ark:12345/shown"), MINT, ("verify",), ("list",)):
        assert "ararat migrate" in " ".join(new(*arguments, code=2).stderr.split())
    new("migrate", "--no-backup")
    assert new(*MINT).stdout.split() == ["ark:12345/k50003"]
    new("bind", "ark:12345/k50003", PAINTING, "--resource", "painting")
    new("bind", "ark:12345/later", "https://museum.example/later")
    new("withdraw", "ark:12345/shown", "--reason", "privacy")
    source = tmp_path / f"newer.{'jsonl' if newer == 'history' else 'csv'}"
    new("export", *(["--history"] if newer == "history" else []), source)
    if newer == "database":
        source = tmp_path / "newer.sqlite"
        new("copy", database, source)
    if cluster:
        database = cluster.new_database()
        options = ["--no-owner", "--exit-on-error", f"--dbname={database}"]
        subprocess.run([required_binaries() / "pg_restore", *options, backup], check=True)
        old, new = program(before, database), program(None, database)
    else:
        for suffix in ("-wal", "-shm"):
            Path(f"{database}{suffix}").unlink(missing_ok=True)
        shutil.copy(backup, database)

    assert "ark:12345/k50003" in new("recover", "--from", source, "--dry-run", code=1).stdout
    new("recover", "--from", source, code=1)

    assert old(*MINT).stdout.split() == ["ark:12345/k50004"]
    old("bind", "ark:12345/k50003", SCULPTURE, "--resource", "sculpture", code=1)
    for name in ("ark:12345/k50003", "ark:12345/later"):
        old("delete", name, code=1)
        assert "was public" in old("show", name).stdout
    assert "withdrawn" in old("show", "ark:12345/shown").stdout
    old("verify")
    old("bind", "ark:12345/k50003", PAINTING, "--resource", "painting")
    old("bind", "ark:12345/later", "https://museum.example/later")
    assert "Nothing that the source knows differs." in " ".join(new("recover", "--from", source).stdout.split())
    # The second attempt to upgrade.
    new("migrate", "--no-backup")
    new("verify")
    assert new(*MINT).stdout.split() == ["ark:12345/k50005"]
