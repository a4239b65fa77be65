"""What is below a name that lets it through: the rest of the identifier goes to the end of the target's path.

Only the path grows. Scheme and authority are those of the target, and its query and fragment stay at its end, so that
nobody is ever led to a place that whoever bound the name could not foresee: a target without a path takes nothing, or
``https://example.org`` and ``.evil.example`` would make a host. The rest begins at a boundary of the normal form, with
"/" or ".", and is spelled as the normal form spells it, since all spellings have to get one answer.
"""

from __future__ import annotations

import re

from ...identifiers.ark.normalization import split_variants
from ..bindings import targets
from ..bindings.model import NOTHING, Binding

# RFC 3986, section 3:  hier-part = "//" authority path-abempty      ("[?#]" is where the path ends)
_PARTS = re.compile(r"((?:https?://[^/?#]+)?)(/[^?#]*)(.*)", re.DOTALL)


def takes_more(target: str) -> bool:
    """Whether anything can be appended to a target: it has a path.

    >>> takes_more("https://example.org/"), takes_more("https://example.org?a"), takes_more("/a")
    (True, False, True)
    """
    return _PARTS.fullmatch(target) is not None


def rest_of(core: str, container: str) -> str:
    """What an ARK has below one of its containers, as it is spelled in ``core``; it begins with "/" or ".", or is "".

    ``core`` is an ARK in any spelling, or what begins with one; ``container`` is in normal form, and does contain it.

    >>> rest_of("ark:12345/x/a.b", "ark:12345/x"), rest_of("ark:12345/x.a.b", "ark:12345/x")
    ('/a.b', '.a.b')
    >>> rest_of("ark:/12345/x-1.b.a/c,!", "ark:12345/x1.a.b"), rest_of("ARK:12345/x-1", "ark:12345/x1")
    ('/c,!', '')
    """
    # A container in normal form need not be the beginning of what it contains, but has as many segments as that.
    segments = core[4:].removeprefix("/").split("/")
    known = container.count("/") + 1
    below = "".join(f"/{segment}" for segment in segments[known:])
    last = segments[known - 1]
    if below or split_variants(container.rpartition("/")[2])[1]:
        return below
    return last[len(split_variants(last)[0]) :]


def lowered(target: str, rest: str) -> str | None:
    """The target with ``rest`` at the end of its path, or None where it cannot be put there.

    >>> lowered("https://example.org/a/?b#c", "/d"), lowered("/a.html", ".en")
    ('https://example.org/a/d?b#c', '/a.html.en')
    >>> lowered("https://example.org", ".evil.example"), lowered("https://example.org/a/", ".%2E")
    (None, None)
    """
    parts = _PARTS.fullmatch(target)
    if parts is None:
        return None
    origin, path, end = parts.groups()
    if rest.startswith("/"):
        path = path.removesuffix("/")
    elif path.endswith("/"):
        # A variant of a folder has no place in it.
        return None
    path += rest
    # Two slashes at the start would begin an authority; and software on the way removes dot-segments.
    if path.startswith("//") or targets.has_dot_segment(path):
        return None
    return origin + path + end


def let_through(container: Binding, key: str) -> Binding | None:
    """The binding that a container makes for the ARK ``key`` below it, or None: it knows where it is, and no more.

    What is on record of the container itself (metadata, resource, alternates) is about the container.
    """
    if not container.passthrough or container.target is None:
        return None
    target = lowered(container.target, rest_of(key, container.identifier))
    if target is None:
        return None
    return container._replace(
        identifier=key,
        target=target,
        resource=None,
        passthrough=False,
        scope="name",
        alternates=NOTHING,
        metadata=NOTHING,
    )
