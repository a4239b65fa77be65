"""Invariants for all inputs, checked with a large number of them: `make fuzz FUZZ=1000000`.

Each `check_` function takes one input and fails if an invariant is broken. The tests draw the inputs, and the target of
atheris (fuzz_octets.py) passes bytes. Each failure that is found becomes a test of the faulty part."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.binding import Binding, Hold
from ararat.bindings.names.corrections import is_mistyped
from ararat.bindings.names.errors import BindingError, TableError
from ararat.bindings.names.prefixes.patterns import Pattern
from ararat.bindings.names.prefixes.prefixes import PrefixRecord
from ararat.bindings.names.prefixes.rules import Rule, RuleMatch
from ararat.bindings.rule_cache import RuleCache
from ararat.bindings.tables import other_rows
from ararat.bindings.tables.columns import fields
from ararat.bindings.tables.text_tables import FORMATS, Reader, read_rows
from ararat.identifiers import PROBLEMS, Ark, IdentifierError, Report, Urn, examine, find
from ararat.identifiers.registries import files
from ararat.identifiers.registries.tables import RegistryError
from ararat.identifiers.registries.tables import read as read_registry
from ararat.identifiers.text.display import visible
from ararat.identifiers.urn import parser as urn
from ararat.middleware import BindingSource, ResolverMiddleware
from ararat.middleware.resolution.resolver import no_rules, resolve
from ararat.middleware.resolution.settings import Settings

pytestmark = [pytest.mark.long, pytest.mark.timeout(24 * 3600)]

STATUSES = {"200", "204", "302", "303", "307", "400", "404", "405", "410", "414"}
REGISTRIES = sorted((Path(__file__).parents[1] / "data" / "registries").iterdir())

# Inputs ---------------------------------------------------------------------------------------------------------------

# Random text seldom gets past a label, so most inputs consist of pieces of the grammars.
PIECES = (
    *(
        "ark:",
        "ark:/",
        "ARK:",
        "urn:",
        "URN:",
        "urn:isbn:",
        "urn:uuid:",
        "urn:lex:",
        "https://n2t.net/",
        "ark%3A",
        "17beta",
    ),
    *("12345/", "99999/", "b5072/", "B5072/", "12148/", "x6np1", "A", "0451450523", "example:"),
    *(
        "/",
        "//",
        ".",
        "..",
        "-",
        "\u2010",
        "?",
        "??",
        "?info",
        "#",
        "%2F",
        "%2e",
        "%C3%A9",
        "%ff",
        "%",
        "+",
        "=",
        "?+",
        "?=",
    ),
    *(
        "\u202e",
        "\u200b",
        "\ufeff",
        "\u0000",
        "\ud800",
        "\u00e9",
        "e\u0301",
        " ",
        "\n",
        "&amp;",
        "<",
        ">",
        '"',
        ")",
        ";",
    ),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=24).map("".join)
ascii_targets = texts.map(lambda text: "".join(character for character in text if "!" <= character <= "~"))
# As in WSGI: one character for each byte. A server ends the target at a space and refuses control characters.
raw_targets = texts.map(lambda text: text.encode("utf-8", "surrogatepass").decode("latin-1")).map(
    lambda text: "".join(character for character in text if character > " " and character != "\x7f")
)
octets = st.binary(max_size=400) | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))
CELLS = (
    "identifier",
    "target",
    "kind",
    "ark:12345/x",
    "https://e.org/",
    ",",
    "\t",
    "\n",
    '"',
    "{",
    "}",
    ":",
    "null",
    "erc:",
)
tables = (
    st.lists(st.sampled_from(CELLS) | texts, max_size=30).map("".join).map(lambda text: text.encode(errors="replace"))
)


@st.composite
def damaged_registries(draw: st.DrawFn) -> bytes:
    content = draw(st.sampled_from(REGISTRIES)).read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        place, gone = draw(st.integers(0, len(content))), draw(st.integers(0, 60))
        content = content[:place] + draw(octets)[:40] + content[place + gone :]
    return content


# Invariants -----------------------------------------------------------------------------------------------------------


def check_examine(text: str) -> Report:
    report = examine(text, prefix="https://r.example", policies=["17beta"])
    said = report.as_dict()
    assert json.loads(json.dumps(said))["input"] == text
    assert report.input == text
    for shown in (*report.equivalents, *report.hierarchy, *(problem.message for problem in report.problems)):
        assert_printable(shown)
    for problem in report.problems:
        assert 0 <= problem.start <= problem.end <= len(text)
        assert problem.code in PROBLEMS
    assert report.valid == (report.normal_form is not None)
    if report.normal_form is not None:
        assert_printable(report.normal_form)
        again = examine(report.normal_form)
        assert (again.valid, again.normal_form) == (True, report.normal_form)
    return report


def check_find(text: str) -> None:
    end = 0
    for match in find(text):
        assert end <= match.start < match.end <= len(text)
        assert text[match.start : match.end] == match.literal
        if match.suggestion is not None:
            assert examine(match.suggestion).valid
        end = match.end


class Nothing(BindingSource):
    """Bindings without any name."""

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        return {}


LOCATED = Binding(
    identifier="",
    kind="located",
    target="https://e.example/a/?b#c",
    status="live",
    redirect=302,
    listed=True,
    resource=None,
    passthrough=False,
    scope="name",
    alternates={"application/json": "https://e.example/j", "de": "/d"},
    metadata={"erc.who": "A <b>", "erc.what": "\u202eB", "dc.title": "<i>"},
    reason=None,
    successor=None,
    spelling="",
    created=datetime(2026, 10, 4, tzinfo=UTC),
    changed=datetime(2026, 10, 4, tzinfo=UTC),
    revision=1,
)
SORTS = (
    LOCATED,
    replace(LOCATED, passthrough=True, redirect=307),
    replace(LOCATED, passthrough=True, target="/local/", alternates={}),
    replace(LOCATED, kind="related"),
    replace(LOCATED, kind="described", target=None, alternates={}),
    replace(LOCATED, kind="served", target="/served", alternates={}),
    replace(LOCATED, kind="served", target="/served/", scope="subtree", alternates={}),
    replace(LOCATED, status="withdrawn", reason="gone\u200b", successor="ark:12345/<b>"),
    replace(LOCATED, status="reserved"),
    # A row that another program wrote into the database.
    replace(LOCATED, target="javascript:alert(1)", alternates={}),
    replace(LOCATED, kind="served", target="/served/../etc", alternates={}),
)


class AllRules:
    """Rules of all kinds, and a pattern of minted names."""

    def rules_version(self) -> str:
        return "1"

    def rules(self) -> list[Rule]:
        templates = {"ark:12345/": "https://e.example/of/${value}", "ark:12148/": "/local/of?id=${content}"}
        return [Rule(prefix, template, 302, LOCATED.changed, None) for prefix, template in templates.items()]

    def prefixes(self) -> list[PrefixRecord]:
        return []

    def holds(self) -> list[Hold]:
        return []

    def recorded_branding(self) -> None:
        return None

    def patterns(self) -> list[Pattern]:
        return [Pattern("ark:12345/x5", 4, "noid")]


class Everything(BindingSource):
    """Bindings and rules of all kinds. The key decides which one a name has, if any."""

    def __init__(self) -> None:
        self._rule_cache = RuleCache(AllRules)

    def binding_by_rule(self, identifier: Ark | Urn) -> RuleMatch | None:
        return self._rule_cache.binding_for(identifier)

    def is_mistyped(self, identifier: Ark | Urn) -> bool:
        return is_mistyped(identifier.normal_form, self._rule_cache.patterns())

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        places = {key: crc32(key.encode()) % (len(SORTS) + 3) for key in keys}
        return {key: replace(SORTS[place], identifier=key) for key, place in places.items() if place < len(SORTS)}


def site(environ: Any, start_response: Any) -> list[bytes]:
    if "ararat.ark" in environ:
        path = environ["PATH_INFO"]
        assert path.partition("/served")[0] == "", ascii(path)
        assert not {".", ".."}.intersection(path.split("/")), ascii(path)
    start_response("204 No Content", [])
    return []


MIDDLEWARES = [
    ResolverMiddleware(site, bindings, prefix="https://r.example", inflections={"?cite": "A citation"})  # type: ignore[arg-type]
    for bindings in (Nothing(), Everything())
]
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "get", "")
ACCEPTED = ("", "text/html", "application/json", "text/plain;q=0.1, */*;q=\u00e9", "application/*", ",,;")


def check_request_target(target: str, method: str = "GET", accept: str = "") -> None:
    """Check a request as a server passes it on: the raw target, and the path decoded once."""
    path, _, query = target.partition("?")
    environ = {
        "REQUEST_METHOD": method,
        "HTTP_ACCEPT": accept,
        "HTTP_ACCEPT_LANGUAGE": accept,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path.encode("latin-1")).decode("latin-1"),
        "QUERY_STRING": query,
        "RAW_URI": target,
        "REQUEST_URI": target,
        "wsgi.url_scheme": "http",
        "HTTP_HOST": "r.example",
    }
    for middleware in MIDDLEWARES:
        status, headers, body = answer(middleware, environ.copy())
        assert status[:3] in STATUSES
        for name, value in headers:
            assert_printable(name + value)
            # The operator sets the target of a name. A client can change only its path.
            if name == "Location":
                assert value.startswith(("https://e.example/", "https://r.example/")), value
        assert not any(byte < 32 and byte not in b"\n\t" for byte in body)
        assert method != "HEAD" or not body


def answer(application: Any, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    body = b"".join(application(environ, lambda *begun: started.append(begun)))
    ((status, headers),) = started
    return status, headers, body


def check_verdicts(identifier: str) -> None:
    """The resolver and the inspector accept the same identifiers."""
    core = identifier.partition("?")[0].partition("#")[0]
    if core[:4].lower() not in ("ark:", "urn:"):
        return
    resolution = resolve(core, lambda keys: {}, no_rules, Settings())
    assert resolution.problem is not None
    if resolution.problem.code == "not-bound":
        # a final slash is ignored.
        assert is_identifier(core) or is_identifier(core.removesuffix("/")), core
    elif resolution.status == 400 and resolution.problem.code not in ("naan-reserved-invalid", "dot-segment"):
        assert not is_identifier(core), (core, resolution.problem)


def is_identifier(text: str) -> bool:
    report = examine(text)
    if report.form != "embedded":
        return report.valid
    # In an address, the text after a prefix that looks like an identifier (ark:ark:12345/x, urn:ark:12345/x) is an ARK.
    # The resolver receives the whole text, of which "urn:ark:12345/x" is a URN.
    try:
        urn.parse(text)
    except IdentifierError:
        return False
    return True


def check_table(content: bytes, format: str) -> None:
    for encoding in ("utf-8", None):
        before, refused = 0, None
        try:
            for row in read_rows(io.BytesIO(content), format, Reader(encoding)):
                assert row.line > before
                before = row.line
                check_row(row.cells)
        except TableError as error:
            refused = error
        if refused is not None:
            assert refused.line >= 1
            assert_visible(refused)


def check_row(cells: Mapping[str, str]) -> None:
    try:
        other = other_rows.read(cells)
        if other is None:
            assert_printable(fields(cells).key)
        else:
            assert other_rows.read(other.cells()) == other
    except BindingError as error:
        assert_visible(error)


def assert_visible(error: Exception) -> None:
    """Assert that a message is safe. It names headings and hosts, which can have letters of any script."""
    text = str(error).replace("\n", "")
    assert visible(text) == text, ascii(text)


def check_registry(content: bytes) -> None:
    try:
        found = files.read(content, name="a-file", date="2026-08-14")
    except RegistryError as error:
        assert_printable(str(error))
    else:
        # Reading the written table again gives the same table.
        assert [read_registry(table.text(), table.registry) for table in found] == [*found]  # type: ignore[arg-type]


def assert_printable(text: str) -> None:
    assert text.isascii(), ascii(text)
    assert text.isprintable(), ascii(text)


# Inputs and invariants ------------------------------------------------------------------------------------------------


@given(texts)
def test_a_text_is_reported_on(text):
    check_examine(text)


@given(texts)
def test_a_text_is_searched(text):
    check_find(text)


@given(raw_targets.map("/".__add__), st.sampled_from(METHODS), st.sampled_from(ACCEPTED))
def test_a_request_target_is_answered(target, method, accept):
    check_request_target(target, method, accept)


@given(ascii_targets)
def test_resolver_and_inspector_agree(identifier):
    check_verdicts(identifier)


@given(tables | octets, st.sampled_from(FORMATS))
def test_a_table_is_read_or_refused(content, format):
    check_table(content, format)


@given(damaged_registries() | octets)
def test_a_registry_is_read_or_refused(content):
    check_registry(content)
