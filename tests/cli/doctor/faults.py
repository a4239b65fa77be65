"""The misconfigurations that `ararat doctor` must find, and the findings. Two tests use the table: with front servers,
and with stand-ins in one process.
"""

from __future__ import annotations

from typing import NamedTuple

from ararat.cli.doctor.finding import State


class Found(NamedTuple):
    """The expected finding: its code and state, and a part of its remedy; None if nothing must be done.

    ``remedies`` is the number of different changes that are asked for as errors.
    """

    code: str
    state: State
    remedy: str | None
    remedies: int = 1


FAULTS = {
    # Those of the first review.
    "proxy-pass-path": Found("encoded-slash", "error", "nginx: remove the path from the URL of proxy_pass"),
    "extension-location": Found("extension-pdf", "error", "nginx: move location ~* ^/(ark|urn): above every other"),
    "lower-case-label": Found("label", "error", "nginx: location ~* ^/(ark|urn): (the star ignores case)", 2),
    "long-cache-control": Found("cache-control", "error", "nginx: remove expires and add_header Cache-Control"),
    "backend-down": Found("backend", "error", "nginx: compare server 127.0.0.1:8000;"),
    "database-missing": Found("bindings", "error", "See its log, or run ararat doctor --database URL"),
    "database-read-only": Found("not-writable", "warning", "This is right for the user of a site that only reads.", 0),
    "firewall": Found("encoded-slash", "error", "A rule in front of Ararat (a firewall, a bot filter or a deny rule)"),
    "forged-client-address": Found("client-address", "error", "Without a reverse proxy, set --trusted-proxies 0."),
    "self-signed": Found("certificate", "error", "SSL_CERT_FILE=ca.pem"),
    "wrong-prefix": Found("prefix", "warning", "Otherwise, set prefix=", 0),
    "outdated-export": Found("export-outdated", "error", "Write it again: ararat export --edge"),
    "other-database": Found("other-database", "error", "Give the site the database of --database by an absolute path"),
    "two-databases": Found("two-databases", "error", "nginx: each server in the upstream block must be a process of"),
    "urn-not-forwarded": Found("urn", "error", "nginx: location ~* ^/(ark|urn): { proxy_pass"),
    "cached-redirect": Found("cached", "error", "nginx: remove proxy_ignore_headers Cache-Control"),
    "full-disk": Found("disk-full", "error", "Free space on the disk of the database."),
    "http-loses-query": Found("redirect-query", "error", "nginx: return 301 https://$host$request_uri;"),
    "asgi": Found("question-mark", "ok", None, 0),
    "cache-key": Found("info", "error", "nginx: proxy_cache_key $scheme$host$request_uri;"),
    "arguments": Found("info", "error", "nginx: remove set $args and every rewrite that ends in ?"),
    "intercepted": Found("intercepted", "error", "nginx: proxy_intercept_errors off;"),
    "added-slash": Found("slash", "error", "nginx: put a location ~* ^/(ark|urn): above the rule"),
    "www": Found("redirect", "warning", "Use this address: ararat doctor {www}, and set it as the prefix.", 0),
    "password": Found("password", "error", "run ararat doctor behind it"),
    "rate-limit": Found("rate-limit", "warning", "nginx: limit_req zone=NAME burst=20 nodelay;", 0),
    # Others.
    "small-buffer": Found("buffer", "error", "nginx: proxy_buffer_size 16k;"),
    "changed-location": Found("location", "error", "nginx: proxy_redirect off;"),
    "lost-request-fields": Found("fields", "error", "nginx: remove proxy_pass_request_headers off"),
    "hidden-link": Found("link", "warning", "nginx: remove proxy_hide_header Link.", 0),
    "bot-filter": Found("rule", "error", "nginx: look for deny, return 403, if and modsecurity in the server block"),
    "ignored-vary": Found("vary", "error", "nginx: remove Vary from proxy_ignore_headers."),
    "lower-cased": Found("letter-case", "error", "Apache: exclude the names from the RewriteRule with int:tolower"),
    "encoded-slash-refused": Found("encoded-slash", "error", "Apache: AllowEncodedSlashes NoDecode"),
    "head-refused": Found("head", "error", "nginx: remove proxy_method, and any limit_except that excludes HEAD."),
    "caddy-rewrite": Found("double-slash", "error", "Caddy: use reverse_proxy only"),
}
