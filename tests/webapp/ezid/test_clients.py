"""The requests of published clients of EZID and of harvesters, by the recipe for clients with a fixed host.

Each conversation has the requests as the program sends them: its paths, header fields, order and form of the body. The
answers are those that the program needs to go on.
"""

from __future__ import annotations

import base64
import re
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
import trustme
from werkzeug.test import Client, TestResponse

from ararat.bindings.collection import Bindings
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from tests.fronts import blocks, start_front
from tests.ports import free_port
from tests.webapp.ezid.client import EzidClient
from tests.webapp.ezid.conftest import Service

PREFIX = "https://ids.example.org"
USER = "repository"
TEXT = {"Content-Type": "text/plain; charset=UTF-8"}
PLAIN = {"Content-Type": "text/plain"}
SHOULDER = "/shoulder/ark:/12345/x5"


class Step(NamedTuple):
    """One request and the pattern of its answer. ``{1}`` in a path is the identifier that step 1 returned."""

    method: str
    path: str
    body: str | None
    status: int
    answer: str
    fields: dict[str, str] = {}  # noqa: RUF012 - no test changes it


class Host:
    """The host of the recipe in front of the API: its paths are those below /ezid, its cookies are for /."""

    def __init__(self, bindings: Bindings) -> None:
        self.accounts = Accounts(bindings)
        self.accounts.add(USER, "curator", ["ark:12345/x5"])
        self.secret = self.accounts.tokens.create(USER, "test")[1]
        app = create_app(bindings, prefix=PREFIX, ezid="/ezid", trace_elsewhere=False)
        self.site = ResolverMiddleware(app, bindings, prefix=PREFIX, oai="/oai")
        self.client = Client(self.application)

    def application(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        for name in ("RAW_URI", "REQUEST_URI", "PATH_INFO"):
            if name in environ and not environ["PATH_INFO"].startswith("/oai"):
                environ[name] = f"/ezid{environ[name]}"

        def start(status: str, fields: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [(n, v.replace("Path=/ezid", "Path=/")) for n, v in fields], *error)

        return self.site(environ, start)

    @property
    def basic(self) -> dict[str, str]:
        return {"Authorization": f"Basic {base64.b64encode(f'{USER}:{self.secret}'.encode()).decode()}"}

    def send(self, step: Step, path: str, fields: dict[str, str]) -> TestResponse:
        return self.client.open(
            path, base_url="https://ezid.example.org", method=step.method, data=step.body, headers=step.fields | fields
        )


@pytest.fixture(params=["sqlite", "postgresql"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    url = tmp_path / "b.sqlite" if request.param == "sqlite" else request.getfixturevalue("cluster").new_schema()
    with open_bindings(url, create=True) as bindings:
        yield Host(bindings)


NEW, REST = r"success: ark:/12345/x5\w+", "(?s:.*)"
# xml.etree writes a prefix, and batch-register a placeholder, because it cannot know the identifier.
DATACITE = (
    '<ns0:resource xmlns:ns0="http://datacite.org/schema/kernel-4" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://datacite.org/schema/kernel-4 '
    'http://schema.datacite.org/meta/kernel-4/metadata.xsd"><ns0:identifier identifierType="ARK">(:tba)'
    "</ns0:identifier><ns0:titles><ns0:title>The Ark</ns0:title></ns0:titles><ns0:creators><ns0:creator>"
    "<ns0:creatorName>Noah</ns0:creatorName></ns0:creator></ns0:creators><ns0:publisher>P</ns0:publisher>"
    '<ns0:publicationYear>2018</ns0:publicationYear><ns0:resourceType resourceTypeGeneral="Dataset" /></ns0:resource>'
)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
URL = rf"success: {re.escape(PREFIX)}/ezid/download/\S+"

CLIENTS = {
    # Urllib sends credentials after an answer 401 only; without elements there is no body and no content type.
    "ezid3.py": [
        Step("GET", "/status", None, 200, "success: EZID is up"),
        Step("GET", "/login", None, 200, "success: session cookie returned"),
        Step("POST", SHOULDER, None, 201, NEW),
        Step("PUT", "/id/ark:/12345/x5a", "erc.who: Proust, Marcel\n_target: https://a.example/%2525", 201, NEW, TEXT),
        Step("PUT", "/id/ark:/12345/x5a?update_if_exists=yes", "erc.when: 1922", 200, NEW, TEXT),
        Step("GET", "/id/ark:/12345/x5a", None, 200, f"{NEW}\n{REST}erc.who: Proust, Marcel\n"),
        Step("GET", "/id/ark:/12345/x5a/p2?prefix_match=yes", None, 200, f"{NEW} in_lieu_of ark:/12345/x5a/p2\n{REST}"),
        Step("POST", "/id/ark:/12345/x5a", "_status: unavailable | lost", 200, NEW, TEXT),
        Step("PUT", "/id/ark:/12345/x5b", "_status: reserved", 201, NEW, TEXT),
        Step("DELETE", "/id/ark:/12345/x5b", None, 200, NEW),
        Step("GET", "/id/ark:/12345/x5b", None, 400, "error: bad request - no such identifier"),
        Step("GET", "/logout", None, 200, "success: authentication credentials flushed"),
    ],
    # It sends sorted elements with a line feed after the last, and credentials with each request.
    "batch-register3.py": [
        Step("POST", SHOULDER, f"_profile: datacite\ndatacite: {DATACITE}\n", 201, NEW, TEXT),
        Step("GET", "/id/{1}", None, 200, NEW + r'\n(?s:.*)<ns0:identifier identifierType="ARK">12345/x5\w+<(?s:.*)'),
        Step("PUT", "/id/ark:/12345/x5c", "_target: https://example.org/c\ndc.title: C\n", 201, NEW, TEXT),
        Step("PUT", "/id/ark:/12345/x5c", "dc.title: C\n", 400, "error: bad request - identifier already.*", TEXT),
        Step("POST", "/id/ark:/12345/x5c", "_status: public\n", 200, NEW, TEXT),
    ],
    # $r->decoded_content =~ m/success: ([^ ]*)/ takes all up to a space, so no line feed may follow.
    "Perl, LWP": [
        Step("POST", SHOULDER, "", 201, NEW, TEXT | {"TE": "deflate,gzip;q=0.3"}),
        Step("PUT", "/id/ark:/12345/x5d", "_target: https://example.org/d\nerc.what: 100%25", 201, NEW, TEXT),
        Step("GET", "/id/ark:/12345/x5d", None, 200, NEW + r"\n(?s:.*)erc.what: 100%25\n(?s:.*)"),
    ],
    "curl": [
        Step("GET", "/login", None, 200, "success: session cookie returned"),
        Step("POST", SHOULDER, "_target: https://example.org/${identifier}", 201, NEW, PLAIN),
        Step("PUT", "/id/ark:/12345/x5e", "_target: https://example.org/e\n", 201, NEW, PLAIN),
        Step("POST", "/id/ark:/12345/x5e", "_target: https://example.org/e2", 200, NEW, PLAIN),
        Step("GET", "/id/ark:/12345/x5e", None, 200, NEW + r"\n(?s:.*)_target: https://example.org/e2\n(?s:.*)"),
        Step("POST", "/download_request", "format=csv&type=ark&type=doi&permanence=real&column=_id", 200, URL, FORM),
    ],
    "batch-download.sh": [
        Step("POST", "/download_request", f"format=anvl&owner={USER}&notify=a%40example.org&type=ark", 200, URL, FORM),
    ],
    "ezid-client (Ruby)": [
        Step("GET", "/status?subsystems=", None, 200, "success: EZID is up"),
        Step("POST", SHOULDER, "_profile: dc\n_export: yes", 201, NEW, TEXT),
        Step("GET", "/id/{2}", None, 200, NEW + r"\n(?s:.*)_profile: dc\n(?s:.*)"),
    ],
}  # fmt: skip


@pytest.mark.one_setup
@pytest.mark.parametrize("name", CLIENTS)
def test_a_published_client_gets_the_answers_of_ezid(host: Host, name: str) -> None:
    found: dict[int, str] = {}
    for number, step in enumerate(CLIENTS[name], 1):
        path = re.sub(r"\{(\d)\}", lambda match: found[int(match[1])], step.path)
        first = {} if name in ("ezid3.py", "curl") and "login" not in step.path else host.basic
        reply = host.send(step, path, first)
        if reply.status_code == 401:
            assert reply.headers["WWW-Authenticate"] == 'Basic realm="EZID"'
            reply = host.send(step, path, host.basic)
        text = reply.get_data(as_text=True)
        assert (reply.status_code, bool(re.fullmatch(step.answer, text))) == (step.status, True), (step, text)
        assert reply.content_type == "text/plain; charset=UTF-8"
        if step.path == "/login":
            assert re.match(r"sessionid=[^;]+;.* Path=/(?:;|$)", reply.headers["Set-Cookie"])
        found[number] = re.sub(r"\s.*", "", text.partition(" ")[2], flags=re.DOTALL)


def test_harvesters_get_every_record_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sickle and oaipmh-scythe send GET, and a token alone. A validator also sends POST and wrong requests."""
    monkeypatch.setattr("ararat.middleware.feeds.oai_pmh.RECORDS", 2)
    for letter in "abcde":
        host.send(Step("PUT", "", f"erc.what: {letter}", 201, "", TEXT), f"/id/ark:/12345/x5{letter}", host.basic)
    space = "{http://www.openarchives.org/OAI/2.0/}"

    def ask(method: str, query: str, **fields: str) -> ElementTree.Element:
        step = Step(method, "", query if method == "POST" else None, 200, "", FORM if method == "POST" else fields)
        reply = host.send(step, "/oai" if method == "POST" else f"/oai?{query}", {})
        assert (reply.status_code, reply.mimetype) == (200, "text/xml")
        return ElementTree.fromstring(reply.data)  # noqa: S314 - our own server

    assert ask("GET", "verb=Identify").findtext(f".//{space}protocolVersion") == "2.0"
    for method in ("GET", "POST"):
        for verb in ("ListRecords", "ListIdentifiers"):
            names: list[str | None] = []
            page = ask(method, f"verb={verb}&metadataPrefix=oai_dc", Accept_Encoding="gzip, deflate")
            while True:
                names += [each.text for each in page.iter(f"{space}identifier")]
                if not (token := page.findtext(f".//{space}resumptionToken")):
                    break
                page = ask(method, f"verb={verb}&resumptionToken={token}")
            assert sorted(map(str, names)) == [f"ark:12345/x5{letter}" for letter in "abcde"]
    for query, code in (
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2001-01-01&until=2001-01-02T00:00:00Z", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&until=1969-01-01", "noRecordsMatch"),
        ("verb=Nothing", "badVerb"),
        ("verb=ListRecords&resumptionToken=x", "badResumptionToken"),
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=ark:12345/none", "idDoesNotExist"),
        ("verb=ListRecords&metadataPrefix=none", "cannotDisseminateFormat"),
    ):
        for method in ("GET", "POST"):
            found = ask(method, query).find(f"{space}error")
            assert found is not None
            assert found.get("code") == code


@pytest.mark.long
@pytest.mark.parametrize("service", ["waitress"], indirect=True)
def test_the_recipe_of_the_page_serves_a_client_over_tls(
    service: Service, start_server: Callable[..., Any], tmp_path: Path
) -> None:
    """nginx with the documented block: a host of its own, TLS, and the API at the root."""
    [block] = [each for each in blocks("ezid-api.md", "nginx") if "proxy_cookie_path" in each]
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "ids.pem")
    issued.private_key_pem.write_to_path(tmp_path / "ids.key")
    port, plain = free_port(), free_port()
    address = service.base.partition("://")[2]
    for documented, here in (
        (r"listen 443 ssl;", f"listen 80;\n    listen 127.0.0.1:{port} ssl;"),
        (r"server_name \S+;", "server_name localhost;"),
        (r"ssl_certificate \S+;", "ssl_certificate ids.pem;"),
        (r"ssl_certificate_key \S+;", "ssl_certificate_key ids.key;"),
        (r"127\.0\.0\.1:8000/ezid", address),
        (r"proxy_cookie_path /ezid", f"proxy_cookie_path /{address.partition('/')[2]}"),
    ):
        assert re.search(documented, block)
        block = re.sub(documented, here, block)
    start_front(start_server, "nginx", block, plain, tmp_path)
    service.accounts.add("fixed-host", "curator", ["ark:12345/x7"])
    secret = service.accounts.tokens.create("fixed-host", "test")[1]
    context = ssl.create_default_context()
    authority.configure_trust(context)
    client = EzidClient(f"https://localhost:{port}", "fixed-host", secret, context=context)
    assert client.status().line == "success: EZID is up"
    assert client.login().line == "success: session cookie returned"
    [cookie] = client.cookies
    assert (cookie.name, cookie.path) == ("sessionid", "/")
    identifier = client.mint("ark:/12345/x7", {"_target": "https://example.org/1"}).identifier
    assert client.view(identifier).elements["_target"] == "https://example.org/1"
    assert client.update(identifier, {"_target": "https://example.org/2"}).status == 200
