"""Faults of real front servers that public threads describe, and that no probe was written for.

doctor asks as readers ask, so it finds them by what a reader loses. Each printed remedy is then applied, and doctor
finds nothing.
"""

from __future__ import annotations

import json
import socket
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from ararat.cli.doctor.fixes import ReverseProxy
from ararat.cli.main import main
from ararat.cli.sites import hosts

from .test_fronts import World
from .test_remedies import (
    ALSO,
    OUT,
    REFUSAL,
    Applied,
    Change,
    Fronts,
    in_host,
    in_names,
    in_section,
    in_server,
    in_site,
    left_out,
    matched,
    moved_to_site,
    refused,
    without,
    world,
)

__all__ = ["world"]


class Lost(NamedTuple):
    """A fault of a front server: its lines, the finding with its code and words of its message, and the remedy.

    - ``fault``, ``mend``: the lines of the fault, and the change that applies the remedy. ``base``: as in ``Applied``.
    - ``code``, ``state``, ``words``: those of the finding. ``remedy``: words of the remedy that ``mend`` follows.
    """

    fault: Change
    mend: Change
    code: str
    words: str
    remedy: str
    state: str = "error"
    base: str = "names"


def server_line(line: str, code: str, words: str, remedy: str, state: str = "error") -> Lost:
    """Return the fault of a line in the server block of nginx. The remedy removes the line."""
    return Lost(in_server(line), without(line), code, words, remedy, state)


def names_line(line: str, code: str, words: str, remedy: str, state: str = "error") -> Lost:
    """Return the fault of a line in the location of the names in nginx. The remedy removes the line."""
    return Lost(in_names(line), without(line), code, words, remedy, state)


def moved(line: str, code: str, words: str, remedy: str) -> Lost:
    """Return the fault of a line in the server block of nginx. The remedy moves it into location /."""
    return Lost(in_server(line), moved_to_site(line), code, words, remedy)


PASSED = "proxy_set_header Host $host; "
PHONES = 'if ($http_user_agent ~* "iphone|android") { return 302 https://m.example.org$request_uri; }'
TYPE = "header {\n        Content-Type text/html\n        defer\n    }"
LOWER = "RewriteCond %{REQUEST_URI} [A-Z]\n    RewriteRule ^(.*)$ ${lower:$1} [R=301,L]"
QUERIES = "RewriteCond %{QUERY_STRING} .\n    RewriteRule ^(.*)$ $1 [QSD,R=301,L]"
HTML = r"RewriteRule ^(.*)\.html$ $1 [R=301,L]"
AGENT = "remove the if or map of $http_user_agent"
RULE = "A rule in front of Ararat"
NGINX: dict[str, Lost] = {
    "an empty User-Agent": server_line('if ($http_user_agent = "") { return 403; }', "agent", "without a User-", AGENT),
    "an unusual User-Agent": server_line(
        'if ($http_user_agent ~* "zotero|okhttp") { return 403; }', "agent", "okhttp/4.12, Zotero/7.0", AGENT
    ),
    "a semicolon": server_line('if ($request_uri ~ ";") { return 403; }', "query", "alone: ;.", RULE),
    "a quotation mark": server_line("if ($request_uri ~ \"'\") { return 404; }", "query", "alone: '.", "deny rules"),
    "backup files": server_line("location ~ ~$ { deny all; }", "punctuation", "alone: ~.", RULE),
    "hidden files": server_line(
        r"location ~ /\. { return 404; } location = /.well-known/ark { proxy_pass http://ararat; }",
        "parts",
        "alone: a/.b.",
        "remove rewrite, return and deny rules",
    ),
    "a site for phones": moved(PHONES, "agent", "Without the field User-Agent", AGENT),
    "a page for each Accept with HTML": server_line(
        'if ($http_accept ~ "text/html") { return 200 "the application"; }',
        "by-field",
        "Without the field Accept ",
        "move the if of this field",
    ),
    "scripts of other sites": moved(
        "if ($http_origin) { return 403; }", "by-field", "Without the field Origin", "move the if of this field"
    ),
    "parameters of social media": moved(
        "if ($args ~ fbclid) { return 301 $scheme://$http_host$uri; }",
        "redirected",
        "a link shared in social media",
        "move the return or rewrite into location /",
    ),
    "a cookie": names_line(
        'add_header Set-Cookie "visit=1; path=/" always;', "response", "Set-Cookie is added", "Set-Cookie", "warning"
    ),
    "another Vary": names_line(
        "proxy_hide_header Vary; add_header Vary Accept-Encoding always;", "response", "Vary is", "proxy_hide_header",
        "warning",
    ),
    "an encoding that was not requested": names_line(
        "add_header Content-Encoding gzip always;", "response", "Content-Encoding", "Content-Encoding"
    ),
    "a second Cache-Control": names_line(
        'add_header Cache-Control "public, max-age=31536000" always;', "cache", "max-age=31536000", "add_header Cache-"
    ),
    "CORS for one site": names_line(
        "proxy_hide_header Access-Control-Allow-Origin; add_header Access-Control-Allow-Origin https://a.example;",
        "cors",
        "https://a.example",
        "remove add_header Access-Control-Allow-Origin",
    ),
    "a withdrawal that caches keep permanently": Lost(
        (
            ("upstream ararat {", 'map $upstream_status $kept { 410 max-age=31536000; }\nupstream ararat {'),
            *in_names("add_header Cache-Control $kept always;"),
        ),
        without("add_header Cache-Control $kept always;"),
        "cache",
        "max-age=31536000",
        "remove expires and add_header Cache-Control",
    ),
    "robots.txt with an error": server_line(
        "location = /robots.txt { return 503; }", "robots", "/robots.txt (503)", "Search engines", "warning"
    ),
    "links of a page over https only": names_line(
        PASSED + "sub_filter 'https://example.org/' 'https://www.example.org/'; sub_filter_once off;",
        "response",
        "does not have the target",
        "sub_filter",
        "warning",
    ),
}  # fmt: skip
APACHE: dict[str, Lost] = {
    "another charset": Lost(
        in_section("Header edit Content-Type utf-8 iso-8859-1"),
        without("Header edit Content-Type utf-8 iso-8859-1"),
        "response",
        "the charset iso-8859-1",
        "Content-Type",
    ),
    "%2F over http only": Lost(
        (("NAMES OVER HTTP", "SECTION\nAllowEncodedSlashes Off"),),
        without("AllowEncodedSlashes Off"),
        "encoded-slash",
        "Answered by 404",
        "AllowEncodedSlashes NoDecode",
        base="tls",
    ),
    "a redirect to lower case": Lost(
        in_host(f"RewriteEngine On\n    RewriteMap lower int:tolower\n    {LOWER}"),
        ((LOWER, f"{OUT}\n    {LOWER}"),),
        "letter-case",
        "It is redirected to",
        OUT,
    ),
    "a redirect without the query": Lost(
        in_host(f"RewriteEngine On\n    {QUERIES}"),
        ((QUERIES, f"{ALSO}\n    {QUERIES}"),),
        "query",
        "It is redirected to",
        ALSO,
    ),
    "a redirect without .html": Lost(
        in_host(f"RewriteEngine On\n    {HTML}"), ((HTML, f"{ALSO}\n    {HTML}"),), "extension-html", "redirected", ALSO
    ),
    "a second policy of the content": Lost(
        in_section("Header always add Content-Security-Policy \"default-src 'self'\""),
        without("Header always add Content-Security-Policy \"default-src 'self'\""),
        "response",
        "Content-Security-Policy is sent 2 times",
        "Content-Security-Policy",
    ),
    "GET and HEAD only": Lost(
        in_section("<LimitExcept GET HEAD>\n        Require all denied\n        </LimitExcept>"),
        without("<LimitExcept GET HEAD>\n        Require all denied\n        </LimitExcept>"),
        "preflight",
        "OPTIONS",
        "LimitExcept",
    ),
}
CADDY: dict[str, Lost] = {
    "deep paths": Lost(
        refused("path_regexp ^(/[^/]+){5,}$"), without(REFUSAL), "parts", "alone: a/b/c/d/e/f.", "look for respond"
    ),
    "%25": Lost(
        refused('expression {http.request.uri}.contains("%25")'),
        without(REFUSAL),
        "encoded-reserved",
        "alone: %25.",
        "look for respond",
    ),
    "HTML as the type of each answer": Lost(
        in_site(TYPE),
        ((TYPE, ""),),
        "response",
        "Content-Type is changed",
        "Content-Type",
    ),
    "the end of HSTS": Lost(
        (('Strict-Transport-Security "max-age=31536000"', 'Strict-Transport-Security "max-age=0"'),),
        (('Strict-Transport-Security "max-age=0"', 'Strict-Transport-Security "max-age=31536000"'),),
        "hsts",
        "max-age=0",
        'header Strict-Transport-Security "max-age=31536000"',
        "warning",
        "tls",
    ),
    "a language for phones": Lost(
        matched("header User-Agent *iPhone*", "redir @matched /m{uri} 302"),
        left_out('        not path_regexp "(?i)^/((ark|urn):|\\.well-known/ark$)"\n'),
        "agent",
        "Without the field User-Agent",
        "remove header User-Agent from the matcher",
    ),
}
TABLES: dict[ReverseProxy, dict[str, Lost]] = {"nginx": NGINX, "Apache": APACHE, "Caddy": CADDY}


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("server", "fault"), [(server, fault) for server, table in TABLES.items() for fault in table])
def test_a_loss_of_a_reader_is_found_and_the_printed_remedy_mends_it(
    server: ReverseProxy, fault: str, world: World
) -> None:
    row = TABLES[server][fault]
    fronts = Fronts(world, server, Applied(row.fault, row.mend, (), row.base))
    found = fronts.found(row.fault)
    shown = [(each["code"], each["state"], each["message"], each.get("remedy")) for each in found]
    expected = [each for each in found if (each["code"], each["state"]) == (row.code, row.state)]
    assert [each for each in expected if row.words in each["message"] and row.remedy in each["remedy"]], shown
    assert "Not tried" not in str([each for each in expected if row.remedy in each["remedy"]]), shown
    assert fronts.found(row.fault, row.mend) == []


@pytest.mark.long
@pytest.mark.timeout(240)
def test_an_address_with_another_database_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = socket.getaddrinfo

    def both(host: Any, *others: Any, **more: Any) -> list[Any]:
        found = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", world.port, 0, 0))] if host == "localhost" else []
        return [*look_up(host, *others, **more), *found]

    monkeypatch.setattr(hosts.socket, "getaddrinfo", both)
    address = f"http://localhost:{world.port}"
    second = world.site(world.other, prefix=address)
    other = f"server {{ listen [::1]:{world.port}; location / {{ proxy_pass http://127.0.0.1:OTHER; }} }}\n"
    world.front(change=lambda shown: shown + other.replace("OTHER", str(second)), site=world.site(prefix=address))
    ran = CliRunner().invoke(main, ["doctor", "--json", address, "--database", str(world.database)])
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    [found] = [row for row in rows if row["state"] == "error"]
    assert (found["code"], ran.exit_code) == ("addresses", 1)
    assert "404 (not-bound) at the address ::1" in found["message"]
    assert "listen [::]:80;" in found["remedy"]
