"""What to change where a request reaches the application otherwise than it was sent, by who stands in front.

Every remedy names the line of a configuration. docs/proxies.md has each of them in its place.
"""

from __future__ import annotations

from typing import Literal

Front = Literal["nginx", "Apache", "Caddy", "gunicorn"]
Cause = Literal["no-raw-target", "rewritten", "normalised", "stopped", "label", "extension", "long", "head"]
"""What happened to a request: the server gives no raw target at all; the raw target is another one than was sent; it is
given, but the path beside it is cleaned so that the two disagree; something in front answered. ``label``,
``extension`` and ``long`` are the last of it, for a label in capitals, for a name that ends in an extension and for a
long name; ``head`` for an answer to HEAD that is another one."""

_NO_RAW_TARGET = (
    "The server hands no raw request target to the application (wsgiref, and so Django's runserver, granian and bjoern "
    "do not), or a middleware outside of Ararat rewrites the path. Run the site with gunicorn, waitress or uWSGI, and "
    "put ResolverMiddleware outside of whatever rewrites paths. Until then ask ?info, never a bare ?."
)

_REMEDIES: dict[Cause, dict[Front, str]] = {
    "rewritten": {
        "nginx": "nginx: take the path off the address of proxy_pass. Not proxy_pass http://up/; but proxy_pass "
        "http://up; - with a path, be it a slash alone, nginx sends on a path that it has decoded, cleaned and encoded "
        "again, and no bare ?.",
        "Apache": "Apache: ProxyPass / http://127.0.0.1:8000/ nocanon, and AllowEncodedSlashes NoDecode in the same "
        "virtual host. Without nocanon the path is decoded and encoded again.",
        "Caddy": "Caddy: pass requests on by reverse_proxy alone, without uri, rewrite, handle_path or try_files.",
    },
    "normalised": {
        "nginx": "nginx: merge_slashes off; in the server block, for uwsgi_pass and the like.",
        "Apache": "Apache: ProxyPass / http://127.0.0.1:8000/ nocanon, and AllowEncodedSlashes NoDecode in the same "
        "virtual host. With ProxyPass to uwsgi:// it is AllowEncodedSlashes On, MergeSlashes Off and no nocanon; under "
        "mod_wsgi // is one slash whatever is set.",
    },
    "stopped": {
        "nginx": "nginx: let location / pass on all requests, with proxy_pass http://up; and without rewrite, return "
        "or deny rules for such paths.",
        "Apache": "Apache: AllowEncodedSlashes NoDecode in the virtual host (by default a path with %2F is answered "
        "by 404 before anybody is asked), and ProxyPass with nocanon; with ProxyPass to uwsgi:// it is "
        "AllowEncodedSlashes On, and no nocanon.",
        "Caddy": "Caddy: pass requests on by reverse_proxy alone, without a matcher that leaves such paths out.",
    },
    "label": {
        "nginx": "nginx: location ~* ^/(ark|urn): (with the star: in any case), where a location names the labels.",
        "Apache": 'Apache: <LocationMatch "(?i)^/(ark|urn):">, where a section names the labels.',
        "Caddy": 'Caddy: path_regexp "(?i)^/(ark|urn):", where a matcher names the labels.',
    },
    "extension": {
        "nginx": "nginx: move location ~* ^/(ark|urn): above every other location with a regular expression, such as "
        r"location ~* \.(js|css|png|pdf)$ {: nginx uses the first that matches. If you cannot move it, add location ^~ "
        "/ark: and location ^~ /urn: with the same lines inside; they are used before any regular expression.",
        "Apache": "Apache: exclude the names from every RewriteRule that matches extensions, with RewriteCond "
        "%{REQUEST_URI} !^/(ark|urn): [NC] before it, and put them above any ProxyPassMatch or AliasMatch that does.",
        "Caddy": "Caddy: handle the names first, in handle @names { reverse_proxy 127.0.0.1:8000 } above every other "
        "handle.",
    },
    "long": {
        "nginx": "nginx: large_client_header_buffers 4 16k; in the http or server block.",
        "Apache": "Apache: LimitRequestLine 8190.",
        "gunicorn": "gunicorn: --limit-request-line 8190.",
    },
    "head": {
        "nginx": "nginx: no proxy_method, and no limit_except that leaves HEAD out.",
        "Apache": "Apache: no Limit section that leaves HEAD out.",
    },
}


def front(server: str | None, via: str | None) -> Front | None:
    """Who stands in front, by what an answer says of itself in ``Server`` and ``Via``; None where that is unknown.

    >>> front("nginx/1.22.1", None), front("gunicorn", "1.1 Caddy"), front("AmazonS3", None)
    ('nginx', 'Caddy', None)
    """
    said = f"{via or ''} {server or ''}".lower()
    names: tuple[tuple[str, Front], ...] = (
        ("caddy", "Caddy"),
        ("nginx", "nginx"),
        ("openresty", "nginx"),
        ("apache", "Apache"),
        ("gunicorn", "gunicorn"),
    )
    return next((name for word, name in names if word in said), None)


def remedy(cause: Cause, who: Front | None) -> str:
    """What to change, for who stands in front; for each of them where that is unknown.

    >>> remedy("long", "nginx")
    'nginx: large_client_header_buffers 4 16k; in the http or server block.'
    """
    if cause == "no-raw-target":
        return _NO_RAW_TARGET
    known = _REMEDIES[cause]
    if who in known:
        return known[who]
    return " ".join(["Whatever is in front must pass the request target on as it came.", *known.values()])
