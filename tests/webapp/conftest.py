"""What the tests of pages share: a page as a tree that can be asked, and bindings that need no database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from ararat.middleware import BindingsUnavailable

VOID = {"br", "img", "input", "link", "meta", "path", "rect"}


@dataclass
class Element:
    """An element of a page: its attributes, and its children, elements and texts."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        """All text in it, as a reader would get it without styles."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def walk(self) -> Iterator[Element]:
        """It and everything below it, in the order of the page."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def all(self, tag: str | None = None, css: str | None = None, **attributes: str) -> list[Element]:
        """The elements below it of a tag, with a class, with attributes (`hx_get` for hx-get) of these values."""
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
        """The only such element."""
        found = self.all(tag, css, **attributes)
        assert len(found) == 1, f"{len(found)} elements {tag} .{css} {attributes}"
        return found[0]


class _Reader(HTMLParser):
    """Reads what the templates write, and nothing looser: every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("page")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


@pytest.fixture
def read_page() -> Callable[[str], Element]:
    """read_page(html) is the page as a tree; it fails where elements are not closed or an attribute stands twice."""

    def read(html: str) -> Element:
        reader = _Reader()
        reader.feed(html)
        reader.close()
        assert [element.tag for element in reader.open] == ["page"]
        ids = [element.attributes["id"] for element in reader.root.walk() if "id" in element.attributes]
        assert len(ids) == len(set(ids)), f"an id stands twice: {ids}"
        return reader.root

    return read


class Bound:
    """Bindings of a few names, each with its kind; "withdrawn" is one that was withdrawn. It notes what it is asked."""

    def __init__(self, kinds: dict[str, str], *, reachable: bool = True) -> None:
        self.kinds = kinds
        self.reachable = reachable
        self.asked: list[list[str]] = []

    def fetch(self, keys: Iterable[str]) -> dict[str, SimpleNamespace]:
        self.asked.append(list(keys))
        if not self.reachable:
            raise BindingsUnavailable("closed for the night")
        return {
            key: SimpleNamespace(kind="located" if kind == "withdrawn" else kind, status=_status(kind))
            for key, kind in self.kinds.items()
            if key in self.asked[-1]
        }


def _status(kind: str) -> str:
    return "withdrawn" if kind == "withdrawn" else "live"


@pytest.fixture
def bound() -> type[Bound]:
    """bound({"ark:12345/x": "located"}) stands for bindings."""
    return Bound
