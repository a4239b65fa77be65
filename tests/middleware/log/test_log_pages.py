"""Test the page about the log: its facts, languages, formats, and a log that cannot be read."""

from __future__ import annotations

import os
import re
import shutil
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey
from ararat.bindings.log.notes.notes import SignedNote, sign_note
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import BindingSource, ResolverMiddleware, import_table, open_bindings
from ararat.middleware.resolution.settings import LANGUAGES

PREFIX = "https://example.org"


def site(environ, start_response):
    start_response("404 Not Found", [])
    return [b"the site"]


@pytest.fixture
def client_of():
    """client_of(log, **settings) returns a client of a resolver that serves this log."""

    def create(log, **settings):
        options: dict[str, Any] = {"prefix": PREFIX, "log": "/log", "log_folder": str(log.folder.path)} | settings
        return Client(ResolverMiddleware(site, log.bindings, **options))

    return create


def cosign(folder, *names):
    note = SignedNote.of_bytes(folder.checkpoint() or b"")
    keys = [SignerKey(name=name, secret=bytes([1] * 32), algorithm=COSIGNATURE) for name in names]
    folder.publish(
        bytes(SignedNote(text=note.text, signatures=(*note.signatures, *sign_note(note.text, keys).signatures)))
    )


def test_the_page_shows_the_facts_of_the_log_and_how_to_check_it(larger_log, client_of):
    log = larger_log()
    log.publish()
    cosign(log.folder, "one.example/witness", "two.example/witness")
    os.utime(log.folder.path / "checkpoint", (1_795_000_000, 1_795_000_000))
    answer = client_of(log, institution="Example <Library>", inspector="/inspect").get("/log/")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "max-age=60")
    assert "style-src 'sha256-" in answer.headers["Content-Security-Policy"]
    text = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())
    for fact in (
        "Example &lt;Library&gt;",
        "example.org/log",
        "Entries 305 Last publication 2026-11-18 11:06 UTC Witnesses 2",
        f"Public key {log.key}",
        f"ararat monitor {PREFIX}/log --vkey {log.key} --state log.seen",
        f"ararat verify-name {PREFIX}/IDENTIFIER --vkey {log.key}",
        "Not proved That the description of an item is right.",
    ):
        assert fact in text
    assert f'href="{PREFIX}/log/checkpoint"' in answer.text
    assert f'href="{PREFIX}/inspect/docs/log"' in answer.text
    client = client_of(log)
    assert client.get("/log").data == b"the site"
    assert client.head("/log/").headers["Content-Length"] == client.get("/log/").headers["Content-Length"]
    assert client.post("/log/").status_code == 405


def test_the_state_of_the_log_is_available_as_json_and_text(larger_log, client_of):
    client = client_of(larger_log())
    answer = client.get("/log/", headers={"Accept": "application/json"})
    assert (answer.content_type, answer.headers["Vary"]) == ("application/json", "Accept")
    found = answer.get_json()
    assert (found["origin"], found["entries"], found["witnesses"]) == ("example.org/log", 5, 0)
    assert found["checkpoint"] == f"{PREFIX}/log/checkpoint"
    assert "entries: 5\n" in client.get("/log/", headers={"Accept": "text/plain"}).text


def test_the_description_of_a_name_links_to_the_page(larger_log, client_of):
    log = larger_log()
    log.bindings.withdraw("ark:12345/x1")
    for name in ("x0?info", "x1"):
        assert f'<a href="{PREFIX}/log/">About the log</a>' in client_of(log).get(f"/ark:12345/{name}").text
    assert '<a href="/app/log/">' in client_of(log, prefix=None).get("/ark:12345/x0?info", "http://x.example/app").text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_is_in_each_language(larger_log, client_of, language):
    answer = client_of(larger_log()).get("/log/", headers={"Accept-Language": language})
    assert answer.headers["Content-Language"] == language
    assert f'<html lang="{language}" dir="{LANGUAGES[language]}">' in answer.text
    assert ("Not proved" in answer.text) == (language == "en")


def test_a_log_without_a_key_a_checkpoint_or_a_prefix_has_a_page_or_a_reason(larger_log, client_of):
    class Empty(BindingSource):
        def fetch(self, keys):
            return {}

    log = larger_log()
    page = Client(ResolverMiddleware(site, Empty(), log="/log", log_folder=str(log.folder.path))).get("/log/").text
    assert "Public key" not in page
    assert "ararat monitor https://example.org/log --vkey KEY" in page
    assert "ararat verify-name https://HOST/IDENTIFIER" in page
    (log.folder.path / "checkpoint").write_bytes(b"damaged")
    assert client_of(log).get("/log/").status_code == 503
    (log.folder.path / "checkpoint").unlink()
    answer = client_of(log).get("/log/")
    assert (answer.status_code, answer.text) == (404, "Nothing is published in the log yet.\n")
    os.mkfifo(log.folder.path / "checkpoint")
    assert client_of(log).get("/log/").status_code == 503
    shutil.rmtree(log.folder.path)
    assert client_of(log).get("/log/").status_code == 404


def test_a_database_that_cannot_be_read_hides_only_the_key(larger_log, client_of, caplog):
    log = larger_log()
    client = client_of(log)
    log.bindings.close()
    answer = client.get("/log/")
    assert (answer.status_code, "Public key" in answer.text) == (200, False)
    assert "The page about the log has no public key" in caplog.text


def test_the_key_of_the_log_of_a_file_is_in_the_database_next_to_the_folder(tmp_path, client_of, table):
    folder = LogFolder(tmp_path / "log")
    with open_bindings(folder.versions, create=True) as bindings:
        assert isinstance(bindings.store, DatabaseStore)
        key = initialize(bindings.store, folder, tmp_path / "log.key", "example.org/log")
        import_table(bindings, table)
        publish(bindings.store, folder, tmp_path / "log.key")
    with open_bindings(table) as bindings:
        client = Client(ResolverMiddleware(site, bindings, log="/log", log_folder=str(folder)))
        assert str(key) in client.get("/log/").text


def test_a_hostile_checkpoint_is_escaped(larger_log, client_of):
    log = larger_log()
    key = SignerKey(name="x\u202e';$(id)<script>", secret=bytes(32))
    text = f"{key.name}\n1\n{'A' * 43}=\n"
    log.folder.publish(bytes(sign_note(text, [key])))
    answer = client_of(log, prefix=None).get("/log/")
    assert answer.status_code == 200
    assert "<script>" not in answer.text
    assert "\u202e" not in answer.text
