"""The time of each door grows as the text of a person that passes it, also where no regular expression is used.

A door is a function, a command or a request that takes a text. Each text repeats a sign; its time is compared with that
of its first half. :mod:`test_growth` has the patterns one by one.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from werkzeug.test import Client

from ararat.bindings.checks import plausibility
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.log.notes.notes import SignedNote
from ararat.bindings.log.witnesses.add_checkpoint import AddCheckpoint
from ararat.bindings.names import naming, passthrough, selection, targets
from ararat.bindings.names.branding import colours, logos, model
from ararat.bindings.names.metadata import folding, metadata, persistence, personal_data
from ararat.bindings.names.prefixes import character_sets, patterns, prefixes, rule_templates
from ararat.identifiers import equivalent, examine, find, iri_policy, scheme_registration
from ararat.identifiers.ark import embedded
from ararat.identifiers.registries import search
from ararat.identifiers.text import anvl, display, iri
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.net import link_header, retry_after, uri, url
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.ezid import anvl_body, download_request
from tests.growth import growth

pytestmark = [pytest.mark.long, pytest.mark.timeout(24 * 3600)]

_UNITS = (
    *(" ", "\t", "\n", "\r", "a", "A", "0", ".", "-", "/", ":", ";", ",", "|", "%", "%20", "%2F", "%C3%A9", "<", ">"),
    *('"', "'", "\\", '\\"', "=", "&", "?", "#", "(", "[", "{", "}", "@", "+", "_", "*", "~", "$", "\u00e9", "\u200b"),
    *("\u05d0", "a.", "a/", "a:", "a b", "a\nb", "a=b&", "a;", "a,", "&#1;", "&amp;", "<a>", "<a/>", "${a}", '"a",'),
    *("a: b\n", "ark:", "ark:/1/", "ark:1/x ", "ark%3A", "urn:a:b ", "http://", "https://a/", "../", "[[", "{}", "=?"),
)
_TOKEN = re.compile('name="csrf_token" value="([0-9a-f]+)"')
_SLOWEST = 0.08  # seconds of the processor


class Site(NamedTuple):
    """A site with one name: its resolver and its inspector with accounts."""

    bindings: Bindings
    resolver: Client
    inspector: Client
    secret: str
    browser: Client
    session: str

    def ask(self, path: str, **fields: str) -> Any:
        return self.resolver.get(path, headers=fields, base_url="https://a.example")

    def page(self, path: str, **fields: str) -> Any:
        return self.inspector.get(path, headers=fields, base_url="https://a.example")

    def post(self, path: str, **options: Any) -> Any:
        return self.inspector.post(path, base_url="https://a.example", follow_redirects=True, **options)

    def sign_in(self, form: dict[str, str]) -> Any:
        token = _TOKEN.search(self.page("/sign-in").text)
        return self.post("/sign-in", data=form | {"csrf_token": token[1] if token else ""})

    def desk(self, method: str, path: str, **form: str) -> Any:
        self.browser.set_cookie("ararat", self.session)
        token = _TOKEN.search(self.browser.get("/sign-out").text)
        if method == "GET":
            return self.browser.get(f"/desk{path}", query_string=form)
        return self.browser.post(f"/desk{path}", data=form | {"csrf_token": token[1] if token else ""})

    def api(self, method: str, path: str, body: Any = None) -> Any:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        fields = {"Authorization": f"Bearer {self.secret}", "Content-Type": kind}
        return self.inspector.open(f"/api/v1{path}", method=method, headers=fields, data=json.dumps(body))

    def ezid(self, method: str, path: str, body: str) -> Any:
        fields = {"Authorization": f"Basic {b64encode(f'jane:{self.secret}'.encode()).decode()}"}
        return self.inspector.open(f"/ezid{path}", method=method, headers=fields, data=body.encode("utf-8", "replace"))

    def table(self, form: str, content: str) -> Any:
        file = io.BytesIO(content.encode("utf-8", "replace"))
        return import_table(self.bindings, file, format=form, dry_run=True)


def _row(**cells: str) -> str:
    return json.dumps({"identifier": "ark:12345/x5a", "target": "/1"} | cells) + "\n"


# The maximum length of a text, and the function.
DOORS: dict[str, tuple[int, Callable[[Site, str], object]]] = {
    # The library
    "examine": (40_000, lambda site, text: examine(text)),
    "examine a name": (40_000, lambda site, text: examine(f"ark:12345/x{text}y")),
    "examine a URN": (40_000, lambda site, text: examine(f"urn:nbn:de:{text}y")),
    "examine an address": (40_000, lambda site, text: examine(f"https://a.example/{text}/ark:12345/x?{text}#{text}")),
    "as dict": (20_000, lambda site, text: examine(f"ark:12345/x{text}y", policies=["17beta"]).as_dict()),
    "find": (40_000, lambda site, text: find(f"see {text} ark:12345/x{text} urn:isbn:0451450523{text}")),
    "equivalent": (40_000, lambda site, text: equivalent(f"ark:12345/x{text}", f"ark:/12345/x{text}")),
    "label": (40_000, lambda site, text: embedded.from_label(f"https://a.example/{text}ark:1/{text}\ud800")),
    "policy": (40_000, lambda site, text: iri_policy.evaluate(f"https://17beta.top/{text}", _POLICY)),
    "scheme": (40_000, lambda site, text: scheme_registration.read_name(text)),
    "registration": (40_000, lambda site, text: _linted(f"Scheme name: x\nStatus: {text}\nEncoding: {text}\n")),
    "ANVL": (40_000, lambda site, text: list(anvl.parse(f"erc:\nwho: {text}\n{text}"))),
    "displayed": (40_000, lambda site, text: (display.visible(text), display.escape(text), display.percent(text))),
    "IRI": (40_000, lambda site, text: (iri.encode(text), iri.remove_dot_segments(f"/{text}"))),
    "holders": (40_000, lambda site, text: search.holders(text)),
    # Names and their values
    "name": (4000, lambda site, text: naming.assignable(f"ark:12345/{text}")),
    "warnings about a name": (4000, lambda site, text: naming.warnings_about(f"ark:12345/{text}")),
    "mistakes": (240, lambda site, text: site.table("jsonl", _row(identifier=f"ark:12345/x5{text}"))),
    "target": (2048, lambda site, text: targets.check(f"https://a.example/{text}", "located")),
    "host": (2048, lambda site, text: targets.check(f"https://{text}/", "located")),
    "path": (2048, lambda site, text: targets.check(f"/{text}", "served")),
    "plausible": (2048, lambda site, text: plausibility.target_warnings(f"https://a.example/{text}")),
    "appended": (2048, lambda site, text: passthrough.append_path(f"https://a.example/{text}", text)),
    "element": (65_536, lambda site, text: metadata.check({"who": text})),
    "DataCite": (65_536, lambda site, text: metadata.check({"datacite": f"<resource>{text}"})),
    "DataCite attribute": (65_536, lambda site, text: metadata.check({"datacite": f'<resource a="{text}'})),
    "schema.org": (65_536, lambda site, text: metadata.check({"schema": f'{{"@type": "{text}'})),
    "folded": (65_536, lambda site, text: (folding.search_text([text]), folding.title_of({"erc.what": text}))),
    "personal": (65_536, lambda site, text: personal_data.warnings_about("ark:12345/x", "/1", text, {"erc.who": text})),
    "statement": (65_536, lambda site, text: (persistence.is_denied(text), persistence.term("availability", text))),
    "selection": (400, lambda site, text: selection.select(text=text)),
    "beginning": (4000, lambda site, text: selection.beginning(text)),
    "template": (40_000, lambda site, text: rule_templates.check_template(f"https://a.example/{text}")),
    "character set": (40_000, lambda site, text: character_sets.check(text)),
    "form": (4000, lambda site, text: patterns.read_form(text)),
    **{
        f"record {field}": (40_000, lambda site, text, field=field: prefixes.check("ark:12345/", {field: text}))
        for field in prefixes.FIELDS
    },
    **{
        f"branding {field}": (40_000, lambda site, text, field=field: model.check_field(field, text))
        for field in model.FIELDS
    },
    "logo": (40_000, lambda site, text: logos.check(f"data:image/png;base64,{text}")),
    "colour": (40_000, lambda site, text: colours.check(text)),
    # Tables and dumps
    "CSV": (100_000, lambda site, text: site.table("csv", f"identifier,target\n{text}")),
    "headings": (100_000, lambda site, text: site.table("csv", f"{text}\nark:12345/x5a,/1\n")),
    "TSV": (100_000, lambda site, text: site.table("tsv", f"identifier\ttarget\n{text}")),
    "JSON Lines": (100_000, lambda site, text: site.table("jsonl", f'{{"identifier": "{text}')),
    "other lines": (100_000, lambda site, text: site.table("jsonl", text)),
    **{
        f"cell {column}": (
            100_000,
            lambda site, text, column=column: site.table("jsonl", _row(**{column: f"https://a.example/{text}"})),
        )
        for column in (
            "identifier",
            "target",
            "what",
            "resource",
            "created",
            "kind",
            "status",
            "spelling",
            "target[de]",
        )
    },
    # HTTP
    "request target": (60_000, lambda site, text: site.ask(f"/ark:12345/{quote(text)}")),
    "raw target": (60_000, lambda site, text: site.ask(f"/ark:12345/x5a?{quote(text, safe='/:;,=&')}")),
    "service": (60_000, lambda site, text: site.ask(f"/uri-res/N2L?{quote(text)}")),
    "OAI-PMH": (60_000, lambda site, text: site.ask(f"/oai?verb=GetRecord&identifier={quote(text)}")),
    "OAI-PMH token": (60_000, lambda site, text: site.ask(f"/oai?verb=ListRecords&resumptionToken={quote(text)}")),
    **{
        f"field {name}": (
            60_000,
            lambda site, text, name=name: (
                site.ask("/ark:12345/x5a?info", **{name: _field(text)}),
                site.page("/?q=ark:12345/x5a", **{name: _field(text)}),
            ),
        )
        for name in (
            *("Accept", "Accept-Language", "If-None-Match", "If-Modified-Since", "Range", "Cookie", "Authorization"),
            *("Origin", "Referer", "User-Agent", "X-Forwarded-For", "Content-Type", "HX-Request", "No-Redirect"),
        )
    },
    "inspector": (40_000, lambda site, text: site.post("/", data={"q": f"ark:12345/x{text}"})),
    "list": (40_000, lambda site, text: site.post("/list", data={"q": text, "as": "csv"})),
    "comparison": (
        40_000,
        lambda site, text: site.post("/compare", data={"q": f"ark:12345/x{text}\nark:12345/{text}"}),
    ),
    "inspection": (40_000, lambda site, text: site.post("/api/inspect", data=text.encode("utf-8", "replace"))),
    "policies": (40_000, lambda site, text: site.post("/policy", data={"q": f"https://17beta.top/{text}"})),
    "sign-in": (40_000, lambda site, text: site.sign_in({"name": text, "password": text, "next": text})),
    **{
        f"desk {path}?{name}": (
            8000,
            lambda site, text, path=path, name=name: site.desk("GET", path, **{name: f"ark:12345/{text}"}),
        )
        for path, names in {
            "/names": "q prefix target resource owner",
            "/changes": "name actor prefix",
            "/audit": "name account",
            "/holds/set": "name",
            "/labels": "names",
            "/prefixes/record": "prefix",
            "/prefixes/edit": "prefix",
            "/name": "name",
            "/name/target": "name",
            "/new": "text",
            "/new/check": "text target",
        }.items()
        for name in names.split()
    },
    "new name of the desk": (
        40_000,
        lambda site, text: site.desk("POST", "/new/name", text=f"ark:12345/x5{text}", target=text, resource=text),
    ),
    "metadata": (
        65_536,
        lambda site, text: site.desk(
            "POST", "/name/metadata", name="ark:12345/x5a", revision="1", **{"m.erc.who": text}
        ),
    ),
    "moves": (40_000, lambda site, text: site.desk("POST", "/moves", source=text, destination=text, prefix=text)),
    "edited prefix": (4000, lambda site, text: site.desk("POST", "/prefixes/edit", prefix="ark:12345/x5", what=text)),
    "search of the manual": (8000, lambda site, text: site.page(f"/docs?q={quote(text)}")),
    "search of holders": (8000, lambda site, text: site.page(f"/registries/naan?q={quote(text)}")),
    "search of names": (8000, lambda site, text: site.api("GET", f"/names?q={quote(text)}")),
    "beginning of names": (8000, lambda site, text: site.api("GET", f"/names?prefix=ark:12345/{quote(text)}")),
    "new name": (40_000, lambda site, text: site.api("POST", "/names", {"names": [{"name": f"ark:12345/{text}"}]})),
    "changed name": (
        65_536,
        lambda site, text: site.api("PATCH", "/names/ark:12345/x5a", {"metadata": {"who": text, "dc.title": text}}),
    ),
    "body": (100_000, lambda site, text: site.post("/api/v1/names", data=text.encode("utf-8", "replace"))),
    "EZID": (100_000, lambda site, text: site.ezid("POST", "/id/ark:/12345/x5a", f"erc.who: {text}\n")),
    "EZID body": (100_000, lambda site, text: site.ezid("POST", "/id/ark:/12345/x5a", text)),
    "EZID name": (8000, lambda site, text: site.ezid("PUT", f"/id/ark:/12345/{quote(text)}", "_target: /1")),
    "EZID elements": (100_000, lambda site, text: anvl_body.read(text.encode("utf-8", "replace"))),
    "EZID download": (
        100_000,
        lambda site, text: download_request.read(f"format=csv&column={text}".encode("ascii", "replace")),
    ),
    # Other servers
    "Link": (60_000, lambda site, text: link_header.relations([f"<https://a.example>{text}", text])),
    "Retry-After": (60_000, lambda site, text: retry_after.seconds_of([("Retry-After", text)])),
    "URI": (60_000, lambda site, text: uri.parse(text)),
    "URL": (60_000, lambda site, text: url.parse(f"https://a.example/{text}")),
    "authority": (60_000, lambda site, text: url.parse(f"https://{text}/")),
    "note": (60_000, lambda site, text: SignedNote.of_bytes(f"{text}\n\n\u2014 a {text}\n".encode("utf-8", "replace"))),
    "checkpoint": (60_000, lambda site, text: AddCheckpoint.of_bytes(f"old 1\n{text}".encode("utf-8", "replace"))),
}
_POLICY = iri_policy.built_in("17beta")


def _linted(text: str) -> None:
    scheme_registration.lint(scheme_registration.read(text))


def _field(text: str) -> str:
    """Return a text as the value of a header field, which has no line end."""
    return text.replace("\n", " ").replace("\r", " ").encode("utf-8", "replace").decode("latin-1")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_bindings(tmp_path_factory.mktemp("doors") / "names.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x5a", "https://example.org/1", metadata={"who": "Noah"})
        bindings.prefixes.set("ark:12345/x5", what="Maps")
        accounts = Accounts(bindings)
        jane = accounts.add("jane", "administrator", ["ark:12345/x5"])
        _, secret = accounts.tokens.create("jane", "doors")
        app = create_app(bindings, prefix="https://a.example", ezid="/ezid", policies=["17beta"], trace_elsewhere=False)
        settings: dict[str, Any] = {"prefix": "https://a.example", "oai": "/oai", "services": "/uri-res"}
        resolver = Client(ResolverMiddleware(app, bindings, **settings))
        session = accounts.sessions.start(jane)
        yield Site(bindings, resolver, app.test_client(), secret, app.test_client(), session)


@pytest.mark.parametrize("name", DOORS)
def test_the_time_of_a_door_grows_as_its_text(site: Site, name: str) -> None:
    length, door = DOORS[name]

    def passes(text: str) -> None:
        try:
            door(site, text)
        except Exception as error:
            if isinstance(error, AttributeError | NameError | TypeError):
                raise  # the door is written wrongly

    for unit in _UNITS:
        once, twice = (unit * (number // len(unit)) for number in (length // 2, length))
        assert (unit, growth(passes, once, twice, _SLOWEST)) == (unit, None)
