"""Test the proofs of names over HTTP: each is verified with the public key only."""

from __future__ import annotations

import os

import pytest
from werkzeug.test import Client

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.tree.entries import LogEntry
from ararat.bindings.log.tree.proofs import Proof
from ararat.bindings.log.verification.name_proof import verify_name
from ararat.bindings.log.verification.policy import Party, Policy
from ararat.middleware import BindingError, ResolverMiddleware


def site(environ, start_response):
    start_response("404 Not Found", [])
    return [b"the site"]


@pytest.fixture
def client_of():
    """client_of(log) returns a client of a resolver that serves this log."""
    return lambda log: Client(ResolverMiddleware(site, log.bindings, log="/log", log_folder=str(log.folder.path)))


def proved(client, log, name):
    """Return the entry that the verified proof of a name contains."""
    answer = client.get(f"/{name}?proof")
    assert (answer.status_code, answer.content_type) == (200, "text/plain; charset=utf-8")
    proof = Proof.of_bytes(answer.data)
    proof.verify(proof.extra, log.key)
    return LogEntry.of_bytes(proof.extra)


def test_each_name_has_a_proof_of_its_last_change(larger_log, client_of):
    log = larger_log()
    client = client_of(log)
    log.publish()
    for name in ("ark:12345/x0", "ark:12345/n0", "ark:12345/n250", "ark:12345/n299"):
        assert (proved(client, log, name).key, proved(client, log, name).revision) == (name, 1)
    log.bindings.withdraw("ark:12345/n7")
    # The last change is not published yet, so the proof is of the change before.
    assert proved(client, log, "ark:12345/n7").revision == 1
    log.publish()
    assert proved(client, log, "ark:12345/n7").action == "withdrawn"
    assert proved(client, log, "ARK:/12345/n-7").key == "ark:12345/n7"
    assert client.get("/ark:12345/n7?%70roof&utm_source=x").data == client.get("/ark:12345/n7?proof").data


def test_a_proof_is_cached_and_has_a_head(larger_log, client_of):
    log = larger_log()
    client = client_of(log)
    answer = client.get("/ark:12345/x0?proof")
    assert client.get("/ark:12345/x0?proof", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    head = client.head("/ark:12345/x0?proof")
    assert (head.data, {*head.headers}) == (b"", {*answer.headers})


@pytest.mark.parametrize("name", ["ark:12345/unknown", "ark:12345/n7", "ark:12345/reserved"])
def test_names_that_are_not_in_the_log_have_no_proof(larger_log, client_of, name):
    log = larger_log()
    log.bindings.reserve("ark:12345/reserved")
    answer = client_of(log).get(f"/{name}?proof")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store")
    assert b"The log has no entry of this name" in answer.data


@pytest.mark.parametrize(
    "target",
    ["/ark:12345/x0", "/ark:12345/x0?proofs", "/ark:12345/x0?proof=1", "/ark:12345/n0?info", "/ark:12345/?proof"],
)
def test_other_requests_are_resolved_as_before(larger_log, client_of, target):
    log = larger_log()
    resolver = Client(ResolverMiddleware(site, log.bindings))
    ours, others = client_of(log).get(target), resolver.get(target)
    assert (ours.status_code, ours.data, ours.headers.to_wsgi_list()) == (
        *(others.status_code, others.data),
        others.headers.to_wsgi_list(),
    )


def test_equivalent_urns_have_one_proof(log, client_of):
    log.bindings.bind("urn:isbn:0-451-45052-3", "/x")
    log.publish()
    policy = Policy(logs=[Party(key=log.key)])
    for spelling in ("urn:isbn:0-451-45052-3", "urn:isbn:9780451450524"):
        answer = client_of(log).get(f"/{spelling}?proof")
        assert answer.status_code == 200
        assert verify_name("urn:isbn:9780451450524", answer.data, policy).entry.key == "urn:isbn:9780451450524"
    with pytest.raises(LogError, match="the proof is for"):
        verify_name("urn:isbn:9780198526636", answer.data, policy)


def test_a_named_pipe_in_the_folder_is_not_waited_for(larger_log, client_of):
    log = larger_log()
    client = client_of(log)
    for path, targets in (
        ("tile/entries/000.p/5", ["ark:12345/x0?proof", "log/tile/entries/000.p/5"]),
        ("checkpoint", ["ark:12345/x0?proof", "log/checkpoint"]),
    ):
        (log.folder.path / path).unlink()
        os.mkfifo(log.folder.path / path)
        assert [client.get(f"/{target}").status_code for target in targets] == [503, 503], path
    with pytest.raises(BindingError, match="it is not a regular file"):
        log.publish()
    (log.folder.path / "checkpoint").unlink()
    (log.folder.path / "checkpoint").mkdir()
    assert client.get("/ark:12345/x0?proof").status_code == 503


def test_a_damaged_log_is_unavailable(larger_log, client_of, caplog):
    log = larger_log()
    log.folder.path.joinpath("checkpoint").write_bytes(b"damaged")
    answer = client_of(log).get("/ark:12345/x0?proof")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert "The proof of ark:12345/x0 cannot be created" in caplog.text
    assert client_of(log).get("/ark:12345/x0").status_code == 302
