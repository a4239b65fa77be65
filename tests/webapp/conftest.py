"""Shared fixtures: a page as a tree, bindings without a database, and a site to trace."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from ararat.bindings.names.binding import Binding, NameCount
from ararat.bindings.names.branding.model import Branding
from ararat.bindings.names.fields import Fields
from ararat.bindings.names.naming import NO_RULES
from ararat.bindings.names.prefixes.holds import Holds
from ararat.bindings.names.prefixes.prefixes import PrefixRecords
from ararat.bindings.names.selection import Selection
from ararat.middleware import BindingsUnavailable
from ararat.middleware.resolution.source import BindingSource
from ararat.webapp import create_app

VOID = {"br", "img", "input", "link", "meta", "path", "rect", "source", "wbr"}


@dataclass
class Element:
    """An element of a page: its attributes and its children."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        """Return all text in the element."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def walk(self) -> Iterator[Element]:
        """Yield the element and all elements below it, in order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def all(self, tag: str | None = None, css: str | None = None, **attributes: str) -> list[Element]:
        """Return the elements below it by tag, class and attributes (`hx_get` means hx-get)."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            found
            for found in self.walk()
            if found is not self
            and tag in (None, found.tag)
            and (css is None or css in found.classes)
            and all(found.attributes.get(name) == value for name, value in wanted.items())
        ]

    def one(self, tag: str | None = None, css: str | None = None, **attributes: str) -> Element:
        """Return the only such element."""
        found = self.all(tag, css, **attributes)
        assert len(found) == 1, f"{len(found)} elements {tag} .{css} {attributes}"
        return found[0]


_TAG = re.compile(r"([A-Za-z][A-Za-z0-9-]*)(?:\s(.*))?", re.DOTALL)
_ATTRIBUTE = re.compile(r"""\s*([^\s"'>/=]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?|\s*/?$""")


def _tree(html: str) -> Element:
    """Parse the output of the templates strictly: every element is closed, in order. html.parser takes much longer."""
    before, *parts = html.split("<")
    root = Element("page", children=[unescape(before)] if before else [])
    opened = [root]
    for part in parts:
        tag, end, text = part.partition(">")
        assert end, f"not HTML: <{part[:100]}"
        if tag[0] == "/":
            name = tag[1:].lower()
            assert opened[-1].tag == name, f"</{name}> closes <{opened[-1].tag}>"
            opened.pop()
        elif tag[0] != "!":
            found = _TAG.fullmatch(tag.removesuffix("/"))
            assert found, f"not HTML: <{part[:100]}"
            element = Element(found[1].lower(), _attributes(found[2]) if found[2] else {})
            opened[-1].children.append(element)
            if element.tag not in VOID and tag[-1] != "/":
                opened.append(element)
        if text:
            opened[-1].children.append(unescape(text) if "&" in text and opened[-1].tag != "script" else text)
    assert len(opened) == 1, [element.tag for element in opened]
    return root


def _attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    place = 0
    while place < len(text):
        found = _ATTRIBUTE.match(text, place)
        assert found, f"not an attribute: {text[place:]}"
        place = found.end()
        if name := found[1]:
            assert name not in attributes, f"an attribute is repeated: {text}"
            attributes[name.lower()] = unescape(found[2] or found[3] or found[4] or "")
    return attributes


@pytest.fixture(scope="session")
def keep_copy() -> Iterator[Callable[[Path], Callable[[], None]]]:
    """keep_copy(file) returns a function that makes an open SQLite database as it is now.

    This is much faster than a new database with accounts and an application.
    """

    def keep(file: Path) -> Callable[[], None]:
        kept = copies.enter_context(closing(sqlite3.connect(":memory:")))
        with closing(sqlite3.connect(file)) as source:
            source.backup(kept)

        def restore() -> None:
            with closing(sqlite3.connect(file)) as target:
                target.execute("PRAGMA synchronous = OFF")
                kept.backup(target)

        return restore

    with ExitStack() as copies:
        yield keep


@pytest.fixture(scope="session")
def read_page() -> Callable[[str], Element]:
    """read_page(html) returns the page as a tree. It fails for unclosed elements and repeated attributes."""

    def read(html: str) -> Element:
        root = _tree(html)
        ids = [element.attributes["id"] for element in root.walk() if "id" in element.attributes]
        assert len(ids) == len(set(ids)), f"an id is repeated: {ids}"
        return root

    return read


class _Source(BindingSource):
    """The names of :class:`Bound`, as a resolver reads them."""

    def __init__(self, bindings: Bound) -> None:
        self._bindings = bindings

    def fetch(self, keys: Iterable[str], /) -> dict[str, Binding]:
        return self._bindings.fetch(keys)

    def records_and_holds(self) -> tuple[PrefixRecords, Holds]:
        return self.prefix_records(), self.holds()


class Bound:
    """Bindings of a few names by kind or "withdrawn". They record each lookup."""

    kind = "database"
    naming = NO_RULES
    branding = SimpleNamespace(current=Branding)

    def now(self) -> datetime:
        return datetime(2026, 10, 4, 12, tzinfo=UTC)

    def __init__(self, kinds: dict[str, str], *, reachable: bool = True) -> None:
        self.kinds = kinds
        self.reachable = reachable
        self.asked: list[list[str]] = []

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        self.asked.append(list(keys))
        if not self.reachable:
            raise BindingsUnavailable("closed for the night")
        return {
            key: Fields(
                kind="located" if kind == "withdrawn" else kind,
                status="withdrawn" if kind == "withdrawn" else "live",
                spelling=key,
                key=key,
            ).create_binding(datetime(2026, 10, 4, 12, tzinfo=UTC))
            for key, kind in self.kinds.items()
            if key in self.asked[-1]
        }

    @property
    def source(self) -> _Source:
        return _Source(self)

    @property
    def store(self) -> Bound:
        return self

    def fetch_traced(self, keys: Iterable[str]) -> tuple[dict[str, Binding], dict[str, Any]]:
        return self.fetch(keys), {}

    def list_names(self, selection: Selection, *, limit: int) -> SimpleNamespace:
        return SimpleNamespace(names=[])

    def count(self) -> NameCount:
        if not self.reachable:
            raise BindingsUnavailable("closed for the night")
        return NameCount(len(self.kinds), exact=True)


@pytest.fixture(autouse=True)
def _no_requests_to_targets(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A form that makes a name public requests its target. Only some tests let it."""
    if "requests_to_targets" not in request.fixturenames:
        monkeypatch.setattr("ararat.webapp.desk.before_public.request_sample", lambda targets: [])


@pytest.fixture
def requests_to_targets() -> None:
    """Let forms request the targets of names."""


@pytest.fixture
def bound() -> type[Bound]:
    """bound({"ark:12345/x": "located"}) returns bindings."""
    return Bound


# Traces of a site's own names -----------------------------------------------------------------------------------------


class Slow:
    """A site that blocks until it is released, and counts its requests."""

    def __init__(self) -> None:
        self.asked = 0
        self.answers = threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        self.asked += 1
        self.answers.wait(20)
        start_response("200 OK", [])
        return [b""]


@pytest.fixture
def slow() -> Iterator[Slow]:
    """A site that answers after `slow.answers` is set. `slow.asked` counts its requests."""
    site = Slow()
    yield site
    site.answers.set()


@pytest.fixture
def without_beats() -> Callable[[TestResponse], Iterator[bytes]]:
    """without_beats(response) yields the parts of a trace as they come, without the beats of a busy machine."""
    beats = b"event: waiting", b": still waiting"
    return lambda response: (part for part in response.iter_encoded() if not part.startswith(beats))


def _redirecting(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    path = environ["PATH_INFO"]
    leads = {
        "/ark:12345/x": "/page",
        "/page": "/page/2",
        "/ark:12345/odd": "/p\u00e1ge\u200b".encode().decode("latin-1"),
    }
    if path in leads:
        start_response("302 Found", [("Location", leads[path])])
    elif path == "/page/2":
        start_response("200 <b>OK", [("Content-Type", "text/html"), ("Server", "<i>\x9b31m")])
    else:
        start_response("404 Not Found", [])
    return [b""]


@pytest.fixture
def redirecting() -> Callable[..., list[bytes]]:
    """A site where every name leads to a page, and the page to its second edition."""
    return _redirecting


@pytest.fixture
def inspector(bound: type[Bound]) -> Callable[..., Any]:
    """inspector(site, **options) returns a client of an inspector whose own hops `site` answers."""

    def make(site: Callable[..., list[bytes]] = _redirecting, **options: Any) -> Any:
        names = bound({"ark:12345/x": "located", "ark:12345/odd": "located", "ark:12345/gone": "withdrawn"})
        # No test sends requests to another host.
        options.setdefault("trace_elsewhere", False)
        here = "https://here.example.org"
        return create_app(names, prefix=here, local={here: site}, **options).test_client()  # type: ignore[arg-type]

    return make


def _messages(response: Any, *also: str) -> list[tuple[str, str]]:
    found = []
    for block in response.text.split("\n\n"):
        lines = [line.partition(": ") for line in block.split("\n") if not line.startswith(":")]
        if any(name == "event" for name, _, _ in lines):
            data = "\n".join(value for name, _, value in lines if name == "data")
            found.append((next(value for name, _, value in lines if name == "event"), data))
    return [message for message in found if message[0] not in {"waiting", "next", "record"} - {*also}]


@pytest.fixture
def messages() -> Callable[..., list[tuple[str, str]]]:
    """messages(response, *also) returns the messages of an event stream as (type, data).

    Comments are omitted, and so are the types "waiting", "next" and "record" unless `also` names them.
    """
    return _messages
