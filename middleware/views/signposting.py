"""Links of a name by FAIR Signposting: Link fields (level 1) and link sets (level 2). A link field of a redirect costs
time on each request, so it contains only what the binding has at hand. Links with long addresses are omitted from
fields, because of the limits of proxies. Source: FAIR Signposting Profile; RFC 8288; RFC 8574 (cite-as); RFC 9264 (link
sets).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ...bindings.names.binding import NOTHING
from ...identifiers.ark.grammar import RESERVED_NAAN
from ..resolution.description_formats import BY_NAME, Format
from .formats.reference import SOURCES, Reference, reference

if TYPE_CHECKING:
    from ..resolution.result import Resolution

_MAX_ADDRESS = 500
"""The length of the address of a description above which a field has only the link to the link set."""

_MAX_LINK = 500
"""The maximum length of the target of a link in a field."""

_MAX_AUTHORS = 3
"""The maximum number of authors in a field."""

# The elements from which a redirect takes links. The documents are not parsed for a redirect.
_ELEMENTS = (*SOURCES["type"], *SOURCES["licence"], *SOURCES["creator"])
_LINKED = frozenset(_ELEMENTS)

_JSON_LD, _LINKSET = BY_NAME["jsonld"], BY_NAME["linkset"]
_TO_JSON_LD = f'{_JSON_LD.inflection}>; rel="describedby"; type="{_JSON_LD.media_type}"'
_TO_LINKSET = f'{_LINKSET.inflection}>; rel="linkset"; type="{_LINKSET.media_type}"'


class Link(NamedTuple):
    """A link of a name. ``type`` is the media type of its target, and ``title`` a note on it in a link set."""

    rel: str
    href: str
    type: str | None = None
    title: str | None = None

    def __str__(self) -> str:
        """Return the value of a Link field, such as ``<https://example.org/1>; rel="item"; type="text/html"``."""
        suffix = f'; type="{self.type}"' if self.type else ""
        return f'<{self.href}>; rel="{self.rel}"{suffix}'


def links_of_name(address: str, recorded: str, container: str | None = None) -> tuple[str, str]:
    """Return the two Link fields for a redirect or a served page of a name. The first leads to the description
    (POL-032), the second has the other links.

    ``recorded`` is the result of :func:`links_by_metadata`, and ``container`` the address of the name that made the
    binding.

    >>> description, others = links_of_name("/ark:12345/x", "")
    >>> description, others.split(", ")[0]
    ('</ark:12345/x?info>; rel="describedby"', '</ark:12345/x>; rel="cite-as"')
    """
    # Each redirect calls this function, so it calls no other.
    description = f'<{address}?info>; rel="describedby"'
    if len(address) > _MAX_ADDRESS:
        return description, f"<{address}{_TO_LINKSET}"
    # A name for tests must not be cited (X-06).
    cited = "" if f"/{RESERVED_NAAN}" in address else f'<{address}>; rel="cite-as", '
    others = f"{cited}<{address}{_TO_JSON_LD}, <{address}{_TO_LINKSET}{recorded}"
    return description, others if container is None else f'{others}, <{container}>; rel="collection"'


def links_by_metadata(recorded: Mapping[str, str]) -> str:
    """Return the links ``type``, ``license`` and ``author`` of a name by its metadata, each after a comma. ``recorded``
    has full names.
    """
    if not recorded or _LINKED.isdisjoint(recorded):
        return ""
    return _links_by_elements(tuple(map(recorded.get, _ELEMENTS)))


@lru_cache(maxsize=1024)
def _links_by_elements(values: tuple[str | None, ...]) -> str:
    """Return the links ``type``, ``license`` and ``author`` of the elements in :data:`_ELEMENTS`."""
    recorded = {name: text for name, text in zip(_ELEMENTS, values, strict=True) if text}
    return "".join(f", {link}" for link in _typed_links(reference("", "", recorded), _MAX_AUTHORS))


def _typed_links(about: Reference, max_authors: int | None = None) -> Iterator[Link]:
    if about.type is not None:
        yield Link("type", f"https://schema.org/{about.type.schema}")
    if about.licence is not None:
        yield Link("license", about.licence)
    yield from (Link("author", author) for author in about.authors[:max_authors])


class Signposts(NamedTuple):
    """The links from the description of a name, or of a NAAN or shoulder, to related resources. ``about`` is what it
    describes, and ``formats`` those of the description. ``item`` is the URL of the resource itself. ``collection`` is
    the address of the name above that made the binding. ``further`` are others, such as that to a successor.
    """

    about: Reference
    formats: tuple[Format, ...]
    item: str | None = None
    collection: str | None = None
    further: tuple[Link, ...] = ()

    def field(self, current: Format | None = None) -> str:
        """Return the Link field for the response with a description in the format ``current``, or a tombstone. The
        other formats are also alternates. Their addresses are relative to the address of the name, which is in the
        request target.
        """
        formats = [
            Link("describedby" if current is None else "describedby alternate", form.inflection, form.media_type)
            for form in self.formats
            if form is not current and form is not _LINKSET
        ]
        page = [] if current is None else [Link("type", "https://schema.org/AboutPage")]
        short_address = len(self.about.address) <= _MAX_ADDRESS
        # draft-kunze-ark-43, section 5.2; RFC 6892: the description describes the name.
        relations = [*self._citing, *([] if current is None else ["describes"])]
        optional = [*page, *_typed_links(self.about, _MAX_AUTHORS), *self._content()]
        short = [link for link in optional if len(link.href) <= _MAX_LINK]
        cited = [Link(each, self.about.address) for each in relations if short_address]
        return ", ".join(map(str, [*cited, *formats, self._linkset(""), *short]))

    def as_linkset(self) -> bytes:
        """Return the links as a link set in JSON (RFC 9264, section 4.2)."""
        address, page = self.about.address, f"{self.about.address}?info"
        metadata = [
            Link("describedby", f"{address}{form.inflection}", form.media_type)
            for form in self.formats
            if form.media_type not in ("text/html", _LINKSET.media_type)
        ]
        cited = [Link(each, address) for each in self._citing]
        shared = [*cited, *metadata, *_typed_links(self.about), *self._content()]
        contexts = [
            (address, [*shared, Link("describedby", page, "text/html", self.about.note), *self.further]),
            (page, [*shared, Link("type", "https://schema.org/AboutPage")]),
            *((link.href, [Link("describes", address)]) for link in metadata),
        ]
        if self.item is not None:
            contexts.append((self.item, [*cited, Link("collection", page, "text/html")]))
        return json.dumps({"linkset": [_context(*each) for each in contexts]}, indent=1).encode() + b"\n"

    @property
    def _citing(self) -> list[str]:
        """The relation of a link to the name to cite. A name for tests must not be cited."""
        return [] if self.about.is_test else ["cite-as"]

    def _content(self) -> Iterator[Link]:
        if self.item is not None:
            yield Link("item", self.item)
        if self.collection is not None:
            yield Link("collection", self.collection)

    def _linkset(self, address: str) -> Link:
        return Link("linkset", f"{address}{_LINKSET.inflection}", _LINKSET.media_type)


def _context(anchor: str, links: Iterable[Link]) -> dict[str, object]:
    """Return the link context object of a link set: the targets of each relation."""
    relations: dict[str, object] = {"anchor": anchor}
    for link in dict.fromkeys(links):
        target = {"href": link.href} | ({"type": link.type} if link.type else {})
        target |= {"title": link.title} if link.title else {}
        targets = relations.setdefault(link.rel, [])
        if isinstance(targets, list):
            targets.append(target)
    return relations


def describedby(info: str) -> str:
    """Return the Link field that leads from a response to the description of the name at ``info`` (POL-032).

    >>> describedby("/ark:12345/x?info")
    '</ark:12345/x?info>; rel="describedby"'
    """
    return f'<{info}>; rel="describedby"'


def links_of_resolution(resolution: Resolution, root: str) -> tuple[str, str]:
    """Return the two Link fields for a resolved name (:func:`links_of_name`). Links begin with ``root``."""
    binding, container = resolution.binding, resolution.container
    recorded = links_by_metadata(NOTHING if binding is None else binding.metadata)
    return links_of_name(f"{root}/{resolution.key}", recorded, container and f"{root}/{container}")
