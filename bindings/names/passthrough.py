"""Append the rest of an identifier to the path of its container's target (passthrough).

Only the path of the target changes; its scheme, authority, query and fragment stay. A target without a path cannot be
extended, because ``https://example.org`` and ``.evil.example`` would make another host. The rest is a part of the
normal form, so that all spellings get the same answer. It begins with "/" or ".".
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...identifiers.ark.normalization import split_variants
from ...identifiers.text import iri
from .binding import NOTHING, Binding

# RFC 3986, section 3:  hier-part = "//" authority path-abempty      (the path ends at "?" or "#")
_PARTS = re.compile(r"((?:https?://[^/?#]+)?)(/[^?#]*)(.*)", re.DOTALL)


def can_append(target: str) -> bool:
    """Return whether a target has a path, so that the rest of an identifier can be appended.

    >>> can_append("https://example.org/"), can_append("https://example.org?a"), can_append("/a")
    (True, False, True)
    """
    return _PARTS.fullmatch(target) is not None


def suffix_below(core: str, container: str) -> str:
    """Return the part of an ARK below its container as spelled in ``core``: it begins with "/" or ".", or is "".

    ``core`` is an ARK in any spelling, or a text that begins with one. ``container`` is the normal form of a name that
    contains it.

    >>> suffix_below("ark:12345/x/a.b", "ark:12345/x"), suffix_below("ark:12345/x.a.b", "ark:12345/x")
    ('/a.b', '.a.b')
    >>> suffix_below("ark:/12345/x-1.b.a/c,!", "ark:12345/x1.a.b"), suffix_below("ARK:12345/x-1", "ark:12345/x1")
    ('/c,!', '')
    """
    # The normal form of a container need not be a prefix of the text, but it has the same number of segments.
    segments = core[4:].removeprefix("/").split("/")
    known = container.count("/") + 1
    below = "".join(f"/{segment}" for segment in segments[known:])
    last = segments[known - 1]
    if below or split_variants(container.rpartition("/")[2])[1]:
        return below
    return last[len(split_variants(last)[0]) :]


def append_path(target: str, suffix: str) -> str | None:
    """Return the target with ``suffix`` at the end of its path, or None if it cannot be appended.

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


def inherit(container: Binding, key: str) -> Binding | None:
    """Return the binding that a container with passthrough creates for the ARK ``key`` below it.

    Return None if the container has no passthrough, or if its target cannot be extended. Metadata, resource and
    alternates of the container are not inherited: they describe the container only.
    """
    if not container.passthrough or container.target is None:
        return None
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
        spelling=key,
    )
