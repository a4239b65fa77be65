"""OAI-PMH: each answer follows the specification, for correct and for hostile requests, and lists only public names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from lxml import etree  # type: ignore[attr-defined]
from werkzeug.test import Client, create_environ, run_wsgi_app

from ararat.bindings.names.branding.model import Branding
from ararat.bindings.names.selection import cursor
from ararat.bindings.storage import listing
from ararat.middleware import Bindings
from ararat.middleware.feeds import oai_pmh
from ararat.middleware.feeds.oai_tokens import encode
from ararat.middleware.http.request import MAX_FORM

from .conftest import PREFIX

PATH = "/oai"
SCHEMA = etree.RelaxNG(etree.parse(Path(__file__).parents[2] / "data" / "schemas" / "oai-pmh.rng"))
SPACES = {
    "o": "http://www.openarchives.org/OAI/2.0/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "oai_dc": "http://www.openarchives.org/OAI/2.0/oai_dc/",
}
OF_OAI_DC = {"metadataPrefix": "oai_dc"}


@dataclass
class Repository:
    """Sends requests, and checks each answer against the schema."""

    client: Client
    redirects: int = 0

    def tree(self, arguments: dict[str, str] | Sequence[tuple[str, str]] | str, *, post: bool = False) -> Any:
        text = arguments if isinstance(arguments, str) else urlencode(arguments)
        if post:
            answer = self.client.post(PATH, data=text, content_type="application/x-www-form-urlencoded")
        else:
            answer = self.client.get(f"{PATH}?{text}")
        while answer.status_code == 302:
            self.redirects += 1
            address = answer.headers["Location"]
            assert address.startswith(f"{PREFIX}{PATH}?verb=")
            answer = self.client.get(address.removeprefix(PREFIX))
        assert answer.status_code == 200
        assert answer.content_type == "text/xml; charset=utf-8"
        tree = etree.fromstring(answer.data)
        assert SCHEMA.validate(tree), (SCHEMA.error_log, answer.text)
        return tree

    def found(self, verb: str, path: str, **arguments: str) -> list[str]:
        named = {name.removesuffix("_"): value for name, value in arguments.items()}
        return [each.text for each in self.tree({"verb": verb, **named}).iterfind(f"o:{verb}/{path}", SPACES)]

    def error(self, arguments: dict[str, str] | Sequence[tuple[str, str]] | str, *, post: bool = False) -> str:
        [error] = self.tree(arguments, post=post).iterfind("o:error", SPACES)
        return error.attrib["code"]

    def parts(self, verb: str, **arguments: str) -> Iterator[list[tuple[str, str, bool]]]:
        """Yield the headers of each part of a list: identifier, datestamp, and whether the record is deleted."""
        sent = {**OF_OAI_DC, **{name.removesuffix("_"): value for name, value in arguments.items()}}
        is_first = True
        while True:
            tree = self.tree({"verb": verb, **sent})
            headers = tree.iterfind(".//o:header", SPACES)
            part = [(each[0].text, each[1].text, each.attrib.get("status") == "deleted") for each in headers]
            tokens = tree.findall(f"o:{verb}/o:resumptionToken", SPACES)
            assert len(tokens) == (0 if is_first and not tokens else 1)
            yield part
            if not tokens or not tokens[0].text:
                return
            sent, is_first = {"resumptionToken": tokens[0].text}, False

    def names(self, verb: str = "ListIdentifiers", **arguments: str) -> list[str]:
        return [name for part in self.parts(verb, **arguments) for name, _, _ in part]


@pytest.fixture
def repository(ticking: Bindings, feed_of: Callable[..., Client]) -> Repository:
    return Repository(feed_of(ticking, oai=PATH))


def fill(bindings: Bindings) -> None:
    """Make one change each hour from 12:30:15 on."""
    bindings.bind("ark:12345/x5a", "/1", metadata={"who": "Ada", "what": "Map", "when": "(:unkn)"})
    bindings.reserve("ark:12345/x5secret")
    bindings.bind("ark:67890/b", "/1")
    bindings.bind("ark:12345/c", "/1")
    bindings.withdraw("ark:12345/c", reason="lost")
    bindings.bind("urn:isbn:9780451450524", kind="described")
    bindings.prefixes.set("ark:12345/x5", what="Maps")


NAMES = ["ark:12345/x5a", "ark:67890/b", "ark:12345/c", "urn:isbn:9780451450524"]


def test_lists_have_the_public_names_in_the_order_of_their_changes(bindings, feed_of):
    repository = Repository(feed_of(bindings, oai=PATH))
    fill(bindings)
    for verb in ("ListRecords", "ListIdentifiers"):
        [part] = repository.parts(verb)
        assert [name for name, _, _ in part] == NAMES
        assert [name for name, _, deleted in part if deleted] == ["ark:12345/c"]


def test_a_file_of_text_is_a_repository(ticking, as_file, feed_of, monkeypatch):
    monkeypatch.setattr(oai_pmh, "RECORDS", 2)
    fill(ticking)
    repository = Repository(feed_of(as_file(ticking), oai=PATH))
    assert repository.names("ListRecords") == NAMES
    assert repository.names(set_="12345:x5") == ["ark:12345/x5a"]


def test_a_record_has_the_metadata_in_dublin_core(ticking, repository):
    fill(ticking)
    tree = repository.tree({"verb": "GetRecord", "identifier": "ark:/12345/x5-a", **OF_OAI_DC})
    [dc] = tree.iterfind("o:GetRecord/o:record/o:metadata/oai_dc:dc", SPACES)
    assert [(etree.QName(each).localname, each.text) for each in dc] == [
        ("title", "Map"),
        ("creator", "Ada"),
        ("identifier", f"{PREFIX}/ark:12345/x5a"),
        ("identifier", "ark:12345/x5a"),
    ]
    assert tree.findtext(".//o:datestamp", None, SPACES) == "2026-01-31T12:30:15Z"
    assert [each.text for each in tree.iterfind(".//o:setSpec", SPACES)] == ["12345", "12345:x5"]


def test_times_select_names_with_both_granularities(ticking, repository):
    fill(ticking)
    assert repository.names(from_="2026-01-31T14:30:15Z") == NAMES[1:]
    assert repository.names(from_="2026-01-31T14:30:16Z") == NAMES[2:]
    assert repository.names(until="2026-01-31T14:30:15Z") == NAMES[:2]
    assert repository.names(until="2026-01-31T14:30:14Z") == NAMES[:1]
    assert repository.names(from_="2026-01-31", until="2026-01-31") == NAMES
    assert repository.names(from_="2026-01-31T14:30:15Z", until="2026-01-31T14:30:15Z") == NAMES[1:2]
    assert repository.names(until="9999-12-31") == NAMES
    for arguments in ({"from": "2026-02-01"}, {"until": "2026-01-30"}, {"until": "0001-01-01T00:00:00Z"}):
        assert repository.error({"verb": "ListRecords", **OF_OAI_DC, **arguments}) == "noRecordsMatch"


def test_tokens_continue_a_list_with_its_conditions(ticking, repository, monkeypatch):
    monkeypatch.setattr(oai_pmh, "RECORDS", 1)
    fill(ticking)
    parts = list(repository.parts("ListRecords", from_="2026-01-31T14:00:00Z", until="2026-01-31T17:00:00Z"))
    assert [[name for name, _, _ in part] for part in parts] == [["ark:67890/b"], ["ark:12345/c"]]


def test_names_that_change_between_the_parts_are_neither_lost_nor_repeated(bindings, feed_of, monkeypatch):
    monkeypatch.setattr(oai_pmh, "RECORDS", 7)
    repository = Repository(feed_of(bindings, oai=PATH))
    for number in range(40):
        bindings.bind(f"ark:12345/{number:02}", "/x")
    versions: list[tuple[str, bool]] = []
    for count, part in enumerate(repository.parts("ListRecords")):
        versions += [(name, deleted) for name, _, deleted in part]
        if count < 3:
            # One name that was sent, one that was not, and a new one.
            bindings.withdraw(f"ark:12345/{count:02}")
            bindings.bind(f"ark:12345/{39 - count}", "/x", metadata={"what": "changed"})
            bindings.bind(f"ark:12345/new{count}", "/x")
    assert len(versions) == len({*versions})
    expected = {(f"ark:12345/{number:02}", False) for number in range(40)}
    expected |= {(f"ark:12345/{number:02}", True) for number in range(3)}
    assert {*versions} == expected | {(f"ark:12345/new{number}", False) for number in range(3)}


def test_sets_are_prefixes_with_records(ticking, repository):
    fill(ticking)
    assert repository.found("ListSets", "o:set/o:setSpec") == ["12345", "12345:x5"]
    assert repository.found("ListSets", "o:set/o:setName") == ["Names that begin with ark:12345/", "Maps"]
    assert repository.names(set_="12345") == ["ark:12345/c", "ark:12345/x5a"]
    assert repository.names(set_="12345:x5") == ["ark:12345/x5a"]
    assert repository.error({"verb": "ListRecords", **OF_OAI_DC, "set": "67890"}) == "noRecordsMatch"


def test_a_whole_set_is_listed_by_name(ticking, as_file, feed_of, monkeypatch):
    monkeypatch.setattr(oai_pmh, "RECORDS", 2)
    names = [f"ark:12345/x5{letter}" for letter in "dacbe"]
    for name in (*names, "ark:12345/z"):
        ticking.bind(name, "/x")
    ticking.prefixes.set("ark:12345/x5", what="Maps")
    for bindings in (ticking, as_file(ticking)):
        repository = Repository(feed_of(bindings, oai=PATH))
        parts = list(repository.parts("ListRecords", set_="12345:x5"))
        assert [name for part in parts for name, _, _ in part] == sorted(names)
        assert list(map(len, parts)) == [2, 2, 1]
        assert repository.names("ListRecords", set_="12345:x5", from_="2026-01-31") == names


def test_a_set_by_date_of_many_names_has_a_token_and_no_error(ticking, feed_of, monkeypatch):
    """Others that changed in the time are compared in parts, so that no part takes long."""
    for name, value in (("_FEW_NAMES", 0), ("_MOST_WALKED", 2), ("SEARCH_SECONDS", -1)):
        monkeypatch.setattr(listing, name, value)
    ticking.prefixes.set("ark:12345/x5", what="Maps")
    for number in range(8):
        ticking.bind(f"ark:12345/y{number}", "/y")
        ticking.bind(f"ark:12345/x5{number}", "/x") if number > 4 else None
    repository = Repository(feed_of(ticking, oai=PATH))
    parts = list(repository.parts("ListRecords", set_="12345:x5", from_="2026-01-31"))
    assert [name for part in parts for name, _, _ in part] == [f"ark:12345/x5{number}" for number in (5, 6, 7)]
    assert len(parts) > 1
    assert all(parts)


@pytest.mark.parametrize("post", [False, True])
def test_a_list_whose_names_are_far_back_continues_at_other_addresses(ticking, feed_of, monkeypatch, post: bool):
    """A list cannot be empty, so a request that found no name in its time redirects to the next one."""
    for name, value in (("_FEW_NAMES", 0), ("_MOST_WALKED", 2), ("SEARCH_SECONDS", -1)):
        monkeypatch.setattr(listing, name, value)
    ticking.prefixes.set("ark:12345/x5", what="Maps")
    for number in range(30):
        ticking.bind(f"ark:12345/y{number}", "/y")
    ticking.bind("ark:12345/x5a", "/x")
    monkeypatch.setattr(oai_pmh, "_PAGES", 4)
    read: list[object] = []
    list_names = type(ticking).list_names
    monkeypatch.setattr(type(ticking), "list_names", lambda *a, **k: read.append(k) or list_names(*a, **k))
    repository = Repository(feed_of(ticking, oai=PATH))
    wanted = {"verb": "ListIdentifiers", **OF_OAI_DC, "set": "12345:x5", "from": "2026-01-31"}
    headers = repository.tree(wanted, post=post).findall(".//o:identifier", SPACES)
    assert [each.text for each in headers] == ["ark:12345/x5a"]
    assert repository.redirects >= 2
    assert len(read) <= oai_pmh._PAGES * (repository.redirects + 1)
    # Without a name at all, the last request reports it.
    assert repository.error({**wanted, "from": "2036-01-31"}, post=post) == "noRecordsMatch"


def test_a_token_with_the_position_of_another_order_is_refused(ticking, repository):
    fill(ticking)
    for arguments, after in (({"set": "12345:x5"}, cursor("a", "b")), ({}, cursor("a"))):
        token = encode("ListRecords", {**OF_OAI_DC, **arguments}, after)
        assert repository.error({"verb": "ListRecords", "resumptionToken": token}) == "badResumptionToken"


def test_a_repository_without_prefix_records_has_no_sets(ticking, repository):
    ticking.bind("ark:12345/x", "/1")
    assert repository.error("verb=ListSets") == "noSetHierarchy"
    assert repository.error({"verb": "ListRecords", **OF_OAI_DC, "set": "12345"}) == "noSetHierarchy"


def test_resolver_lists_only_names_that_it_answers_for(ticking, feed_of):
    fill(ticking)
    ticking.prefixes.set("ark:67890/", what="Others")
    repository = Repository(feed_of(ticking, oai=PATH, naans=["67890"], schemes=["ark"]))
    assert repository.names() == ["ark:67890/b"]
    assert repository.found("ListSets", "o:set/o:setSpec") == ["67890"]
    assert repository.error({"verb": "GetRecord", "identifier": NAMES[0], **OF_OAI_DC}) == "idDoesNotExist"


def test_identify_describes_the_repository(ticking, repository, feed_of):
    fill(ticking)
    [identity] = repository.tree("verb=Identify").iterfind("o:Identify", SPACES)
    values = {etree.QName(each).localname: each.text for each in identity}
    assert values["repositoryName"] == "r.example"
    assert values["baseURL"] == f"{PREFIX}{PATH}"
    assert values["adminEmail"] == "webmaster@r.example"
    assert values["earliestDatestamp"] == "2026-01-31T12:30:15Z"
    branded = Repository(feed_of(ticking, oai=PATH, institution="A <library>", contact="maps@example.org"))
    assert branded.found("Identify", "o:repositoryName") == ["A <library>"]
    assert branded.found("Identify", "o:adminEmail") == ["maps@example.org"]


def test_the_recorded_contact_replaces_that_of_the_settings(ticking, feed_of):
    ticking.branding.set(Branding(contact="https://example.org/contact"))
    repository = Repository(feed_of(ticking, oai=PATH, contact="maps@example.org"))
    assert repository.found("Identify", "o:adminEmail") == ["webmaster@r.example"]


def test_an_empty_repository_answers_each_verb(repository):
    assert repository.found("Identify", "o:earliestDatestamp") == ["1970-01-01T00:00:00Z"]
    assert repository.found("ListMetadataFormats", "o:metadataFormat/o:metadataPrefix") == ["oai_dc"]
    assert repository.error({"verb": "ListRecords", **OF_OAI_DC}) == "noRecordsMatch"
    assert repository.error("verb=ListSets") == "noSetHierarchy"


def test_a_withdrawn_name_is_a_deleted_record(ticking, repository):
    fill(ticking)
    tree = repository.tree({"verb": "GetRecord", "identifier": "ark:12345/c", **OF_OAI_DC})
    assert tree.find(".//o:header", SPACES).attrib == {"status": "deleted"}
    assert repository.found("ListMetadataFormats", "o:metadataFormat/o:metadataPrefix", identifier="ark:12345/c")
    ticking.restore("ark:12345/c")
    tree = repository.tree({"verb": "GetRecord", "identifier": "ark:12345/c", **OF_OAI_DC})
    assert tree.find(".//o:header", SPACES).attrib == {}


def test_post_and_get_have_the_same_answers(ticking, repository):
    fill(ticking)
    arguments = {"verb": "GetRecord", "identifier": "ark:12345/x5a", **OF_OAI_DC}
    trees = [repository.tree(arguments, post=post) for post in (False, True)]
    for tree in trees:
        tree[0].text = ""
    assert etree.tostring(trees[0]) == etree.tostring(trees[1])
    assert repository.error("verb=GetRecord", post=True) == "badArgument"


NONE = "verb=ListRecords&metadataPrefix=oai_dc"
ERRORS = {
    "badVerb": [
        *("", "verb=", "verb=identify", "verb=Identify&verb=Identify", "metadataPrefix=oai_dc", "verb=%3Cb%3E"),
        "VERB=Identify",
    ],
    "badArgument": [
        *("verb=Identify&x=1", "verb=Identify&%00=%00", "verb=Identify&metadataPrefix=oai_dc", "verb=ListRecords"),
        *("verb=GetRecord&identifier=ark:12345/x5a", "verb=GetRecord&metadataPrefix=oai_dc"),
        *("verb=GetRecord&metadataPrefix=oai_dc&identifier=", "verb=GetRecord&metadataPrefix=oai_dc&identifier=x"),
        *("verb=GetRecord&metadataPrefix=oai_dc&identifier=ark:1%00", "verb=ListMetadataFormats&identifier=a%20b"),
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=ark:12345/%22%3E%3Cx/%3E",
        *(f"{NONE}&metadataPrefix=oai_dc", f"{NONE}&from=2026-01-01&from=2026-01-01", f"{NONE}&resumptionToken=x"),
        *(f"{NONE}&from=2026", f"{NONE}&from=2026-13-01", f"{NONE}&from=2026-02-30", f"{NONE}&from=0000-01-01"),
        *(f"{NONE}&from=2026-01-01T00:00Z", f"{NONE}&from=2026-01-01T00:00:00", f"{NONE}&until="),
        *(f"{NONE}&from=2026-01-01T24:00:00Z", f"{NONE}&until=2026-01-01T00:00:61Z", f"{NONE}&until=%D9%A2026-01-01"),
        *(f"{NONE}&from=2026-01-01T00:00:00.5Z", f"{NONE}&from=2026-01-01T00:00:00%2B01:00", f"{NONE}&from=-2026-1-1"),
        *(f"{NONE}&from=2026-01-01&until=2026-01-02T00:00:00Z", f"{NONE}&from=2026-01-02&until=2026-01-01"),
        *(f"{NONE}&set=", f"{NONE}&set=a::b", f"{NONE}&set=%22", f"{NONE}&set=a/b"),
        "verb=ListRecords&metadataPrefix=%26",
        *("verb=%F0", "verb=Identify&a=%ED%A0%80", "&".join(["verb=Identify"] * 200)),
        "verb=ListRecords&resumptionToken=",
        "verb=ListSets&set=12345",
    ],
    "cannotDisseminateFormat": [
        "verb=ListRecords&metadataPrefix=oai_marc", "verb=GetRecord&identifier=ark:12345/x5a&metadataPrefix=OAI_DC",
    ],
    "idDoesNotExist": [
        *(f"verb=GetRecord&metadataPrefix=oai_dc&identifier={name}" for name in (
            "ark:12345/none", "ark:12345/x5secret", "oai:example.org:1", "ark:99999/x", f"ark:12345/{'a' * 7000}",
            "urn:isbn:x", "ark:12345/x5a?info",
        )),
        "verb=ListMetadataFormats&identifier=ark:12345/x5secret",
    ],
    "badResumptionToken": [
        *(f"verb=ListRecords&resumptionToken={token}" for token in ("x", "e30", "AAAA", "a" * 7000, "-_-_")),
        "verb=ListSets&resumptionToken=x",
    ],
}  # fmt: skip


@pytest.mark.parametrize("code", ERRORS)
def test_errors_are_those_of_the_specification(ticking, repository, code):
    fill(ticking)
    for request in ERRORS[code]:
        for post in (False, True):
            assert repository.error(request, post=post) == code, request


def test_values_are_escaped_and_invalid_characters_replaced(ticking, repository):
    hostile = "<b>&amp;\"' ]]> &#0; \u05d0\U0001f600 <?x?> <!-- end"
    ticking.bind("ark:12345/x", "/1", metadata={"what": hostile, "dc.rights": f"{hostile}\nline"})
    ticking.prefixes.set("ark:12345/", what=hostile)
    tree = repository.tree({"verb": "ListRecords", **OF_OAI_DC})
    assert tree.findtext(".//dc:title", None, SPACES) == hostile
    assert tree.findtext(".//dc:rights", None, SPACES) == f"{hostile}\nline"
    assert repository.found("ListSets", "o:set/o:setName") == [hostile]
    with ticking.store.transaction() as transaction:
        statement = "UPDATE bindings SET metadata = ?, revision = 2 WHERE key = 'ark:12345/x'"
        transaction.connection.exec_driver_sql(statement, ('{"erc.what": "a\\u0000b\\ud800\\u001b\\ufffe"}',))
    tree = repository.tree({"verb": "ListRecords", **OF_OAI_DC})
    assert tree.findtext(".//dc:title", None, SPACES) == "a\ufffdb\ufffd\ufffd\ufffd"


def test_unreadable_rows_are_omitted(ticking, repository, monkeypatch):
    monkeypatch.setattr(oai_pmh, "HEADERS", 2)
    for number in range(6):
        ticking.bind(f"ark:12345/{number}", "/1")
    with ticking.store.transaction() as transaction:
        statement = "UPDATE bindings SET metadata = '[', revision = 2 WHERE key < 'ark:12345/3'"
        transaction.connection.exec_driver_sql(statement)
    assert repository.names() == ["ark:12345/3", "ark:12345/4", "ark:12345/5"]


def test_a_large_or_incomplete_form_is_refused(ticking, repository):
    large = repository.client.post(PATH, data="verb=" + "x" * MAX_FORM)
    assert (large.status_code, large.text) == (413, "The form is larger than 65,536 bytes. Send fewer arguments.\n")
    environ = create_environ(PATH, method="POST", data="verb=") | {"CONTENT_LENGTH": "500"}
    body, status, _ = run_wsgi_app(repository.client.application, environ)
    assert status == "400 Bad Request"
    assert b"".join(body) == b"The form ends before its Content-Length. Send all of it.\n"


def test_methods_and_caching(ticking, repository):
    head = repository.client.head(f"{PATH}?verb=Identify")
    assert (head.status_code, head.data, head.headers["Cache-Control"]) == (200, b"", "no-store")
    assert repository.client.put(PATH).headers["Allow"] == "GET, POST, HEAD, OPTIONS"
    ticking.close()
    closed = repository.client.get(f"{PATH}?verb=Identify")
    assert (closed.status_code, closed.headers["Retry-After"]) == (503, "10")
