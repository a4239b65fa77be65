"""Resumption tokens of OAI-PMH: the verb and arguments of the first request, and the position of the last name. So no
process keeps a state. A check sum detects a token that was cut or edited. It is not a secret: the content is checked
like arguments, and selects only names that arguments also select.
"""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from ...bindings.names.errors import BindingError
from ...bindings.names.selection import position
from . import oai_arguments
from .oai_arguments import OaiError, Verb

_DIGEST = 12


class ResumedList(NamedTuple):
    """The content of a resumption token: the ``arguments`` of the first request without its verb, and the cursor
    ``after`` of the last name.
    """

    arguments: Mapping[str, str]
    after: str


def encode(verb: Verb, arguments: Mapping[str, str], after: str) -> str:
    """Return the resumption token that continues an OAI-PMH list. ``after`` is :attr:`.Page.next`."""
    content = json.dumps([verb, dict(arguments), after], separators=(",", ":")).encode()
    return urlsafe_b64encode(_digest(content) + content).decode().rstrip("=")


def decode(verb: Verb, token: str) -> ResumedList:
    """Parse a resumption token that :func:`encode` returned for the same verb. Raises :class:`OaiError` with the code
    ``badResumptionToken``.

    >>> from ...bindings.names.selection import cursor
    >>> after = cursor("2026-01-31T12:00:00.000000Z", "ark:12345/x")
    >>> token = encode("ListRecords", {"metadataPrefix": "oai_dc"}, after)
    >>> decode("ListRecords", token).arguments
    {'metadataPrefix': 'oai_dc'}
    """
    try:
        octets = urlsafe_b64decode(f"{token}{'=' * (-len(token) % 4)}")
        digest, content = octets[:_DIGEST], octets[_DIGEST:]
        if digest != _digest(content) or urlsafe_b64encode(octets).decode().rstrip("=") != token:
            raise ValueError
        of, arguments, after = json.loads(content)
        if of != verb or not _is_position(after):
            raise ValueError
        _, checked = oai_arguments.read([("verb", verb), *arguments.items()])
    except (ValueError, TypeError, AttributeError, RecursionError, binascii.Error, OaiError):
        raise wrong_token() from None
    return ResumedList(checked, after)


def wrong_token() -> OaiError:
    """Return the OAI-PMH error for a resumption token that does not continue a list."""
    return OaiError("badResumptionToken", "the token is not one of this list; begin the list again")


def _is_position(after: str) -> bool:
    """Return whether a text is the position of a name, without or with the time of its change."""
    for kinds in ((str,), (str, str)):
        try:
            return all(str(value).isascii() and str(value).isprintable() for value in position(after, kinds))
        except BindingError:
            continue
    return False


def _digest(content: bytes) -> bytes:
    return sha256(b"ararat resumption token\n" + content).digest()[:_DIGEST]
