"""Test the place of a name in the public log that its description shows."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.keys import COSIGNATURE, ED25519, SignerKey
from ararat.bindings.log.notes.notes import SignedNote, sign_note
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.log.tree.entries import LogEntry
from ararat.bindings.log.tree.proofs import Proof
from ararat.bindings.names.binding import rfc3339
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware, import_table, open_bindings
from ararat.middleware.log import logged_names
from tests.asgi_client import Client as ASGIClient

JSON = "?info&format=json"


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [])
    return [b"the site"]


def client_of(bindings: Bindings, folder: Path | LogFolder) -> Client:
    return Client(ResolverMiddleware(site, bindings, log="/log", log_folder=str(folder)))


def cosign(folder: LogFolder, *keys: SignerKey) -> None:
    """Add signatures to the published checkpoint."""
    note = SignedNote.of_bytes(folder.checkpoint() or b"")
    added = sign_note(note.text, keys, 1_795_000_000).signatures
    folder.publish(bytes(SignedNote(text=note.text, signatures=(*note.signatures, *added))))


def witness(name: str, secret: int = 1) -> SignerKey:
    return SignerKey(name=name, secret=bytes([secret] * 32), algorithm=COSIGNATURE)


def place(client: Client, name: str) -> dict[str, Any] | None:
    answer = client.get(f"/{name}{JSON}")
    assert answer.status_code == 200
    return answer.get_json().get("log")


def shown(client: Client, name: str) -> dict[str, Any]:
    found = place(client, name)
    assert found is not None
    return found


def test_each_format_shows_the_first_entry_of_a_name(larger_log):
    log = larger_log()
    log.bindings.bind("ark:12345/x3", "/moved", resource="thing 3")
    log.publish()
    client = client_of(log.bindings, log.folder)
    first = log.entries()[3]
    assert first.key == "ark:12345/x3"
    since = rfc3339(log.bindings.history("ark:12345/x3")[0].after.changed)
    proof = "/ark:12345/x3?proof"
    assert place(client, "ark:12345/x3") == {"entry": 3, "since": since, "witnesses": 0, "proof": proof}
    record = client.get("/ark:12345/x3?info&format=erc").text
    assert f"log_entry: 3\nlog_since: {since}\nlog_witnesses: 0\nlog_proof: {proof}\n" in record
    page = client.get("/ark:12345/x3?info").text
    assert f'In the public log with its changes since <time datetime="{since[:10]}' in page
    assert ", entry 3. " in page
    assert "witness" not in page
    assert '<a href="/ark:12345/x3?proof" rel="nofollow">Proof</a>' in page
    assert LogEntry.of_bytes(Proof.of_bytes(client.get(proof).data).extra).revision == 2


def test_the_witnesses_of_the_published_checkpoint_are_counted(larger_log):
    log = larger_log()
    client = client_of(log.bindings, log.folder)
    assert shown(client, "ark:12345/x0")["witnesses"] == 0
    cosign(log.folder, witness("w1.example"))
    assert "seen by one witness." in client.get("/ark:12345/x0?info").text
    # A second key of a witness, a cosignature by the log itself and a signature of another type do not count.
    other = SignerKey(name="w3.example", secret=bytes(32), algorithm=ED25519)
    cosign(log.folder, witness("w1.example", 2), witness("example.org/log"), other, witness("w2.example"))
    assert shown(client, "ark:12345/x0")["witnesses"] == 2
    assert "seen by 2 witnesses." in client.get("/ark:12345/x0?info").text
    german = client.get("/ark:12345/x0?info", headers={"Accept-Language": "de"}).text
    assert "Eintrag 0, gesehen von 2 Zeugen." in german


def test_a_name_is_shown_when_its_first_change_is_published(larger_log):
    log = larger_log()
    client = client_of(log.bindings, log.folder)
    assert place(client, "ark:12345/n0") is None
    assert "public log" not in client.get("/ark:12345/n0?info").text
    # A publication that was interrupted has numbered the entry, and the checkpoint does not contain it.
    old = log.folder.checkpoint()
    log.publish()
    new = log.folder.checkpoint()
    log.folder.publish(old)
    assert place(client, "ark:12345/n0") is None
    log.folder.publish(new)
    assert place(client, "ark:12345/n0") is not None


def test_a_tombstone_shows_its_place_and_a_reserved_name_has_none(larger_log):
    log = larger_log()
    log.bindings.withdraw("ark:12345/x1", reason="a duplicate")
    log.bindings.reserve("ark:12345/later")
    log.publish()
    client = client_of(log.bindings, log.folder)
    assert shown(client, "ark:12345/x1")["entry"] == 1
    page = client.get("/ark:12345/x1", headers={"Accept": "text/html"})
    assert (page.status_code, "entry 1." in page.text) == (410, True)
    problem = client.get("/ark:12345/x1", headers={"Accept": "application/json"}).get_json()
    assert problem["tombstone"]["log"]["entry"] == 1
    assert "log_entry: 1\n" in client.get("/ark:12345/x1", headers={"Accept": "text/plain"}).text
    for target in ("/ark:12345/later", "/ark:12345/later?info", "/ark:12345/x1/part"):
        assert "public log" not in client.get(target, headers={"Accept": "text/html"}).text


def test_a_name_of_a_container_or_rule_has_no_place(bindings: Bindings, new_log: Callable[[Bindings], Any]):
    """This also reads the first entry from each kind of database."""
    log = new_log(bindings)
    log.bindings.bind("ark:12345/box", "https://example.org/box", passthrough=True)
    log.bindings.rules.set("ark:12345/r", "https://example.org/${value}")
    log.publish()
    client = client_of(log.bindings, log.folder)
    assert shown(client, "ark:12345/box")["entry"] == 0
    assert place(client, "ark:12345/box/1") is None
    assert place(client, "ark:12345/r1") is None


def test_redirects_do_not_read_the_log(larger_log, monkeypatch):
    log = larger_log()

    def fail(self: object, key: str) -> None:
        raise AssertionError

    monkeypatch.setattr(logged_names.LoggedNames, "find", fail)
    client = client_of(log.bindings, log.folder)
    assert client.get("/ark:12345/x0").status_code == 302
    assert Client(ResolverMiddleware(site, log.bindings)).get(f"/ark:12345/x0{JSON}").status_code == 200


def test_the_checkpoint_is_read_again_only_if_its_file_changed(larger_log, monkeypatch):
    log = larger_log()
    client = client_of(log.bindings, log.folder)
    reads: list[LogFolder] = []
    read = LogFolder.checkpoint
    monkeypatch.setattr(LogFolder, "checkpoint", lambda self: reads.append(self) or read(self))
    for _ in range(3):
        assert place(client, "ark:12345/x0") is not None
    assert len(reads) == 1
    cosign(log.folder, witness("w1.example"))
    reads.clear()
    assert [shown(client, "ark:12345/x0")["witnesses"] for _ in range(2)] == [1, 1]
    assert len(reads) == 1


HOSTILE = [
    *(b"", b"\n\n", b"\xff\xfe", b"a\n5\nAAAA\n\n\xe2\x80\x94 a AAAA\n", bytes(2_000_000), b"[" * 5_000),
    "example.org/log\n99999999999999999999\nAAAA\n\n\N{EM DASH} example.org/log AAAAAAAA\n".encode(),
    "<script>\n-1\n<script>\n\n\N{EM DASH} <script> AAAAAAAA\n".encode(),
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_a_damaged_checkpoint_is_logged_and_not_shown(larger_log, caplog, content):
    log = larger_log()
    log.folder.path.joinpath("checkpoint").write_bytes(content)
    client = client_of(log.bindings, log.folder)
    assert place(client, "ark:12345/x0") is None
    assert client.get("/ark:12345/x0?info").status_code == 200
    assert "The description of ark:12345/x0 has no place in the log" in caplog.text


def test_a_checkpoint_that_is_no_file_is_not_read(larger_log):
    log = larger_log()
    checkpoint = log.folder.path / "checkpoint"
    client = client_of(log.bindings, log.folder)
    checkpoint.unlink()
    for linked in (Path("/dev/zero"), checkpoint):
        checkpoint.symlink_to(linked)
        assert place(client, "ark:12345/x0") is None
        checkpoint.unlink()
    os.mkfifo(checkpoint)
    assert place(client, "ark:12345/x0") is None
    checkpoint.unlink()
    checkpoint.mkdir()
    assert place(client, "ark:12345/x0") is None


def test_without_a_folder_or_entries_nothing_is_shown(larger_log, tmp_path, caplog):
    log = larger_log()
    assert place(client_of(log.bindings, tmp_path / "missing"), "ark:12345/x0") is None
    assert caplog.text == ""  # nothing was published there yet
    log.execute("DROP TABLE log_entries")
    assert place(client_of(log.bindings, log.folder), "ark:12345/x0") is None
    assert "log_entries" in caplog.text


def test_a_time_that_another_program_wrote_is_not_shown(larger_log, caplog):
    log = larger_log()
    log.execute("DROP TRIGGER events_never_changed")
    log.execute("UPDATE events SET changed = 'yesterday' WHERE key = 'ark:12345/x0'")
    assert place(client_of(log.bindings, log.folder), "ark:12345/x0") is None
    assert "the row of ark:12345/x0 in the database cannot be read" in caplog.text


@pytest.fixture
def file_log(tmp_path: Path, open_store: Callable[..., Bindings]) -> tuple[Bindings, LogFolder]:
    """A file of bindings with one name, and its published log."""
    table, folder = tmp_path / "names.csv", LogFolder(tmp_path / "log")
    table.write_text("identifier,target\nark:12345/f1,https://example.org/1\n", "utf-8")
    with open_bindings(folder.versions, create=True) as versions:
        assert isinstance(versions.store, DatabaseStore)
        initialize(versions.store, folder, tmp_path / "log.key", "example.org/log")
        import_table(versions, table)
        publish(versions.store, folder, tmp_path / "log.key")
    return open_store(table), folder


def test_a_file_of_bindings_has_places_and_proofs(file_log):
    bindings, folder = file_log
    client = client_of(bindings, folder)
    found = shown(client, "ark:12345/f1")
    assert found["entry"] == 0
    assert LogEntry.of_bytes(Proof.of_bytes(client.get(found["proof"]).data).extra).key == "ark:12345/f1"
    folder.versions.unlink()
    assert place(client_of(bindings, folder), "ark:12345/f1") is None


def test_asgi_shows_the_same(larger_log):
    log = larger_log()
    application = ResolverASGIMiddleware(None, log.bindings, log="/log", log_folder=str(log.folder))  # type: ignore[arg-type]
    answer = ASGIClient(application).request(f"/ark:12345/x0{JSON}")
    assert answer.body == client_of(log.bindings, log.folder).get(f"/ark:12345/x0{JSON}").data
    assert b'"entry": 0' in answer.body
