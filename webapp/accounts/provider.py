"""A provider of identities: its metadata, and the keys with which it signs (OpenID Connect Discovery 1.0, RFC 7517).
They are read when they are first needed, and kept for :data:`KEPT_SECONDS`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key

from ...net.allowed_addresses import Network
from ...net.hop import HopFailed
from ...net.send import CHOSEN_BY_OPERATOR, send

KEPT_SECONDS = 3600.0

SECONDS = 10.0
"""Time limit of one request."""

MAX_BYTES = 1_000_000
"""The number of bytes of a response that are read."""

# A deeply nested document raises RecursionError, and an infinite number OverflowError.
INVALID = (ValueError, TypeError, KeyError, OverflowError, RecursionError)

_CONFIGURATION = "/.well-known/openid-configuration"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class ProviderUnavailable(Exception):
    """The provider cannot be reached, or its answer is not valid. The text is for the server log. The provider is
    asked again after ``retry_after`` seconds.
    """

    def __init__(self, text: str, retry_after: int = 10) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class Provider:
    """A provider of identities. Raises ValueError for an issuer whose URL is not https, or http on a loopback address.
    ``fetch`` returns the JSON object at a URL, or raises :class:`ProviderUnavailable`. ``clock`` is in seconds.
    """

    def __init__(
        self, issuer: str, fetch: Callable[[str], dict[str, Any]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not is_safe(issuer):
            raise ValueError("the OpenID issuer is not an https URL; use the issuer of the metadata of the provider")
        self.issuer = issuer
        self._fetch = fetch
        self._clock = clock
        self._metadata: tuple[dict[str, Any], float] | None = None
        self._keys: tuple[list[Key], float] | None = None

    def metadata(self, *endpoints: str) -> dict[str, Any]:
        """Return the metadata of the provider, at most :data:`KEPT_SECONDS` old. Raises ProviderUnavailable without an
        answer, or if the member that one of ``endpoints`` names is not a safe URL.
        """
        if self._metadata is None or self._clock() >= self._metadata[1]:
            found = self._fetch(self.issuer.removesuffix("/") + _CONFIGURATION)
            if found.get("issuer") != self.issuer:
                raise ProviderUnavailable(
                    f"{self.issuer}: its metadata have another issuer; set the issuer as it is there"
                )
            self._metadata, self._keys = (found, self._clock() + KEPT_SECONDS), None
        for name in endpoints:
            if not is_safe(self._metadata[0].get(name)):
                self._metadata, found = None, self._metadata[0]
                raise ProviderUnavailable(f"{self.issuer}: its metadata have no https URL as {name}")
        return self._metadata[0]

    @property
    def kept_keys(self) -> list[Key] | None:
        """The keys of the last :meth:`read_keys`; None if older than :data:`KEPT_SECONDS` or never read."""
        kept = self._keys
        return None if kept is None or self._clock() >= kept[1] else kept[0]

    def read_keys(self) -> list[Key]:
        """Read the keys again, and return those that can be used. Raises ProviderUnavailable."""
        address = self.metadata("jwks_uri")["jwks_uri"]
        found = [*_usable(self._fetch(address).get("keys"))]
        if not found:
            raise ProviderUnavailable(f"{address}: the document has no key that can be used")
        self._keys = found, self._clock() + KEPT_SECONDS
        return found


def _usable(keys: object) -> Sequence[Key]:
    """Return the keys that can be read. "Implementations SHOULD ignore JWKs … not understood" (RFC 7517, section 5)."""
    found: list[Key] = []
    for each in keys if isinstance(keys, list) else ():
        try:
            found.append(JWKRegistry.import_key(each))
        except (JoseError, *INVALID):
            continue
    return found


def fetch(address: str, denied: Sequence[Network] = ()) -> dict[str, Any]:
    """Return the JSON object at a URL. No redirect is followed, and no request is sent to ``denied`` networks.
    Raises ProviderUnavailable.
    """
    to = replace(CHOSEN_BY_OPERATOR, denied=tuple(denied))
    accept = [("Accept", "application/json")]
    try:
        answer = send(address, fields=accept, to=to, most=MAX_BYTES, cut=False, seconds=SECONDS)
        document = json.loads(answer.body)
    except (HopFailed, *INVALID) as error:
        raise ProviderUnavailable(f"{address}: {error}") from error
    if answer.status != 200 or not isinstance(document, dict):
        raise ProviderUnavailable(f"{address}: the answer has the status {answer.status} or no JSON object")
    return document


def is_safe(address: object) -> bool:
    """Return whether an address is an https URL, or an http URL of this machine, without user and fragment."""
    if not isinstance(address, str) or not address.isascii() or not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
