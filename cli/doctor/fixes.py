"""Fixes for requests that change on their way to the application, for each reverse proxy.

Every fix names the line of a configuration. docs/go-live.md shows each line in its context.
"""

from __future__ import annotations

from typing import Literal

ReverseProxy = Literal["nginx", "Apache", "Caddy", "gunicorn"]
Cause = Literal[
    "no-raw-target", "rewritten", "normalised", "arguments", "empty-query", "stopped", "rule", "label", "case", "urn",
    "extension", "long", "head", "not-forwarded", "no-process", "intercepted", "slash", "redirected", "redirect-query",
    "password", "rate-limit", "inspector", "client-address", "cache", "hsts", "cache-key", "cached", "vary",
    "other-database", "two-databases", "buffer", "location", "fields", "link", "served",
]  # fmt: skip
"""The possible faults of a deployment.

- ``no-raw-target``: the server does not pass the raw request target to the application.
- ``rewritten``: the raw target differs from the one that was sent. ``arguments``: its query is lost, too.
- ``normalised``: the raw target is unchanged, but the path was cleaned, so that the two differ.
- ``empty-query``: only a question mark at the end is lost. ``case``: letters are changed.
- ``stopped``: something in front of the application answered. ``rule``: the same, with 403 or a similar status.
  ``label``: for a label in capitals. ``urn``: for URNs. ``extension``: for a name that ends in an extension.
  ``long``: for a long name.
- ``head``: the answer to HEAD differs from the answer to GET.
- ``not-forwarded``: no name reaches Ararat. ``no-process``: the server behind the reverse proxy does not answer.
- ``intercepted``: the front server replaces the error pages of Ararat.
- ``slash``: a redirect adds a slash to names. ``redirected``: another redirect takes names away.
- ``redirect-query``: a redirect to https or to another host loses a part of the request target.
- ``password``: the front server asks for a password. ``rate-limit``: it limits the number of requests.
- ``inspector``: the site answers at the address of the inspector.
- ``client-address``: the fields X-Forwarded-For and X-Forwarded-Proto are missing or not trusted.
- ``cache``, ``hsts``: the field Cache-Control or Strict-Transport-Security is changed or missing.
- ``cache-key``: a cache ignores a part of the request target. ``cached``: a cache keeps old redirects. ``vary``: a
  cache ignores the field Vary.
- ``other-database``, ``two-databases``: the site, or one of its processes, reads another database.
- ``buffer``: the header fields of an answer are too large for the front server.
- ``location``, ``link``: the field Location or Link is changed or removed. ``fields``: request fields are removed.
- ``served``: the site has no page for a served name."""

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

_REMEDIES |= {
    "arguments": {
        "nginx": "nginx: remove set $args and every rewrite that ends in ? from the location of the names. Both change "
        "the query, and nginx then also decodes and cleans the path.",
        "Apache": "Apache: remove the flag QSD, or the ? at the end, from every RewriteRule that matches names.",
        "Caddy": "Caddy: remove uri query and rewrite for the names.",
    },
    "rule": {
        "nginx": "nginx: look for deny, return 403, if and modsecurity in the server block; the error log names the "
        "rule.",
        "Apache": "Apache: look for SecRule (mod_security), Require and RewriteRule with [F]; the error log names the "
        "rule.",
        "Caddy": "Caddy: look for respond, abort and error, and for the plugin coraza_waf.",
    },
    "urn": {
        "nginx": "nginx: location ~* ^/(ark|urn): { proxy_pass http://127.0.0.1:8000; } in place of a location for ark "
        "only.",
        "Apache": 'Apache: <LocationMatch "(?i)^/(ark|urn):"> in place of a section for ark only.',
        "Caddy": 'Caddy: @names path_regexp "(?i)^/(ark|urn):" in place of a matcher for ark only.',
    },
    "case": {
        "nginx": "nginx: remove the directive that changes letters (perl_set, js_set, set_by_lua, rewrite).",
        "Apache": "Apache: exclude the names from the RewriteRule with int:tolower, with RewriteCond %{REQUEST_URI} "
        "!^/(ark|urn): [NC] before it.",
    },
    "intercepted": {
        "nginx": "nginx: proxy_intercept_errors off; in the location of the names.",
        "Apache": "Apache: ProxyErrorOverride Off in the section of the names.",
        "Caddy": "Caddy: remove handle_response from reverse_proxy for the names.",
    },
    "slash": {
        "nginx": "nginx: put a location ~* ^/(ark|urn): above the rule, such as rewrite ^(.*[^/])$ $1/ permanent;, and "
        "move the rule into location /.",
        "Apache": "Apache: RewriteCond %{REQUEST_URI} !^/(ark|urn): [NC] before the RewriteRule that adds the slash.",
        "Caddy": 'Caddy: not path_regexp "(?i)^/(ark|urn):" in the matcher of the redir.',
    },
    "redirected": {
        "nginx": "nginx: move the return or rewrite into another location, such as location /.",
        "Apache": "Apache: RewriteCond %{REQUEST_URI} !^/(ark|urn): [NC] before the RewriteRule, or a RedirectMatch "
        "that does not match names.",
        "Caddy": 'Caddy: not path_regexp "(?i)^/(ark|urn):" in the matcher of the redir.',
    },
    "redirect-query": {
        "nginx": "nginx: return 301 https://$host$request_uri; ($uri has no query, and is decoded).",
        "Apache": 'Apache: RewriteCond %{THE_REQUEST} "^\\S+ (\\S+)" and RewriteRule ^ https://%{SERVER_NAME}%1 '
        "[R=301,NE,L] send the target unchanged; Redirect and RewriteRule with $1 decode it.",
        "Caddy": "Caddy: redir https://{host}{uri} permanent ({path} has no query).",
    },
    "password": {
        "nginx": "nginx: auth_basic off; in location ~* ^/(ark|urn): opens the names only.",
        "Apache": 'Apache: Require all granted in <LocationMatch "(?i)^/(ark|urn):"> opens the names only.',
        "Caddy": 'Caddy: not path_regexp "(?i)^/(ark|urn):" in the matcher of basic_auth opens the names only.',
    },
    "rate-limit": {
        "nginx": "nginx: limit_req zone=NAME burst=20 nodelay; and limit_req_status 429;.",
        "Apache": "Apache: raise the limit of mod_qos, mod_evasive or mod_ratelimit.",
        "Caddy": "Caddy: raise the limit of rate_limit.",
    },
    "cache-key": {
        "nginx": "nginx: proxy_cache_key $scheme$host$request_uri; ($uri has no query, and is decoded).",
        "Apache": "Apache: CacheIgnoreQueryString Off.",
    },
    "cached": {
        "nginx": "nginx: remove proxy_ignore_headers Cache-Control and proxy_cache_valid for the names, and delete the "
        "stored answers in the folder of proxy_cache_path.",
        "Apache": "Apache: remove CacheIgnoreCacheControl and CacheMinExpire for the names, and run htcacheclean.",
    },
    "vary": {
        "nginx": "nginx: remove Vary from proxy_ignore_headers.",
    },
    "two-databases": {
        "nginx": "nginx: each server in the upstream block must be a process of the same site.",
        "Apache": "Apache: each BalancerMember must be a process of the same site.",
        "Caddy": "Caddy: each address of reverse_proxy must be a process of the same site.",
    },
    "buffer": {
        "nginx": "nginx: proxy_buffer_size 16k; and proxy_buffers 8 16k; in the server block (its default is 4 kB).",
        "Apache": "Apache: ResponseFieldSize 16384.",
        "Caddy": "Caddy: remove max_response_header, or set it to 16KiB.",
    },
    "location": {
        "nginx": "nginx: proxy_redirect off; in the location of the names.",
        "Apache": "Apache: no ProxyPassReverse and no Header edit Location for the names.",
        "Caddy": "Caddy: remove header_down Location.",
    },
    "fields": {
        "nginx": "nginx: remove proxy_pass_request_headers off, and proxy_set_header of Accept or No-Redirect.",
        "Apache": "Apache: remove RequestHeader unset for Accept and No-Redirect.",
        "Caddy": "Caddy: remove header_up -Accept and -No-Redirect.",
    },
    "link": {
        "nginx": "nginx: remove proxy_hide_header Link.",
        "Apache": "Apache: remove Header unset Link.",
        "Caddy": "Caddy: remove header -Link.",
    },
}

_BEGINNINGS: dict[Cause, str] = {
    "not-forwarded": "Let the front server send the names to Ararat (see docs/go-live.md), or wrap the site in "
    "ResolverMiddleware.",
    "no-process": "Start the server behind the reverse proxy (`ararat serve`, or the server that runs "
    "ResolverMiddleware): systemctl start ararat. To see why it ended: journalctl --unit ararat.",
    "inspector": "Set --inspector none (ARARAT_INSPECTOR), or give the inspector its own host and set --inspector "
    "https://names.example.org.",
    "client-address": "Let the reverse proxy set both fields, and set --trusted-proxies (ARARAT_TRUSTED_PROXIES) to "
    "the number of reverse proxies. Otherwise all clients share one limit of the inspector.",
    "cache": "Let answers keep the Cache-Control that Ararat sets. A name may be bound at any time.",
    "hsts": "Set Strict-Transport-Security where TLS ends, or with --hsts or ResolverMiddleware(..., hsts=...).",
    "arguments": "The front server changes the query. Forward the request target unchanged.",
    "empty-query": "A cache, CDN or front server removes an empty query. Let it pass on a question mark at the end, or "
    "use ?info instead.",
    "rule": "A rule in front of Ararat (a firewall, a bot filter or a deny rule) refuses these paths. Allow all paths "
    "that begin with /ark: and /urn:, in any spelling.",
    "urn": "Forward /urn: like /ark:, and have urn in the setting schemes (ARARAT_SCHEMES). If the site has no URNs, "
    "set ARARAT_SCHEMES=ark, also in the environment of ararat doctor.",
    "case": "A rule in front of Ararat changes letters. Names keep upper and lower case: ark:12345/aB is not "
    "ark:12345/ab.",
    "intercepted": "The front server replaces the error pages of Ararat. Let them pass: they name the error, the "
    "successor and the way out.",
    "slash": "A rule of the front server adds a slash to names. Exclude the names from it.",
    "redirected": "Exclude paths that begin with /ark: and /urn: from this redirect.",
    "redirect-query": "Let the redirect keep the whole request target, with the query and %2F as they were sent.",
    "password": "The front server asks for a password. To check a site that is not public yet, run ararat doctor "
    "behind it, with the address of the server itself: ararat doctor http://127.0.0.1:8000",
    "rate-limit": "A rate limit of the front server refused some requests, and doctor sent them again more slowly. Set "
    "a limit that a reader who opens several names does not reach.",
    "cache-key": "The key of the cache must contain the raw path and the query. Delete the stored answers.",
    "cached": "A cache keeps redirects longer than Ararat allows. Let it obey Cache-Control, and delete its stored "
    "answers.",
    "vary": "The cache must keep one answer for each value of the fields in Vary (Accept, Accept-Language, "
    "No-Redirect).",
    "other-database": "Give the site the database of --database by an absolute path or a URL (ARARAT_DATABASE, "
    "open_bindings), and restart it. A relative path depends on the folder in which a process starts.",
    "two-databases": "Let all processes and workers open one database, by an absolute path or a URL (ARARAT_DATABASE, "
    "open_bindings), and restart all of them.",
    "buffer": "The header fields of the answer are too large for the front server.",
    "location": "The front server changes Location. Let the answers pass unchanged.",
    "fields": "Pass on the header fields Accept, Accept-Language and No-Redirect of the request.",
    "link": "Pass on the header field Link of answers: programs find the description of a name by it.",
    "served": "If the front server sends only names to Ararat, the site is not behind it: change the kind to located "
    "(ararat relocate NAME URL --kind located). If ResolverMiddleware wraps the site, check that the site has the "
    "path.",
}


def reverse_proxy(server: str | None, via: str | None) -> ReverseProxy | None:
    """Return the reverse proxy that a response names, such as nginx, or None.

    ``server`` and ``via`` are the values of the header fields ``Server`` and ``Via``; None for a missing field.

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
    remedies = _REMEDIES.get(cause, {})
    beginning = _BEGINNINGS.get(cause)
    if proxy in remedies:
        return f"{beginning} {remedies[proxy]}" if beginning else remedies[proxy]
    return " ".join([beginning or "The reverse proxy must forward the request target unchanged.", *remedies.values()])
