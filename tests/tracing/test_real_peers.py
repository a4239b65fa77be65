"""A trace through a resolver in another process: the middleware behind waitress, and a site with redirects."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.net.http_client import GuardedClient
from ararat.tracing.algorithm import End, Hop, Start, trace
from ararat.tracing.comparison import compare_ends

PEER = """
import socket, sys
from waitress.server import create_server
from ararat.middleware import ResolverMiddleware, open_bindings

listener = socket.create_server(("127.0.0.1", 0))
origin = "http://127.0.0.1:%d" % listener.getsockname()[1]
CHAINS = {
    "/all": (301, "/all/302"), "/all/302": (302, origin + "/all/307"), "/all/307": (307, "308"),
    "/all/308": (308, "//127.0.0.1:%d/end" % listener.getsockname()[1]),
    "/some": (302, "/all"), "/other": (303, "../end?page=2#p"), "/kept": (302, "/end"),
    "/dots": (302, "./a/../../end"), "/query": (302, "?end"), "/mail": (302, "mailto:someone@example.org"),
    "/script": (302, "javascript:alert(1)"), "/names": (302, "urn:isbn:0451450523"),
    "/none": (302, None), "/empty": (302, ""), "/space": (302, "/a b"), "/elsewhere": (302, "http://10.0.0.1/"),
    "/port": (302, "http://[::"), "/round": (302, "/round"), "/dead": (302, "http://127.0.0.1:1/"),
}

def site(environ, start_response):
    path = environ["PATH_INFO"]
    status, location = CHAINS.get(path, (200 if path == "/end" or environ["QUERY_STRING"] == "end" else 404, None))
    if environ["QUERY_STRING"] == "end":
        status, location = 200, None
    fields = [("Content-Type", "text/plain"), ("Content-Length", "0")]
    if path == "/twice":
        status, fields = 302, [*fields, ("Location", "/a"), ("Location", "/b")]
    start_response("%d Any" % status, fields + ([] if location is None else [("Location", location)]))
    return [b""]

bindings = open_bindings(sys.argv[1], create=True)
for name in [*CHAINS, "/twice", "/end", "/missing"]:
    bindings.bind("ark:12345" + name.replace("/all/", "/"), origin + name)
bindings.bind("ark:12345/about", origin + "/end", kind="related")
bindings.bind("urn:example:kept", origin + "/kept")
server = create_server(ResolverMiddleware(site, bindings, prefix=origin), sockets=[listener], threads=4)
print("listening at", origin, flush=True)
server.run()
"""


@pytest.fixture(scope="module")
def peer(start_server: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("waitress")
    folder = tmp_path_factory.mktemp("peer")
    server = start_server([sys.executable, "-c", PEER, folder / "peer.sqlite"], folder=folder)
    server.port = int(server.wait_for(r"listening at http://127\.0\.0\.1:(\d+)"))
    return server


def run(peer: Any, identifier: str, **parameters: Any) -> tuple[list[Hop], End]:
    fetch = GuardedClient(networks=["127.0.0.0/8"])
    start, *hops, end = trace(identifier, resolver=peer.origin, fetch=fetch, **parameters)
    assert isinstance(start, Start)
    assert isinstance(end, End)
    return [hop for hop in hops if isinstance(hop, Hop)], end


def test_a_chain_of_all_redirects_is_followed(peer):
    hops, end = run(peer, "ark:/12345/s-ome")
    assert [hop.status for hop in hops] == [302, 302, 301, 302, 307, 308, 200]
    assert (end.outcome, end.state, end.url) == ("success", "direct", f"{peer.origin}/end")


@pytest.mark.one_setup
@pytest.mark.parametrize("identifier", ["ark:12345/about", "ark:12345/other"])
def test_a_303_gives_the_state_related(identifier, peer):
    _, end = run(peer, identifier)
    assert (end.outcome, end.state) == ("success", "related")


@pytest.mark.one_setup
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_method_stays_the_same_in_all_hops(method, peer):
    hops, end = run(peer, "ark:12345/all", method=method)
    assert {hop.method for hop in hops} == {method}
    assert end.outcome == "success"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "url", "fragment"),
    [
        pytest.param("ark:12345/other", "/end?page=2", "p", id="a fragment of the Location"),
        pytest.param("urn:example:kept#mine", "/end", "mine", id="the fragment that was given"),
        pytest.param("ark:12345/dots", "/end", None, id="dot-segments"),
        pytest.param("ark:12345/query", "/query?end", None, id="a query alone"),
    ],
)
def test_a_relative_location_is_resolved_against_its_hop(identifier, url, fragment, peer):
    _, end = run(peer, identifier)
    assert (end.outcome, end.url, end.fragment) == ("success", peer.origin + url, fragment)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "outcome", "code"),
    [
        pytest.param("mail", "success", "not-fetched", id="an address of mail"),
        pytest.param("script", "success", "not-fetched", id="a script"),
        pytest.param("names", "success", "not-fetched", id="a name"),
        pytest.param("none", "failure", "location-missing", id="no Location"),
        pytest.param("empty", "failure", "location-missing", id="an empty Location"),
        pytest.param("twice", "failure", "location-repeated", id="two Locations"),
        pytest.param("space", "failure", "location-invalid", id="a space"),
        pytest.param("port", "failure", "location-invalid", id="half an address"),
        pytest.param("elsewhere", "failure", "blocked", id="a private network"),
        pytest.param("dead", "failure", "connect", id="no server"),
        pytest.param("round", "failure", "too-many-redirects", id="round and round"),
        pytest.param("missing", "failure", "error-status", id="nothing there"),
        pytest.param("unbound", "failure", "error-status", id="not bound"),
    ],
)
def test_every_end_has_its_code(name, outcome, code, peer):
    hops, end = run(peer, f"ark:12345/{name}")
    assert (end.outcome, end.code) == (outcome, code)
    assert hops[0].status in (302, 404)


def test_an_inflection_gives_the_state_metadata(peer):
    hops, end = run(peer, "ark:12345/end?info")
    assert ([hop.status for hop in hops], end.state) == ([200], "metadata")


def test_the_description_link_has_a_note(peer):
    (first, *_), _ = run(peer, "ark:12345/end")
    (description,) = [note.href for note in first.notes if note.code == "describedby"]
    assert description == f"{peer.origin}/ark:12345/end?info"


# Two resolvers, one identifier ----------------------------------------------------------------------------------------


def compared(peer: Any, identifier: str, other: str) -> Result:
    options = ["--resolver", peer.origin, "--compare", other, "--allow-network", "127.0.0.0/8", "--json"]
    return CliRunner().invoke(main.main, ["trace", identifier, *options])


# ARK-038
def test_two_resolvers_with_the_same_target_are_equal(peer):
    result = compared(peer, "ark:12345/kept", peer.origin)
    last = json.loads(result.output.splitlines()[-1])
    assert (result.exit_code, last["event"], last["same"]) == (0, "compared", True)
    assert last["sentence"].startswith(f"Both traces end at {peer.origin}/end.")


# ARK-038
def test_two_resolvers_differ_if_one_does_not_know_the_name(peer):
    # No name is bound below this prefix.
    result = compared(peer, "ark:12345/kept", f"{peer.origin}/nowhere")
    *_, end, last = map(json.loads, result.output.splitlines())
    assert (result.exit_code, end["code"], last["same"]) == (1, "error-status", False)
    assert last["sentence"].startswith("The traces end differently: success at")


def test_traces_without_an_end_are_not_compared():
    with pytest.raises(ValueError, match="without an end"):
        compare_ends([], [])
