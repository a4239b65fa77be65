"""Append the rest of an identifier to the path of its container's target (passthrough).

Scheme and authority of the target stay, so a target without a path cannot be extended: ``https://example.org`` and
``.evil.example`` would make another host. The rest begins with "/" or ".". It is a part of the normal form. With
"given", it is the rest of the request with its query, and is appended as text to a target with a query or fragment
(decision X-08).
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

from ...identifiers.ark.normalization import split_variants
from ...identifiers.text import iri
from .binding import NOTHING, Binding
from .targets import percent_encoded

# RFC 3986, section 3:  hier-part = "//" authority path-abempty      (the path ends at "?" or "#")
_PARTS = re.compile(r"((?:https?://[^/?#]++)?)(/[^?#]*+)(.*)", re.DOTALL)


# RFC 3986, section 3.3:  the characters of a path, also existing percent-encoding
_IN_PATH = "%/:@!$&'()*+,;=~"
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")


def is_given(binding: Binding) -> bool:
    """Return whether a name has the passthrough "given": its target gets the rest of a request as received."""
    return binding.passthrough == "given"


def can_append(target: str) -> bool:
    """Return whether a target has a path that the rest of an identifier can extend.

    >>> can_append("https://example.org/"), can_append("https://example.org?a"), can_append("/a")
    (True, False, True)
    """
    return _PARTS.fullmatch(target) is not None


def suffix_below(core: str, container: str) -> str:
    """Return the part of the ARK ``core`` below its container, as spelled: it begins with "/" or ".", or is "".

    >>> suffix_below("ark:12345/x/a.b", "ark:12345/x"), suffix_below("ark:12345/x.a.b", "ark:12345/x")
    ('/a.b', '.a.b')
    >>> suffix_below("ark:/12345/x-1.b.a/c,!", "ark:12345/x1.a.b"), suffix_below("ARK:12345/x-1", "ark:12345/x1")
    ('/c,!', '')
    """
    # The normal form of a container need not be a prefix of the text, but it has the same number of segments.
    segments = core[4:].removeprefix("/").split("/")
    slashes = container.count("/") + 1
    below = "".join(f"/{segment}" for segment in segments[slashes:])
    last = segments[slashes - 1]
    if below or split_variants(container.rpartition("/")[2])[1]:
        return below
    return last[len(split_variants(last)[0]) :]


def append_path(target: str, suffix: str) -> str | None:
    """Return ``target`` with ``suffix`` at the end of its path, or None if there is no path to extend. A variant
    (".en") cannot extend the path of a folder, and no dot-segment can be added.

    >>> append_path("https://example.org/a/?b#c", "/d"), append_path("/a.html", ".en")
    ('https://example.org/a/d?b#c', '/a.html.en')
    >>> append_path("https://example.org", ".evil.example"), append_path("https://example.org/a/", ".%2E")
    (None, None)
    """
    parts = _PARTS.fullmatch(target)
    if parts is None:
        return None
    origin, path, end = parts.groups()
    if suffix.startswith("/"):
        path = path.removesuffix("/")
    elif path.endswith("/"):
        # A variant cannot be appended to the path of a folder.
        return None
    path += suffix
    # Two slashes at the start would begin an authority. Clients and proxies remove dot-segments.
    if path.startswith("//") or iri.has_dot_segment(path):
        return None
    return origin + path + end


def takes_text(target: str) -> bool:
    """Return whether a target has a query or fragment, so that a rest as received is appended to it as text.

    >>> takes_text("https://example.org/view?id=5"), takes_text("https://example.org/#/item"), takes_text("/a")
    (True, True, False)
    """
    return "?" in target or "#" in target


def append_received(target: str, suffix: str) -> str | None:
    """Return ``target`` with the rest of a path as received, or None if it cannot be extended.

    >>> append_received("https://example.org/view?id=5", "/page2"), append_received("https://example.org/a", "/b c")
    ('https://example.org/view?id=5/page2', 'https://example.org/a/b%20c')
    >>> append_received("https://example.org?id=5", "/page2") is None
    True
    """
    received = as_received(suffix)
    if takes_text(target):
        return target + received if can_append(target) else None
    return append_path(target, received)


def with_received_query(target: str, query: str | None) -> str | None:
    """Return ``target`` with the query of a request as text at its end, or None if it has neither a query nor a
    fragment.

    >>> with_received_query("https://example.org/#q=", "x=1"), with_received_query("https://example.org/a", "x=1")
    ('https://example.org/#q=?x=1', None)
    """
    if not takes_text(target):
        return None
    return target if query is None else f"{target}?{percent_encoded(query)}"


def as_received(suffix: str) -> str:
    """Percent-encode the characters of a received path that no URL has. All others stay.

    >>> as_received("/full/400,/0/a%2fb-c.tar.gz/"), as_received('/a|b"%')
    ('/full/400,/0/a%2fb-c.tar.gz/', '/a%7Cb%22%25')
    """
    return _LONE_PERCENT.sub("%25", quote(suffix, safe=_IN_PATH))


def inherit(container: Binding, key: str, core: str = "") -> Binding | None:
    """Return the binding that a ``container`` with passthrough makes for the ARK ``key`` below it, or None if its
    target cannot be extended. ``core`` is the ARK as received, without its query. Only the target is inherited:
    metadata, resource and alternates describe the container.
    """
    if container.passthrough in (False, "no") or container.target is None:
        return None
    if is_given(container):
        target = append_received(container.target, suffix_below(core or key, container.identifier))
    else:
        target = append_path(container.target, suffix_below(key, container.identifier))
    if target is None:
        return None
    return replace(
        container,
        identifier=key,
        target=target,
        resource=None,
        passthrough=False,
        scope="name",
        alternates=NOTHING,
        metadata=NOTHING,
        numbers=NOTHING,
        spelling=key,
    )
