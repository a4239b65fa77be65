"""`ararat log`: its effects, its output and its exit codes."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from ararat.bindings.log.notes.checkpoints import read_checkpoint
from ararat.bindings.log.notes.keys import VerifierKey
from tests.wrapping import unwrapped

ORIGIN = "example.org/log"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def run(bound, folder):
    """run(command, ...) runs `ararat log COMMAND` for a database with one name and an empty log."""
    log = lambda command, *more: bound("log", command, "--dir", str(folder), *more)  # noqa: E731
    assert log("init", "--origin", ORIGIN).exit_code == 0
    return log


def test_init_prints_the_public_key_and_protects_the_secret_one(bound, folder):
    done = bound("log", "init", "--origin", ORIGIN, "--dir", str(folder))
    assert done.exit_code == 0
    key = VerifierKey.of_text(done.stdout.splitlines()[0])
    assert key.name == ORIGIN
    secret = folder.with_name("log.key")
    assert secret.stat().st_mode & 0o777 == 0o600
    assert secret.read_text("utf-8").strip() not in done.stdout
    assert read_checkpoint((folder / "checkpoint").read_bytes(), key)[0].size == 0


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("log init --origin example.org/log --dir {}", id="log init"),
        pytest.param("witness init --name example.org/log --dir {}", id="witness init"),
        pytest.param("log publish --dir {}", id="log publish"),
        pytest.param("verify-name ark:12345/doc --proof none", id="verify-name"),
        pytest.param("monitor {}", id="monitor"),
    ],
)
def test_a_missing_package_for_signatures_is_named(bound, folder, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    done = bound(*command.format(folder).split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert "run: pip install 'ararat[log]'" in unwrapped(done.stderr)
    assert not folder.with_name("log.key").exists()


def test_publish_and_status(run, bound):
    status = run("status")
    assert (status.exit_code, "New           1 change\n" in status.stdout) == (1, True)
    assert run("publish").stdout == "1 entry added. The log has 1 entry.\n"
    assert run("publish").stdout == "Nothing to add. The log has 1 entry.\n"
    assert run("status").exit_code == 0
    assert bound("relocate", "ark:12345/doc", "https://example.org/2").exit_code == 0
    assert bound("reserve", "ark:12345/later").exit_code == 0
    found = json.loads(run("status", "--json").stdout)
    assert (found["origin"], found["published"], found["recorded"], found["new"], found["fault"]) == (
        ORIGIN,
        1,
        1,
        1,
        None,
    )
    done = json.loads(run("publish", "--json").stdout)
    assert (done["added"], done["size"]) == (1, 2)


def test_an_old_database_is_refused_and_recovered(run, bound, database, tmp_path):
    shutil.copyfile(database, tmp_path / "backup")
    assert bound("bind", "ark:12345/lost", "/lost").exit_code == 0
    assert run("publish").exit_code == 0
    for path in tmp_path.glob("bindings.sqlite*"):
        path.unlink()
    shutil.copyfile(tmp_path / "backup", database)
    refused = run("publish")
    assert refused.exit_code == 2
    assert "has 2 entries, and the database has recorded 0 (log-restored)" in re.sub(r"\s+", " ", refused.stderr)
    assert "run ararat log recover" in re.sub(r"\s+", " ", refused.stderr)
    status = run("status")
    assert (status.exit_code, "Fault" in status.stdout) == (1, True)
    repaired = run("recover")
    assert (repaired.exit_code, repaired.stdout) == (
        1,
        "Recorded 2 entries of the folder in the database.\nlost: ark:12345/lost, change 1\n",
    )
    assert run("publish").exit_code == 0


def test_a_lost_folder_is_recovered(run, folder):
    assert run("publish").exit_code == 0
    shutil.rmtree(folder)
    assert run("publish").exit_code == 2
    assert run("recover").stdout == "Wrote the files of 1 entry.\n"
    assert json.loads(run("recover", "--json").stdout) == {"adopted": 0, "rebuilt": 1, "lost": 0, "names": []}
    assert run("status").exit_code == 0


def test_a_file_logs_the_differences_of_its_versions(ararat, folder, tmp_path):
    table = tmp_path / "names.csv"
    table.write_text("identifier,target,resource\nark:12345/a,/a,1\nark:12345/b,/b,2\n", "utf-8")
    log = lambda command, *more: ararat("log", command, "--database", str(table), "--dir", str(folder), *more)  # noqa: E731
    assert log("publish").exit_code == 2
    assert log("init", "--origin", ORIGIN).exit_code == 0
    assert log("publish").stdout == "2 entries added. The log has 2 entries.\n"
    table.write_text("identifier,target,resource\nark:12345/a,/a,1\nark:12345/b,/bb,2\nark:12345/c,/c,3\n", "utf-8")
    assert log("publish").stdout == "2 entries added. The log has 4 entries.\n"
    assert log("publish").stdout == "Nothing to add. The log has 4 entries.\n"
    table.write_text("identifier,target,resource\nark:12345/a,/a,other\n", "utf-8")
    refused = log("publish")
    assert refused.exit_code == 1
    assert re.search(r"line 2: .*\(other-resource\)", re.sub(r"\s+", " ", refused.stderr))
    assert log("status").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("init", "--origin", "two words"), 2, "log-origin"),
        (("init", "--origin", ORIGIN, "--key", "log/secret"), 2, "is inside of the public folder"),
        (("init", "--origin", ORIGIN, "--database", "missing.sqlite"), 69, "there is no database"),
        (("publish",), 2, "log-key"),
        (("status",), 2, "log-missing"),
        (("status", "--database", "missing.csv"), 69, "there is no file"),
        (("init",), 64, "--origin"),
    ],
)
def test_wrong_use_is_explained(bound, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    done = bound("log", *arguments, "--dir", "log")
    assert done.exit_code == code
    assert message in re.sub(r"\s+", " ", done.stderr)
    assert not (tmp_path / "log").exists()


def test_redact_removes_personal_values(bound, run):
    assert run("publish").exit_code == 0
    done = bound("redact", "ark:12345/doc", "--actor", "officer")
    assert (done.exit_code, done.stdout) == (0, "Redacted 1 change; 1 in the log. The redaction is change 2.\n")
    history = bound("history", "ark:12345/doc").stdout
    assert "first" not in history
    assert "redacted" in history
    assert run("publish").stdout == "1 entry added. The log has 2 entries.\n"
    done = bound("redact", "ark:12345/doc", "--reason", "Order 12/26")
    assert done.exit_code == 0
    audit = bound("account", "audit").stdout
    assert (audit.count("redact ark:12345/doc"), "redacted: Order 12/26" in audit) == (2, True)
    assert bound("redact", "ark:12345/doc", "--reason", "a\nb").exit_code == 2
    assert bound("redact", "ark:12345/doc", "--revision", "9").exit_code == 2
    assert bound("redact", "ark:12345/other").exit_code == 1


def test_redact_removes_earlier_texts_of_a_prefix_and_of_a_deleted_name(bound):
    for contact in ("sem@lake.example", "arks@lake.example"):
        assert bound("prefix", "set", "ark:12345/x5", "--contact", contact, "--actor", "Sem").exit_code == 0
    done = bound("redact", "--prefix", "ark:12345/x5")
    assert (done.exit_code, done.stdout) == (0, "Redacted 2 changes; 0 in the log. The redaction is change 3.\n")
    assert "sem@" not in bound("prefix", "history", "ark:12345/x5").stdout.lower()
    assert bound("redact", "--prefix", "ark:12345/x5", "--resource").exit_code == 64
    assert bound("redact", "--prefix", "ark:12345/x5", "--reason", "x").exit_code == 64
    assert bound("redact", "--prefix", "ark:12345/x6").exit_code == 2
    assert bound("reserve", "ark:12345/x5a").exit_code == 0
    assert bound("delete", "ark:12345/x5a").exit_code == 0
    assert bound("redact", "ark:12345/x5a").stdout == "Redacted 2 changes; 0 in the log. The name was deleted.\n"
