"""Find targets that are valid and almost surely wrong, before they become those of a permanent name.

>>> [warning.code for warning in target_warnings("https://example.org/?a=1&amp;b=2")]
['target-entity']
>>> [warning.code for warning in target_warnings("http://localhost/x;jsessionid=ABC123DEF456")]
['target-local', 'target-session']
>>> target_warnings("https://example.org/?a=1&copy=2"), target_warnings("/items/1")
([], [])
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html.entities import html5
from urllib.parse import parse_qsl, urlsplit

from ...identifiers.text.translatable import Translatable
from ..names.naming import NameWarning

CODES = ("target-entity", "target-local", "target-session", "target-expires", "target-several")
"""The codes of the warnings."""

# Without its semicolon, "&copy=2" is a parameter.
_ENTITY = re.compile("&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
# A list of a spreadsheet. Behind a slash or an equals sign, a second URL is a part of the first.
_SEVERAL = re.compile(r"(?:[;,|]|%7C|%20)(https?://[^/?#;,]+)", re.IGNORECASE)
_LOCAL_HOST = re.compile(r"(?:.*\.)?(?:localhost|local|internal|intranet|lan|home\.arpa)\.?|[^.:]+")
_SESSION_PATH = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?#;]+|/\(S\([A-Za-z0-9]{8,}\)\)", re.IGNORECASE)
_SESSION = re.compile(
    "jsessionid|phpsessid|aspsessionid[a-z]*|asp\\.net_sessionid|session[-_]?id|sess[-_]?id|cfid|cftoken|oscsid|zenid",
    re.IGNORECASE,
)
_SHORT_SESSION = re.compile("sid|s", re.IGNORECASE)
_TOKEN = re.compile("[0-9A-Fa-f]{16,}|[0-9A-Za-z]{24,}")
# The parameters of addresses that are signed for some minutes or days. All of a group must be there.
_SIGNED = (
    {"x-amz-signature"},
    {"x-goog-signature"},
    {"x-oss-signature"},
    {"signature", "expires"},
    {"signature", "policy", "key-pair-id"},
    {"sig", "se"},
    {"hdnea"},
    {"token", "expires"},
)


def target_warnings(target: str | None) -> list[NameWarning]:
    """Return warnings about a stored target that is valid and almost surely wrong, such as ``target-local``,
    ``target-several`` or ``target-session``. None has no warnings.
    """
    if not target:
        return []
    # A quick check, because an import calls the function for each row: most targets have none of these.
    has_mark = "?" in target or ";" in target or "(" in target or target.find("://", len("https:")) > 0
    return list(_warnings_of(target)) if has_mark or _is_suspect(target[: target.find("/", 9) + 1 or None]) else []


def suspects(targets: Sequence[str]) -> list[int]:
    """Return the places of stored ``targets`` of which :func:`target_warnings` warns."""
    lines = "\n" + "\n".join(targets)
    origin = targets[0][: targets[0].find("/", 9) + 1] if targets else ""
    # Most tables have targets of one site, without such parts.
    is_of_site = lines.count("://") == len(targets) == lines.count(f"\n{origin}")
    if origin and is_of_site and not ("?" in lines or ";" in lines or "(" in lines or _is_suspect(origin)):
        return []
    return [place for place, target in enumerate(targets) if target_warnings(target)]


# The targets of a table have few hosts.
@lru_cache(maxsize=64)
def _is_suspect(origin: str) -> bool:
    return _SUSPECT_ORIGIN.match(origin) is not None


_SUSPECT_ORIGIN = re.compile(
    r"https?://(?:\[|[0-9.xa-f]+(?:[:/?#]|$)|[^/?#:.]+(?:[:/?#]|$)|[^/?#:]*(?:local|internal|intranet|lan|arpa))",
    re.IGNORECASE,
)


def _warnings_of(target: str) -> Iterator[NameWarning]:
    entities = (each for each in _ENTITY.finditer(target) if each[0][1] == "#" or each[0][1:] in html5)
    if entity := next(entities, None):
        yield NameWarning(
            "target-entity",
            Translatable("the target has %(entity)s, a character reference of HTML or XML", entity=entity[0]),
        )
    if other := _SEVERAL.search(target):
        yield NameWarning(
            "target-several",
            Translatable("the target has a second address, %(other)s: a name has one target", other=other[1]),
        )
    try:
        parts = urlsplit(target)
    except ValueError:
        return  # no target, but a text that a user types
    if parts.hostname and _is_local(parts.hostname):
        message = Translatable(
            "the host %(hostname)s of the target is local or private: others cannot reach it", hostname=parts.hostname
        )
        yield NameWarning("target-local", message)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    names = {name.lower() for name in query}
    session = _SESSION_PATH.search(parts.path) is not None or any(
        _SESSION.fullmatch(name) or (_SHORT_SESSION.fullmatch(name) and _TOKEN.fullmatch(value))
        for name, value in query.items()
    )
    if session:
        yield NameWarning("target-session", Translatable("the target has the parameter of a session, which ends"))
    if any(each <= names for each in _SIGNED):
        yield NameWarning("target-expires", Translatable("the target is a signed address, which expires"))


def _is_local(host: str) -> bool:
    try:
        # A target has no other form of an address, such as 127.1.
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return _LOCAL_HOST.fullmatch(host) is not None
