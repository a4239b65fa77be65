"""Names of URI/IRI schemes. The syntax decides if one is *valid*, and the registry if it is *registrable*, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .. import registries
from ..ark.embedded import SCHEME
from ..registries.tables import SCHEMES

# RFC 3986, section 3.1:  scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
VALID = re.compile(SCHEME)
"""The syntax of a scheme name in ASCII letters of either case (SCH-030). Use it with ``fullmatch``."""

RESERVED = "example"
"""The scheme "that can be used for examples in documentation without fear of conflicts" (RFC 7595, section 8)."""

MAX_ADVISED = 20
# fmt: off
GENERAL = frozenset({
    "access", "address", "any", "app", "application", "cloud", "common", "data", "default", "document", "file",
    "general", "generic", "global", "id", "identifier", "info", "information", "internet", "link", "list",
    "locator", "name", "net", "network", "object", "online", "page", "public", "resource", "scheme", "service",
    "site", "standard", "system", "text", "uniform", "universal", "uri", "web", "world",
})
# fmt: on
"""Words that do not describe the purpose of a scheme, or are too general (SCH-034)."""

# A private name: a top-level domain, the domain, and the addition of the owner.
_PRIVATE = {"4395bis": re.compile("[a-z]{2,}(?:-[a-z0-9]+){2,}"), "7595": re.compile(r"[a-z]{2,}(?:\.[a-z0-9\-]+){2,}")}
_TOP_LEVEL = {"com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "arpa"}
_SEPARATORS = re.compile(r"[+\-.]")
_LOOKS = str.maketrans("015", "ois")
_SHORTEST_LIKENED = 4


@dataclass(frozen=True, slots=True)
class NameReading:
    """The properties of a text as the name of a URI scheme. It is ``registrable`` if it is valid, in lower case, not
    registered, and not reserved for examples. ``status`` is that of a registered one. A ``private`` name begins with a
    reversed domain. ``similar`` are registered names that are easily confused with it.
    """

    name: str
    valid: bool
    registrable: bool
    status: str | None
    private: bool
    similar: tuple[str, ...]


def read_name(name: str) -> NameReading:
    """Check a name of a URI scheme: its syntax, its registration and similar names (RFC 7595, section 3.8; SCH-030,
    SCH-031, SCH-049). Accepts any str.

    >>> read_name("com-example-info").registrable, read_name("ARK").valid, read_name("ARK").registrable
    (True, True, False)
    >>> read_name("1ark").valid, read_name("\\u0430rk").valid, read_name("ark\\n").valid
    (False, False, False)
    """
    if VALID.fullmatch(name) is None:
        return NameReading(name, False, False, None, False, ())
    # RFC 3986, section 3.1: "schemes are case-insensitive"
    record = registries.scheme(name.lower())
    # "the scheme names itself MUST be registered using lowercase letters"
    free = name.islower() and record is None and name.lower() != RESERVED
    return NameReading(name, True, free, record and record.status, is_private(name), tuple(similar_names(name)))


def is_private(name: str) -> bool:
    """Return whether the name of a URI scheme begins with a reversed domain (SCH-035). The parts are separated by
    hyphens (4395bis) or dots (RFC 7595).

    >>> is_private("com-example-info"), is_private("com.example.info"), is_private("view-source-of")
    (True, True, False)
    """
    for form in _PRIVATE.values():
        if form.fullmatch(name):
            top = _SEPARATORS.split(name, maxsplit=1)[0]
            return top in _TOP_LEVEL or len(top) == 2
    return False


def similar_names(name: str) -> Iterator[str]:
    """Yield the registered URI schemes whose names are easily confused with ``name`` (SCH-008). They differ in case,
    separators or digits that look like letters. Names of four or more characters can also differ in one character.

    >>> list(similar_names("mail-to")), list(similar_names("gopherr")), list(similar_names("ark"))
    (['mailto'], ['gopher'], [])
    """
    key, lower = _skeleton(name), name.lower()
    for other in registries.current().table(SCHEMES).records:
        if other != lower and (_skeleton(other) == key or _one_apart(lower, other)):
            yield other


def _skeleton(name: str) -> str:
    return _SEPARATORS.sub("", name.lower()).translate(_LOOKS)


def _one_apart(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST_LIKENED or len(long) - len(short) > 1:
        return False
    if len(short) == len(long):
        return sum(a != b for a, b in zip(short, long, strict=True)) == 1
    return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
