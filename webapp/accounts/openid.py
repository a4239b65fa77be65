"""Sign-in with OpenID Connect: the authorization code flow with PKCE, and the check of the ID token.
Authlib and joserfc implement the protocol. Only signatures with a public key are accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry
from requests.exceptions import RequestException

from ...net.allowed_addresses import Network
from .provider import INVALID, Provider, ProviderUnavailable, fetch, is_safe
from .records.identities import read_claim
from .transport import LimitedAdapter

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""The accepted signatures of ID tokens. With HS256, the secret of the client would be the key."""

LEEWAY_SECONDS = 120
"""The accepted difference between the clocks of this server and of the provider."""

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class NotConfirmed(Exception):
    """The provider did not confirm the identity of the user. The text is for the server log."""


class Confirmed(NamedTuple):
    """A user whom the provider confirmed. ``subject`` is the claim ``sub``. ``claim`` is the value of
    :attr:`OpenID.claim`, or None without it.
    """

    subject: str
    claim: str | None


@dataclass(kw_only=True, eq=False)
class OpenID:
    """An OpenID provider at which Ararat is registered as a client. Raises ValueError for another issuer.

    - ``issuer``: its URL, as in its metadata; https, or http on a loopback address.
    - ``client_secret``: None for a public client.
    - ``denied_networks``: networks to which no request is sent; :func:`~ararat.webapp.create_app` sets its own.
    - ``claim``: a claim by which people are linked before their first sign-in, such as "email", "eppn" or "orcid"; None
      links by the subject only.
    - ``title``: the text of the link on the sign-in page; the default is the host of the issuer.
    """

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    title: str = ""
    claim: str | None = None
    denied_networks: Sequence[Network] = ()
    _provider: Provider = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._provider = Provider(self.issuer, lambda address: self._fetch(address))
        self.title = self.title or urlsplit(self.issuer).netloc

    def authorization_url(self, *, redirect_uri: str, state: str, nonce: str, verifier: str) -> str:
        """Return the URL at the provider that asks the user to sign in and redirects to ``redirect_uri`` of this site.
        The provider returns the random texts ``state`` in the redirect and ``nonce`` in the token. ``verifier`` is the
        random text of PKCE (RFC 7636). Raises ProviderUnavailable.
        """
        metadata = self._provider.metadata(*_ENDPOINTS)
        with self._session(redirect_uri, metadata) as session:
            address, _ = session.create_authorization_url(
                metadata["authorization_endpoint"], state=state, nonce=nonce, code_verifier=verifier
            )
        return address

    def subject(self, *, redirect_uri: str, code: str, nonce: str, verifier: str) -> str:
        """Return the subject of the user who signed in at the provider, with the ``code`` in its redirect.
        The other values are those of :meth:`authorization_url`. Raises NotConfirmed and ProviderUnavailable.
        """
        return self.confirm(redirect_uri=redirect_uri, code=code, nonce=nonce, verifier=verifier).subject

    def confirm(self, *, redirect_uri: str, code: str, nonce: str, verifier: str) -> Confirmed:
        """Return the subject of the user, as :meth:`subject` does, and the verified value of :attr:`claim`.
        It is that of the ID token, or else of the endpoint of user information for the same subject.
        """
        metadata = self._provider.metadata(*_ENDPOINTS)
        try:
            with self._session(redirect_uri, metadata) as session:
                token = session.fetch_token(
                    metadata["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                    allow_redirects=False,
                )
                claims = self._claims_of(token, nonce)
                subject: str = claims["sub"]
                return Confirmed(subject, self._value(session, metadata, subject, claims))
        except RequestException as error:
            raise ProviderUnavailable(f"{metadata['token_endpoint']}: {error}") from error
        except (AuthlibBaseError, JoseError, *INVALID) as error:
            raise NotConfirmed(f"{type(error).__name__}: {error}") from error

    def _value(self, session: Any, metadata: dict[str, Any], subject: str, claims: Mapping[str, Any]) -> str | None:
        if self.claim is None:
            return None
        needed = {self.claim, "email_verified"} if self.claim == "email" else {self.claim}
        address = metadata.get("userinfo_endpoint")
        if not needed <= claims.keys() and is_safe(address):
            answer = session.get(address, allow_redirects=False)
            found = answer.json() if answer.status_code == 200 else {}
            # "The sub Claim in the UserInfo Response MUST be verified" (OpenID Connect Core, 5.3.2).
            claims = found if isinstance(found, dict) and found.get("sub") == subject else {}
        if self.claim == "email" and claims.get("email_verified") is not True:
            return None
        value = claims.get(self.claim)
        return read_claim(value) if isinstance(value, str) else None

    def _claims_of(self, token: Any, nonce: str) -> Mapping[str, Any]:
        text = token["id_token"]
        registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        try:
            known = self._provider.kept_keys or self._provider.read_keys()
            decoded = jwt.decode(text, key=KeySet(known), registry=registry)
        except (InvalidKeyIdError, ValueError):
            # The provider has new keys.
            decoded = jwt.decode(text, key=KeySet(self._provider.read_keys()), registry=registry)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": self.issuer},
                "aud": {"essential": True, "value": self.client_id},
                "sub": {"essential": True},
            },
            {"nonce": nonce, "client_id": self.client_id, "access_token": token.get("access_token")},
        )
        claims.validate(leeway=LEEWAY_SECONDS)
        # Authlib ignores an empty one. "If present, it MUST contain the OAuth 2.0 Client ID" (OpenID Connect Core, 2).
        if claims.get("azp", self.client_id) != self.client_id:
            raise TypeError("the token was issued to another client (azp)")
        subject = claims["sub"]
        # No account can be linked to another subject, and the page about it would contain hidden characters.
        if not isinstance(subject, str) or not subject.isprintable() or subject != subject.strip():
            raise TypeError("the subject is not a printable text without white space around it")
        return claims

    def _fetch(self, address: str) -> dict[str, Any]:
        return fetch(address, self.denied_networks)

    def _scope(self, metadata: dict[str, Any]) -> str:
        wanted = {None: "", "email": "email"}.get(self.claim, "profile")
        return f"openid {wanted}" if wanted in (metadata.get("scopes_supported") or [wanted]) and wanted else "openid"

    def _session(self, redirect_uri: str, metadata: dict[str, Any] | None = None) -> Any:  # the base class has no types
        methods = (metadata or {}).get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        use_post = self.client_secret and "client_secret_basic" not in methods and "client_secret_post" in methods
        session: Any = OAuth2Session(
            self.client_id,
            self.client_secret,
            token_endpoint_auth_method="client_secret_post" if use_post else None,
            scope=self._scope(metadata or {}),
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
        )
        # The proxies and the credentials of the environment are for other requests.
        session.trust_env = False
        for scheme in ("https://", "http://"):
            session.mount(scheme, LimitedAdapter(self.denied_networks))
        return session
