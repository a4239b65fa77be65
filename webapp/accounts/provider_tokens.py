"""Access tokens of identity providers (JWT), which programs send instead of a token of Ararat. The signature, audience
and times of a token are verified before its subject is looked up. ID tokens, logout tokens and tokens that are bound to
a key of the client are refused. Sources: RFC 7519 (JWT), RFC 8725 (best practices), RFC 9068 (access tokens).
"""

from __future__ import annotations

import base64
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key, RSAKey
from joserfc.jws import JWSRegistry

from ...bindings.names import validation
from ...bindings.system.concurrency import Busy
from ...bindings.system.fork_safety import ForkSafeLock
from ...bindings.system.thread_slots import slots
from ...identifiers.text.translatable import Translatable
from ...net.allowed_addresses import Network
from .provider import INVALID, Provider, ProviderUnavailable, fetch

MAX_TOKEN: Final = 8192
"""The maximum length of a token of a provider in characters. GitHub's and Keycloak's have 1,000 to 3,000."""

LEEWAY_SECONDS: Final = 60
"""The accepted difference between the clocks for the begin of a token. Its end is exact."""

PAUSE_SECONDS: Final = 60.0
"""The minimum time between two requests for keys of one issuer, unless its keys are too old or were never read."""

_EACH: Final = 2
"""The number of requests of one client that wait for a provider at the same time."""

_KEY_TYPES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "RS256": ("RSA", ()),
    "PS256": ("RSA", ()),
    "ES256": ("EC", ("P-256",)),
    "EdDSA": ("OKP", ("Ed25519", "Ed448")),
}
"""The accepted signatures, with the type and the curves of their keys. With HS256, a public key would be the secret."""

_MIN_RSA_BITS: Final = 2048
_MAX_KID: Final = 500
_MAX_TIME: Final = 2**53
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})

# ID tokens (OpenID Connect Core, 3.1.3.6 and 3.3.2.11), logout and security events (RFC 8417), and tokens that are
# bound to a key (RFC 7800).
_OTHER_PURPOSES: Final = ("nonce", "at_hash", "c_hash", "s_hash", "events", "cnf")


class TokenRefused(Exception):
    """The token is not valid here. The text is a sentence with the reason, for the client that sent the token."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class ProviderTokens:
    """The issuers whose JWTs programs can send as tokens. ``audience`` must be in ``aud`` of each token, such as the
    URL of this site. ``clock`` is in seconds. Raises ValueError for an issuer without https, unless it is a loopback
    address.
    """

    def __init__(
        self,
        audience: str,
        issuers: Iterable[str],
        denied: Sequence[Network] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.audience = audience
        self._issuers = {
            each: _Issuer(Provider(each, lambda address: fetch(address, denied), clock), clock) for each in issuers
        }

    def identity(self, token: str, now: datetime, client: str | None = None) -> tuple[str, str]:
        """Return the issuer and the subject of a token, after a check of its signature, audience and times. ``client``
        is the IP address of the client. Raises :class:`TokenRefused` and :class:`.ProviderUnavailable`.
        """
        if len(token) > MAX_TOKEN:
            raise TokenRefused(Translatable("The token has more than %(number)s characters.", number=MAX_TOKEN))
        header, claims = _parts(token)
        algorithm, kid = _signature(header)
        issuer = claims.get("iss")
        found = self._issuers.get(issuer) if isinstance(issuer, str) else None
        if found is None or not isinstance(issuer, str):
            raise TokenRefused(Translatable("The issuer (iss) of the token is not one that this site accepts."))
        keys = found.keys(kid, algorithm, client)
        if not any(_is_signed(token, key, algorithm) for key in keys):
            raise TokenRefused(Translatable("The token is not signed with a key of its issuer."))
        self._check(claims, now.timestamp())
        return issuer, _subject(claims)

    def _check(self, claims: Mapping[str, Any], now: float) -> None:
        kind, use = claims.get("typ", "Bearer"), claims.get("token_use", "access")
        if kind != "Bearer" or use != "access" or any(name in claims for name in _OTHER_PURPOSES):
            raise TokenRefused(
                Translatable("The token is not an access token. Send no ID token, refresh token or logout token.")
            )
        audience = claims.get("aud")
        audiences: list[Any] = audience if isinstance(audience, list) else [audience]
        if self.audience not in audiences or not all(isinstance(each, str) for each in audiences):
            raise TokenRefused(
                Translatable(
                    "The audience (aud) of the token is not %(audience)s. Ask the provider for a token with it.",
                    audience=validation.quote(self.audience, 200),
                )
            )
        if _time(claims, "exp") <= now:
            raise TokenRefused(Translatable("The token has expired. Ask the provider for a new one."))
        if any(name in claims and _time(claims, name) > now + LEEWAY_SECONDS for name in ("nbf", "iat")):
            raise TokenRefused(Translatable("The token is not valid yet. Compare the clocks of both servers."))


class _Issuer:
    """An issuer, and when its keys can be read again."""

    def __init__(self, provider: Provider, clock: Callable[[], float]) -> None:
        self._provider = provider
        self._clock = clock
        self._lock = ForkSafeLock()
        self._next = float("-inf")
        self._failed = False

    def keys(self, kid: str, algorithm: str, client: str | None) -> list[Key]:
        """Return the keys for a signature. Read them again if it is by a key that was not published before."""
        known = self._provider.kept_keys
        if known is not None and (found := _fitting(known, kid, algorithm)):
            return found
        try:
            with slots.acquire("sign-ins", client, each=_EACH), self._lock:
                return self._read(kid, algorithm)
        except Busy:
            raise ProviderUnavailable("other requests wait for the keys", 5) from None

    def _read(self, kid: str, algorithm: str) -> list[Key]:
        known = self._provider.kept_keys
        if known is not None and (found := _fitting(known, kid, algorithm)):
            return found
        wait = self._next - self._clock()
        if wait > 0 and (self._failed or known is None):
            raise ProviderUnavailable("its keys were not readable at the last attempt", math.ceil(wait))
        if wait > 0:
            return []
        try:
            found = _fitting(self._provider.read_keys(), kid, algorithm)
        except ProviderUnavailable as error:
            self._next, self._failed = self._clock() + PAUSE_SECONDS, True
            raise ProviderUnavailable(str(error), int(PAUSE_SECONDS)) from error
        self._failed = False
        # The first keys are not counted if they fit, so that keys which are replaced soon afterwards are found as well.
        if known is not None or not found:
            self._next = self._clock() + PAUSE_SECONDS
        return found


def _parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the claims of a token that is not verified yet."""
    segments = token.split(".")
    try:
        if len(segments) != 3 or not all(map(_SEGMENT.fullmatch, segments)):
            raise ValueError("it has no three segments")
        header, claims = map(_json, segments[:2])
    except INVALID:
        raise TokenRefused(Translatable("The token is not a signed JWT.")) from None
    return header, claims


def _json(segment: str) -> dict[str, Any]:
    text = base64.b64decode(segment + "=" * (-len(segment) % 4), altchars=b"-_", validate=True).decode("utf-8")
    found = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse)
    if not isinstance(found, dict):
        raise TypeError("it is not an object")
    return found


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member is repeated")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _signature(header: Mapping[str, Any]) -> tuple[str, str]:
    """Return the algorithm and the key ID of a header. Keys and addresses of keys in a header are never used."""
    algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if not isinstance(algorithm, str) or algorithm not in _KEY_TYPES:
        raise TokenRefused(
            Translatable("The signature (alg) of the token is not one of %(names)s.", names=", ".join(_KEY_TYPES))
        )
    if not isinstance(kid, str) or not 0 < len(kid) <= _MAX_KID:
        raise TokenRefused(Translatable("The header of the token names no key (kid)."))
    if "crit" in header or "b64" in header or "zip" in header:
        raise TokenRefused(Translatable("The header of the token has an extension that is not supported (crit)."))
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise TokenRefused(
            Translatable("The token is not an access token. Send no ID token, refresh token or logout token.")
        )
    return algorithm, kid


def _fitting(keys: Iterable[Key], kid: str, algorithm: str) -> list[Key]:
    kind, curves = _KEY_TYPES[algorithm]
    return [each for each in keys if each.kid == kid and each.key_type == kind and _can_verify(each, algorithm, curves)]


def _can_verify(key: Key, algorithm: str, curves: tuple[str, ...]) -> bool:
    stated: dict[str, Any] = key.as_dict(private=False)
    operations = stated.get("key_ops")
    if isinstance(operations, list) and "verify" not in operations:
        return False
    if stated.get("alg", algorithm) != algorithm or stated.get("use", "sig") != "sig":
        return False
    if curves:
        return stated.get("crv") in curves
    return isinstance(key, RSAKey) and key.public_key.key_size >= _MIN_RSA_BITS


class OneAlgorithm(JWSRegistry):
    """The registry for an algorithm of :data:`_KEY_TYPES`, without the warning that EdDSA also has newer names."""

    def get_alg(self, name: str) -> Any:
        """Return the algorithm with this name."""
        return self.algorithms[name]


def _is_signed(token: str, key: Key, algorithm: str) -> bool:
    registry = OneAlgorithm(algorithms=[algorithm], strict_check_header=False)
    try:
        jws.deserialize_compact(token, key, registry=registry)
    except (JoseError, *INVALID):
        return False
    return True


def _time(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    # NaN, the infinities and numbers that no float can hold are outside as well.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _MAX_TIME:
        raise TokenRefused(Translatable("The time %(name)s of the token is missing or not a number.", name=name))
    return value


def _subject(claims: Mapping[str, Any]) -> str:
    subject = claims.get("sub")
    # No account can be linked to another subject.
    if not isinstance(subject, str) or not subject.isprintable() or subject != subject.strip() or not subject:
        raise TokenRefused(
            Translatable("The subject (sub) of the token is missing, or has outer white space or hidden characters.")
        )
    return subject
