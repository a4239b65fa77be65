"""Fixes for requests that change on their way to the application, for each reverse proxy.

Every fix names the line of a configuration. docs/proxies.md shows each line in its context.
"""

from __future__ import annotations

from typing import Literal

ReverseProxy = Literal["nginx", "Apache", "Caddy", "gunicorn"]
Cause = Literal["no-raw-target", "rewritten", "normalised", "stopped", "label", "extension", "long", "head"]
"""The possible changes of a request.

- ``no-raw-target``: the server does not pass the raw request target to the application.
- ``rewritten``: the raw target differs from the one that was sent.
- ``normalised``: the raw target is unchanged, but the path was cleaned, so that the two differ.
- ``stopped``: something in front of the application answered. ``label``: the same, for a label in capitals.
  ``extension``: for a name that ends in an extension. ``long``: for a long name.
- ``head``: the answer to HEAD differs from the answer to GET."""

_NO_RAW_TARGET = (
    "The server does not pass the raw request target to the application (wsgiref, Django's runserver, granian and "
    "bjoern do not), or a middleware outside of ResolverMiddleware rewrites the path. Run the site with gunicorn, "
    "waitress or uWSGI, and make ResolverMiddleware the outermost middleware. Until then use ?info instead of a bare ?."
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
    """Return what to change in the configuration of a reverse proxy, so that it no longer changes requests in this way.

    If ``proxy`` is None, or has no fix for ``cause``, the fixes for all reverse proxies are returned.

    >>> remedy("long", "nginx")
    'nginx: large_client_header_buffers 4 16k; in the http or server block.'
    """
    if cause == "no-raw-target":
        return _NO_RAW_TARGET
    known = _REMEDIES[cause]
    if proxy in known:
        return known[proxy]
    return " ".join(["The reverse proxy must forward the request target unchanged.", *known.values()])
