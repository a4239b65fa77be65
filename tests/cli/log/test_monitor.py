"""`ararat monitor`: its output, its exit codes, its state file, and a database that was edited by hand."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from functools import partial
from http.server import SimpleHTTPRequestHandler

import pytest

from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey
from tests.http_servers import Quiet, running


def unwrapped(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_a_right_log_has_no_problem(ararat, published):
    done = ararat("monitor", str(published.folder), "--vkey", published.vkey)
    assert done.exit_code == 0
    assert unwrapped(done.stdout) == "No problem in the log example.org/log: read 1 entry of 1 name. "
    summary = json.loads(ararat("monitor", str(published.folder), "--vkey", published.vkey, "--json").stdout)
    assert (summary["entries"], summary["problems"], summary["consistent"]) == (1, 0, True)
    assert summary["checkpoint"].startswith("example.org/log\n1\n")


def test_a_name_that_was_given_to_another_thing_in_the_database_is_reported(ararat, published, database):
    """The operator edits the database without Ararat: its triggers are removed, and a name gets another resource."""
    edited = sqlite3.connect(database)
    with edited:
        triggers = [row[0] for row in edited.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in triggers:
            edited.execute(f"DROP TRIGGER {name}")
        edited.execute("UPDATE bindings SET resource = 'report 8', target = 'https://example.org/8'")
    edited.close()
    assert ararat("relocate", "ark:12345/doc", "https://example.org/9", "--actor", "second").exit_code == 0
    assert published.publish().exit_code == 0
    done = ararat("monitor", str(published.folder), "--vkey", published.vkey)
    assert done.exit_code == 1
    assert unwrapped(done.stdout) == (
        "entry 1: ark:12345/doc was given to another thing; entry 0 has another resource (second-thing) "
        "1 problem in the log example.org/log: read 2 entries of 1 name. "
    )
    lines = ararat("monitor", str(published.folder), "--vkey", published.vkey, "--json").stdout.splitlines()
    assert json.loads(lines[0])["finding"] == {
        "code": "second-thing",
        "place": "entry 1",
        "name": "ark:12345/doc",
        "message": "ark:12345/doc was given to another thing; entry 0 has another resource",
    }
    assert json.loads(lines[1])["problems"] == 1


def test_the_state_file_detects_another_history(ararat, published, tmp_path, serve_folder):
    state, old = tmp_path / "seen", tmp_path / "old"
    shutil.copytree(published.folder, old)
    url = serve_folder(published.folder)
    given = ("--state", str(state), "--allow-network", "127.0.0.0/8")
    assert ararat("monitor", url, *given, "--vkey", published.vkey).exit_code == 0
    assert state.read_text("utf-8").startswith(f"{published.vkey}\n")
    assert ararat("relocate", "ark:12345/doc", "https://example.org/9").exit_code == 0
    assert published.publish().exit_code == 0
    # The file of the first run contains the key.
    assert ararat("monitor", f"{url}/", *given).exit_code == 0
    before = state.read_bytes()
    done = ararat("monitor", str(old), "--state", str(state))
    assert done.exit_code == 1
    assert "checkpoint: the number of entries was 2 at the last visit, and is 1 now (shrunk)" in unwrapped(done.stdout)
    assert state.read_bytes() == before
    state.write_bytes(before.replace(b"\n2\n", b"\n3\n"))
    refused = ararat("monitor", str(old), "--state", str(state))
    assert refused.exit_code == 2
    assert "the signature of example.org/log is wrong" in unwrapped(refused.stderr)


def test_a_server_that_lacks_files_is_reported(ararat, published, tmp_path, serve_folder):
    given = ("--vkey", published.vkey, "--allow-network", "127.0.0.0/8")
    (published.folder / "tile/entries/000.p/1").unlink()
    done = ararat("monitor", serve_folder(published.folder), *given)
    assert done.exit_code == 1
    assert "answers 404; the entries from 0 on are not checked (missing)" in unwrapped(done.stdout)
    (tmp_path / "empty").mkdir()
    empty = ararat("monitor", serve_folder(tmp_path / "empty"), *given)
    assert (empty.exit_code, "answers 404" in unwrapped(empty.stderr)) == (69, True)


def test_a_tile_of_another_length_is_not_read_to_its_end(ararat, published, serve_folder):
    with (published.folder / "tile/0/000.p/1").open("wb") as stream:
        stream.truncate(1_000_000)
    given = ("--vkey", published.vkey, "--allow-network", "127.0.0.0/8")
    done = ararat("monitor", serve_folder(published.folder), *given)
    assert done.exit_code == 1
    assert "is longer than 8,192 bytes (missing)" in unwrapped(done.stdout)


def test_a_policy_requires_witnesses(ararat, published, tmp_path):
    witness = SignerKey.create("witness.example", COSIGNATURE).verifier
    (tmp_path / "policy").write_text(f"log {published.vkey}\nwitness w {witness}\nquorum w\n", "utf-8")
    done = ararat("monitor", str(published.folder), "--policy", str(tmp_path / "policy"))
    assert done.exit_code == 1
    assert "has not seen this checkpoint; seen by: no witness (quorum)" in unwrapped(done.stdout)


class _Kept(Quiet, SimpleHTTPRequestHandler):
    """Keeps connections, and closes each one after its second response."""

    protocol_version = "HTTP/1.1"
    connections = requests = 0

    def setup(self):
        type(self).connections += 1
        self.number = 0
        super().setup()

    def do_GET(self):
        type(self).requests += 1
        self.number += 1
        super().do_GET()
        # The client does not know that this connection ends now.
        self.close_connection = self.close_connection or self.number == 2


def test_a_connection_is_kept_and_opened_again_when_the_server_closes_it(ararat, published):
    with running(partial(_Kept, directory=str(published.folder))) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        done = ararat("monitor", url, "--vkey", published.vkey, "--allow-network", "127.0.0.0/8")
    assert (done.exit_code, done.stderr) == (0, "")
    # The checkpoint, the entries, and the hashes.
    assert (_Kept.requests, _Kept.connections) == (3, 2)


def test_a_named_pipe_is_a_problem(ararat, published):
    path = published.folder / "tile/entries/000.p/1"
    path.unlink()
    os.mkfifo(path)
    done = ararat("monitor", str(published.folder), "--vkey", published.vkey)
    assert done.exit_code == 1
    assert "it is not a regular file" in unwrapped(done.stdout)
    (published.folder / "checkpoint").unlink()
    os.mkfifo(published.folder / "checkpoint")
    done = ararat("monitor", str(published.folder), "--vkey", published.vkey)
    assert done.exit_code == 1
    assert "it is not a regular file (checkpoint)" in unwrapped(done.stdout)


def test_hostile_files_are_not_printed_raw(ararat, published):
    (published.folder / "tile/entries/000.p/1").write_bytes(b"\x00\x08\x1b[2J\xff\n\r\x00")
    done = ararat("monitor", str(published.folder), "--vkey", published.vkey)
    assert done.exit_code == 1
    assert "entry 0: the entry \\u{1b}[2J" in unwrapped(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((".",), 64, "--policy or --vkey"),
        ((".", "--vkey", "KEY"), 66, "checkpoint cannot be read"),
        (("missing", "--vkey", "KEY"), 66, "cannot be read"),
        (("http://127.0.0.1:9/log", "--vkey", "KEY"), 69, "--allow-network"),
        (("http://[/log", "--vkey", "KEY"), 69, "is not the URL of a file"),
        ((".", "--vkey", "KEY", "--state", "/"), 66, "cannot be read"),
        ((".", "--state", "hostile"), 2, "not the key of a log"),
    ],
)
def test_wrong_use_is_explained(ararat, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hostile").write_bytes(b"\xff\x1b[2J")
    key = str(SignerKey.create("example.org/log").verifier)
    done = ararat("monitor", *[key if each == "KEY" else each for each in arguments])
    assert done.exit_code == code
    assert message in unwrapped(done.stderr)


def test_a_state_file_that_cannot_be_written_is_named(ararat, published, tmp_path):
    done = ararat("monitor", str(published.folder), "--vkey", published.vkey, "--state", str(tmp_path / "no/seen"))
    assert done.exit_code == 74
    assert "cannot write" in unwrapped(done.stderr)
