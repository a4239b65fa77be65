"""Fixes for requests that change on their way to the application, for each reverse proxy.

Every fix names the line of a configuration. docs/proxies.md shows each line in its context.
"""

from __future__ import annotations

from typing import Literal

ReverseProxy = Literal["nginx", "Apache", "Caddy", "gunicorn"]
Cause = Literal[
    "no-raw-target", "rewritten", "normalised", "stopped", "label", "extension", "long", "head",
    "not-forwarded", "no-process", "inspector", "client-address", "cache", "hsts",
]  # fmt: skip
"""The possible changes of a request.

- ``no-raw-target``: the server does not pass the raw request target to the application.
- ``rewritten``: the raw target differs from the one that was sent.
- ``normalised``: the raw target is unchanged, but the path was cleaned, so that the two differ.
- ``stopped``: something in front of the application answered. ``label``: the same, for a label in capitals.
  ``extension``: for a name that ends in an extension. ``long``: for a long name.
- ``head``: the answer to HEAD differs from the answer to GET.
- ``not-forwarded``: no name reaches Ararat. ``no-process``: the server behind the reverse proxy does not answer.
- ``inspector``: the site answers at the address of the inspector.
- ``client-address``: the fields X-Forwarded-For and X-Forwarded-Proto are missing or not trusted.
- ``cache``, ``hsts``: the field Cache-Control or Strict-Transport-Security is changed or missing."""

_NO_RAW_TARGET = (
    "The server does not pass on the raw request target, or a middleware outside of ResolverMiddleware rewrites the "
    "path. wsgiref, Django's runserver, granian and bjoern do not pass it. Run the site with gunicorn, waitress or "
    "uWSGI, and make ResolverMiddleware the outermost middleware. Until then use ?info instead of a bare ?."
)

_REMEDIES: dict[Cause, dict[ReverseProxy, str]] = {
    "rewritten": {
        "nginx": "nginx: remove the path from the URL of proxy_pass: proxy_pass http://up; instead of "
        "proxy_pass http://up/; - with any path, even a slash, nginx decodes, cleans and encodes the path, and drops a "
        "bare ?.",
        "Apache": "Apache: ProxyPass / http://127.0.0.1:8000/ nocanon, and AllowEncodedSlashes NoDecode in the same "
        "virtual host. Without nocanon Apache decodes and encodes the path.",
        "Caddy": "Caddy: use reverse_proxy only, without uri, rewrite, handle_path or try_files.",
    },
    "normalised": {
        "nginx": "nginx: merge_slashes off; in the server block, for uwsgi_pass and similar directives.",
        "Apache": "Apache: ProxyPass / http://127.0.0.1:8000/ nocanon, and AllowEncodedSlashes NoDecode in the same "
        "virtual host. For ProxyPass to uwsgi:// use AllowEncodedSlashes On and MergeSlashes Off, without nocanon. "
        "mod_wsgi always merges // into one slash.",
    },
    "stopped": {
        "nginx": "nginx: forward all requests in location / with proxy_pass http://up; and remove rewrite, return and "
        "deny rules for such paths.",
        "Apache": "Apache: AllowEncodedSlashes NoDecode in the virtual host (by default Apache answers a path with "
        "%2F by 404), and ProxyPass with nocanon. For ProxyPass to uwsgi:// use AllowEncodedSlashes On, without "
        "nocanon.",
        "Caddy": "Caddy: use reverse_proxy without a matcher that excludes such paths.",
    },
    "label": {
        "nginx": "nginx: location ~* ^/(ark|urn): (the star ignores case), if a location lists the labels.",
        "Apache": 'Apache: <LocationMatch "(?i)^/(ark|urn):">, if a section lists the labels.',
        "Caddy": 'Caddy: path_regexp "(?i)^/(ark|urn):", if a matcher lists the labels.',
    },
    "extension": {
        "nginx": "nginx: move location ~* ^/(ark|urn): above every other location with a regular expression, such as "
        r"location ~* \.(js|css|png|pdf)$ {: nginx uses the first that matches. If you cannot move it, add location ^~ "
        "/ark: and location ^~ /urn: with the same lines inside; nginx tries them before any regular "
        "expression.",
        "Apache": "Apache: exclude the names from every RewriteRule that matches extensions, with RewriteCond "
        "%{REQUEST_URI} !^/(ark|urn): [NC] before it, and put them above any ProxyPassMatch or "
        "AliasMatch that matches extensions.",
        "Caddy": "Caddy: handle the names first, in handle @names { reverse_proxy 127.0.0.1:8000 } above every other "
        "handle.",
    },
    "long": {
        "nginx": "nginx: large_client_header_buffers 4 16k; in the http or server block.",
        "Apache": "Apache: LimitRequestLine 8190.",
        "gunicorn": "gunicorn: --limit-request-line 8190.",
    },
    "head": {
        "nginx": "nginx: remove proxy_method, and any limit_except that excludes HEAD.",
        "Apache": "Apache: remove any Limit section that excludes HEAD.",
    },
}


_REMEDIES |= {
    "not-forwarded": {
        "nginx": "nginx: location ~* ^/(ark|urn): { proxy_pass http://127.0.0.1:8000; } above all other locations with "
        "a regular expression.",
        "Apache": 'Apache: <LocationMatch "(?i)^/(ark|urn):"> ProxyPass http://127.0.0.1:8000 nocanon </LocationMatch> '
        "in the virtual host of this name.",
        "Caddy": 'Caddy: @names path_regexp "(?i)^/(ark|urn):" and handle @names { reverse_proxy 127.0.0.1:8000 } '
        "above every other handle.",
    },
    "no-process": {
        "nginx": "nginx: compare server 127.0.0.1:8000; in the upstream block, or the URL of proxy_pass.",
        "Apache": "Apache: compare the URL of ProxyPass.",
        "Caddy": "Caddy: compare the address of reverse_proxy.",
    },
    "inspector": {
        "nginx": "nginx: a server block with server_name names.example.org; and location / { proxy_pass "
        "http://127.0.0.1:8000; }.",
        "Apache": "Apache: a VirtualHost with ServerName names.example.org and ProxyPass / http://127.0.0.1:8000/ "
        "nocanon.",
        "Caddy": "Caddy: names.example.org { reverse_proxy 127.0.0.1:8000 }.",
    },
    "client-address": {
        "nginx": "nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; and proxy_set_header "
        "X-Forwarded-Proto $scheme; in the location with proxy_pass.",
        "Apache": "Apache: RequestHeader set X-Forwarded-Proto expr=%{REQUEST_SCHEME}, and no ProxyAddHeaders Off.",
        "Caddy": "Caddy: remove header_up -X-Forwarded-For and -X-Forwarded-Proto from reverse_proxy.",
    },
    "cache": {
        "nginx": "nginx: remove expires and add_header Cache-Control for these paths.",
        "Apache": "Apache: remove the directives of mod_expires and Header set Cache-Control for these paths.",
        "Caddy": "Caddy: remove header Cache-Control for these paths.",
    },
    "hsts": {
        "nginx": 'nginx: add_header Strict-Transport-Security "max-age=31536000" always; in the server for https.',
        "Apache": 'Apache: Header always set Strict-Transport-Security "max-age=31536000" in the host for https.',
        "Caddy": 'Caddy: header Strict-Transport-Security "max-age=31536000".',
    },
}

_BEGINNINGS: dict[Cause, str] = {
    "not-forwarded": "Let the front server send the names to Ararat (see docs/sites.md), or wrap the site in "
    "ResolverMiddleware.",
    "no-process": "Start the server behind the reverse proxy (`ararat serve`, or the server that runs "
    "ResolverMiddleware): systemctl start ararat. To see why it ended: journalctl --unit ararat.",
    "inspector": "Set --inspector none (ARARAT_INSPECTOR), or give the inspector its own host and set --inspector "
    "https://names.example.org.",
    "client-address": "Let the reverse proxy set both fields, and set --trusted-proxies (ARARAT_TRUSTED_PROXIES) to "
    "the number of reverse proxies. Otherwise all clients share one limit of the inspector.",
    "cache": "Let answers keep the Cache-Control that Ararat sets. A name may be bound at any time.",
    "hsts": "Set Strict-Transport-Security where TLS ends, or with --hsts or ResolverMiddleware(..., hsts=...).",
}


def reverse_proxy(server: str | None, via: str | None) -> ReverseProxy | None:
    """Return the reverse proxy that the header fields ``Server`` and ``Via`` of a response name, or None.

    >>> reverse_proxy("nginx/1.22.1", None), reverse_proxy("gunicorn", "1.1 Caddy"), reverse_proxy("AmazonS3", None)
    ('nginx', 'Caddy', None)
    """
    fields = f"{via or ''} {server or ''}".lower()
    names: tuple[tuple[str, ReverseProxy], ...] = (
        ("caddy", "Caddy"),
        ("nginx", "nginx"),
        ("openresty", "nginx"),
        ("apache", "Apache"),
        ("gunicorn", "gunicorn"),
    )
    return next((name for word, name in names if word in fields), None)


def remedy(cause: Cause, proxy: ReverseProxy | None) -> str:
    """Return what to change in the configuration of a reverse proxy that changes requests in this way.

    If ``proxy`` is None, or has no fix for ``cause``, the fixes for all reverse proxies are returned.

    >>> remedy("long", "nginx")
    'nginx: large_client_header_buffers 4 16k; in the http or server block.'
    """
    if cause == "no-raw-target":
        return _NO_RAW_TARGET
    known = _REMEDIES[cause]
    beginning = _BEGINNINGS.get(cause)
    if proxy in known:
        return f"{beginning} {known[proxy]}" if beginning else known[proxy]
    return " ".join([beginning or "The reverse proxy must forward the request target unchanged.", *known.values()])
