"""TLS connections: the host name, refused certificates, and servers without TLS."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

import pytest
import trustme

from ararat.net.tls import tls_context


def test_tls_uses_the_name_of_the_host(listen, authority, trusting, deadline, local, does):
    names: list[str | None] = []
    server = listen(does.secure(authority, "xn--bcher-kva.example", asked=names))
    response = local(tls=trusting)("GET", f"https://b\u00fccher.example:{server.port}/", deadline())
    assert response.status == 200
    assert names == ["xn--bcher-kva.example"]


def test_the_header_limit_applies_over_tls(listen, authority, trusting, failure, local, does):
    server = listen(does.secure(authority, "a.example", then=does.OK + b"X-n: n\r\n" * 100_000))
    assert failure(local(tls=trusting), f"https://a.example:{server.port}/").code == "too-large"


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["b.example", "127.0.0.1", "*.a.example"])
def test_a_certificate_for_another_name_is_refused(name, listen, authority, trusting, failure, local, does):
    server = listen(does.secure(authority, name))
    failed = failure(local(tls=trusting), f"https://a.example:{server.port}/")
    assert failed.code == "tls"
    assert "not valid for 'a.example'" in failed.sentence


@pytest.mark.one_setup
@pytest.mark.parametrize("context", [None, "trusting"], ids=["what-the-system-trusts", "another-authority"])
def test_an_unknown_certificate_authority_is_refused(context, listen, trusting, failure, local, does):
    server = listen(does.secure(trustme.CA(), "a.example"))
    failed = failure(local(tls=trusting if context else None), f"https://a.example:{server.port}/")
    assert failed.code == "tls"
    assert "certificate" in failed.sentence


def test_messages_of_tls_without_end_are_refused(listen, authority, trusting, failure, local, does):
    server = listen(sending_tickets(authority, 20_000))
    failed = failure(local(tls=trusting), f"https://a.example:{server.port}/")
    assert failed.code == "tls"
    assert "too many messages" in failed.sentence


def test_a_response_in_many_small_records_is_read(listen, authority, trusting, deadline, local, does):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("a.example").configure_cert(context)

    def behave(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as tls:
            does.request_of(tls)
            for octet in does.OK + b"X: " + b"x" * 30_000 + b"\r\n\r\n":
                tls.sendall(bytes([octet]))

    server = listen(behave)
    assert local(tls=trusting)("GET", f"https://a.example:{server.port}/", deadline()).status == 200


def sending_tickets(authority: trustme.CA, number: int) -> Callable[[socket.socket], None]:
    """Return a server that sends this number of session tickets after the handshake, at once."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("a.example").configure_cert(context)
    context.num_tickets = number

    def behave(connection: socket.socket) -> None:
        received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(received, to_send, server_side=True)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                connection.sendall(to_send.read())
                received.write(connection.recv(65536))
        connection.sendall(to_send.read())

    return behave


def plain_http(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("behaviour", "codes"),
    [
        pytest.param(lambda does: plain_http, {"tls"}, id="http-on-the-port-of-https"),
        # If the server closes with unread data, the connection ends or is reset: the system decides.
        pytest.param(lambda does: lambda connection: None, {"tls", "dropped"}, id="end"),
        pytest.param(lambda does: does.silent, {"timeout"}, id="silence"),
        pytest.param(lambda does: does.for_ever(b"\x16", pause=0.02), {"timeout"}, id="never-ready"),
    ],
)
def test_a_server_without_tls_fails_the_hop(behaviour, codes, listen, trusting, failure, local, does):
    server, seconds = listen(behaviour(does)), 0.3 if "timeout" in codes else 20
    assert failure(local(tls=trusting, hop_seconds=seconds), f"https://a.example:{server.port}/").code in codes
    assert server.ended.wait(20)


def test_the_default_context_verifies_and_ignores_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    context = tls_context.__wrapped__()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname is True
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert context.keylog_filename is None


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_the_certificates_of_the_environment_replace_those_of_the_system(monkeypatch, tmp_path, variable):
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "ca.pem" if variable == "SSL_CERT_FILE" else tmp_path))
    found = tls_context.__wrapped__().get_ca_certs()
    # The certificates of a folder are read on demand.
    assert len(found) == (1 if variable == "SSL_CERT_FILE" else 0)


def test_the_default_context_offers_only_http_1_1():
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("a.example").configure_cert(server)
    server.set_alpn_protocols(["h2", "http/1.1"])
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = tls_context().wrap_bio(to_client, to_server, server_hostname="a.example")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    accepted = server.wrap_bio(to_server, to_client, server_side=True)
    with pytest.raises(ssl.SSLWantReadError):
        accepted.do_handshake()
    assert accepted.selected_alpn_protocol() == "http/1.1"
