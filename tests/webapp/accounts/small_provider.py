"""Answer as an OpenID provider in this process, because that of `openid_provider.py` takes seconds to start.

It has the same client and user. A code is used once, with the address and the verifier of its request (PKCE). A
refusal keeps it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote_plus, urlencode

from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.datastructures import MultiDict
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from tests.http_servers import Quiet, serving
from tests.webapp.accounts.openid_provider import CLIENT, PASSWORD, SECRET, USER

FORM = '<form method="post"><input type="hidden" name="csrfmiddlewaretoken" value="x"><button>Sign in</button></form>'


class Handler(Quiet, WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:
        pass


class Provider:
    """The pages and documents of the provider."""

    issuer = ""

    def __init__(self, redirect_uri: str) -> None:
        self.redirect_uri = redirect_uri
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self.codes: dict[str, MultiDict[str, str]] = {}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        request = Request(environ)
        answer = PAGES[request.path.removeprefix("/o").strip("/")]
        return answer(self, request)(environ, start_response)

    def configuration(self, request: Request) -> Response:
        pages = {"authorization_endpoint": "authorize/", "token_endpoint": "token/", "jwks_uri": "keys"}
        return document({"issuer": self.issuer} | {name: f"{self.issuer}/{page}" for name, page in pages.items()})

    def keys(self, request: Request) -> Response:
        return document({"keys": [self.key.as_dict(private=False)]})

    def authorize(self, request: Request) -> Response:
        """Return the form, or send a user who has signed in back with a code."""
        assert (request.args["client_id"], request.args["redirect_uri"]) == (CLIENT, self.redirect_uri)
        if request.method == "GET":
            return Response(FORM, mimetype="text/html")
        assert (request.form["username"], request.form["password"]) == (USER, PASSWORD)
        self.codes[code := secrets.token_urlsafe()] = MultiDict(request.args)
        query = urlencode({"code": code, "state": request.args["state"]})
        return Response(status=302, headers={"Location": f"{self.redirect_uri}?{query}"})

    def token(self, request: Request) -> Response:
        """Return the ID token for a code."""
        given = request.authorization
        if given is None or [unquote_plus(each or "") for each in (given.username, given.password)] != [CLIENT, SECRET]:
            return document({"error": "invalid_client"}, 401)
        asked = self.codes.get(request.form["code"])
        digest = hashlib.sha256(request.form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        expected = (challenge, request.form["redirect_uri"], "S256")
        if not asked or expected != (asked["code_challenge"], asked["redirect_uri"], asked["code_challenge_method"]):
            return document({"error": "invalid_grant"}, 400)
        del self.codes[request.form["code"]]
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": "1", "aud": CLIENT, "nonce": asked["nonce"], "iat": now, "exp": now + 60}
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.key)
        return document({"id_token": token, "access_token": "a", "token_type": "Bearer"})


PAGES = {
    ".well-known/openid-configuration": Provider.configuration,
    "keys": Provider.keys,
    "authorize": Provider.authorize,
    "token": Provider.token,
}


def document(content: object, status: int = 200) -> Response:
    return Response(json.dumps(content), status, mimetype="application/json")


@contextmanager
def small_provider(redirect_uri: str) -> Iterator[str]:
    """Answer until the end of the block, and return the issuer."""
    provider = Provider(redirect_uri)
    with serving(make_server("127.0.0.1", 0, provider, threaded=True, request_handler=Handler)) as server:
        provider.issuer = f"http://127.0.0.1:{server.port}/o"
        yield provider.issuer
