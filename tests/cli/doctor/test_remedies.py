"""Each remedy that `ararat doctor` prints without "Not tried:" is put into the faulty configuration of a real front
server. Before, doctor finds the fault and prints the remedy; after, it finds nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme

from ararat.cli.doctor.fixes import ReverseProxy, remedies

from ...fronts import FRONTS, composed, everything, program_of
from ...ports import free_port
from .test_fronts import World

Change = tuple[tuple[str, str], ...]
"""Texts of a configuration, each with the text that replaces it."""


class Applied(NamedTuple):
    """A remedy and its use.

    - ``fault``: the change that makes the documented configuration faulty. ``mend``: the change that applies the remedy
      to the faulty one.
    - ``words``: the parts of the printed remedy that ``mend`` follows, such as the line that it adds.
    - ``base``: the documented configuration: "names" with lines for the names beside a site, "all" with one location,
      or "tls" with https and a second server for http.
    - ``after``: what must be done beside the configuration: empty the folder of a "cache".
    """

    fault: Change
    mend: Change
    words: tuple[str, ...]
    base: str = "names"
    after: str = ""


NAMES = r"location ~* ^/((ark|urn):|\.well-known/ark$) {"
SITE = "    location / {\n        proxy_pass http://ararat;\n    }\n"
NO_SITE = "    location / {\n        return 404;\n    }\n"
HOST = "    server_name example.org;\n"
PASS = "proxy_pass http://ararat;"


def in_server(line: str) -> Change:
    return ((HOST, f"{HOST}    {line}\n"),)


def in_names(line: str) -> Change:
    return ((NAMES, f"{NAMES}\n        {line}"),)


def without(line: str) -> Change:
    return ((line, ""),)


def moved_to_site(line: str) -> Change:
    return (*without(line), ("    location / {\n", f"    location / {{\n        {line}\n"))


EXTENSIONS = "location ~* \\.(js|css|png|jpg|pdf)$ {\n        return 404;\n    }\n"
CACHE = "proxy_cache_path cache keys_zone=names:1m;\nupstream ararat {"
NGINX: dict[str, Applied] = {
    "rewritten": Applied(
        ((PASS, "proxy_pass http://ararat/;"),),
        (("proxy_pass http://ararat/;", PASS),),
        ("proxy_pass http://up; instead of proxy_pass http://up/;",),
        "all",
    ),
    "arguments": Applied(in_names('set $args "";'), without('set $args "";'), ("remove set $args",)),
    "stopped": Applied(
        in_server('if ($request_uri ~ "//|%2F") { return 404; }'),
        without('if ($request_uri ~ "//|%2F") { return 404; }'),
        ("remove rewrite, return and deny rules for such paths",),
    ),
    "rule": Applied(
        in_server('if ($request_uri ~* "%2f") { return 403; }'),
        without('if ($request_uri ~* "%2f") { return 403; }'),
        ("look for deny, return 403, if",),
    ),
    "label": Applied(
        ((NAMES, r"location ~ ^/((ark|urn):|\.well-known/ark$) {"), (SITE, NO_SITE)),
        (("location ~ ^/(", "location ~* ^/("),),
        ("location ~* ^/(ark|urn): (the star ignores case)",),
    ),
    "urn": Applied(
        ((NAMES, r"location ~* ^/(ark:|\.well-known/ark$) {"), (SITE, NO_SITE)),
        ((r"location ~* ^/(ark:|\.well-known/ark$) {", NAMES),),
        ("location ~* ^/(ark|urn): {", "in place of a location for ark only"),
    ),
    "extension": Applied(
        ((f"    {NAMES}", f"    {EXTENSIONS}    {NAMES}"),),
        ((EXTENSIONS, ""), (SITE, f"    {EXTENSIONS}{SITE}")),
        ("move location ~* ^/(ark|urn): above every other location with a regular expression",),
    ),
    "long": Applied(
        (("large_client_header_buffers 4 16k;", "large_client_header_buffers 4 2k;"),),
        (("large_client_header_buffers 4 2k;", "large_client_header_buffers 4 16k;"),),
        ("large_client_header_buffers 4 16k;",),
    ),
    "head": Applied(
        in_server("if ($request_method = HEAD) { return 405; }"),
        without("if ($request_method = HEAD) { return 405; }"),
        ("Look for if ($request_method)",),
    ),
    "not-forwarded": Applied(
        ((NAMES, r"location = /nothing {"), (SITE, NO_SITE)),
        ((r"location = /nothing {", NAMES),),
        ("location ~* ^/(ark|urn): {", "proxy_pass http://127.0.0.1:8000;"),
    ),
    "intercepted": Applied(
        in_server("proxy_intercept_errors on; error_page 404 410 /gone.html;"),
        in_names("proxy_intercept_errors off;"),
        ("proxy_intercept_errors off; in the location of the names",),
    ),
    "slash": Applied(
        in_server("rewrite ^(.*[^/])$ $1/ permanent;"),
        moved_to_site("rewrite ^(.*[^/])$ $1/ permanent;"),
        ("put a location ~* ^/(ark|urn): above the rule", "move the rule into location /"),
    ),
    "redirected": Applied(
        in_server("rewrite ^/(?!en/)(.*)$ /en/$1 redirect;"),
        moved_to_site("rewrite ^/(?!en/)(.*)$ /en/$1 redirect;"),
        ("move the return or rewrite into location /",),
    ),
    "password": Applied(
        in_server('auth_basic "staging"; auth_basic_user_file users;'),
        in_names("auth_basic off;"),
        ("auth_basic off; in location ~* ^/(ark|urn):",),
    ),
    "cache": Applied(in_names("expires 30d;"), without("expires 30d;"), ("remove expires",)),
    "cache-key": Applied(
        (
            ("upstream ararat {", CACHE),
            *in_names("proxy_cache names; proxy_cache_key $uri; proxy_cache_valid any 1m;"),
        ),
        (("proxy_cache_key $uri;", "proxy_cache_key $scheme$host$request_uri;"), ("proxy_cache_valid any 1m;", "")),
        ("proxy_cache_key $scheme$host$request_uri;",),
        after="cache",
    ),
    "vary": Applied(
        (
            ("upstream ararat {", CACHE),
            *in_names("proxy_cache names; proxy_ignore_headers Vary; proxy_cache_key $request_uri;"),
        ),
        without("proxy_ignore_headers Vary;"),
        ("remove Vary from proxy_ignore_headers",),
        after="cache",
    ),
    "buffer": Applied(
        (("proxy_buffer_size 16k;\n    proxy_buffers 8 16k;", "proxy_buffer_size 2k;\n    proxy_buffers 8 2k;"),),
        (("proxy_buffer_size 2k;\n    proxy_buffers 8 2k;", "proxy_buffer_size 16k;\n    proxy_buffers 8 16k;"),),
        ("proxy_buffer_size 16k; and proxy_buffers 8 16k; in the server block",),
    ),
    "location": Applied(
        in_server("proxy_redirect https://example.org/ /;"),
        in_names("proxy_redirect off;"),
        ("proxy_redirect off; in the location of the names",),
    ),
    "fields": Applied(
        in_names('proxy_set_header Host $host; proxy_set_header Accept-Language "";'),
        without('proxy_set_header Accept-Language "";'),
        ("proxy_set_header of Accept, Accept-Language",),
    ),
    "link": Applied(
        in_names("proxy_hide_header Link;"), without("proxy_hide_header Link;"), ("proxy_hide_header Link",)
    ),
    "response": Applied(
        in_names("proxy_hide_header Vary; proxy_hide_header Content-Language;"),
        without("proxy_hide_header Vary; proxy_hide_header Content-Language;"),
        ("remove proxy_hide_header",),
    ),
    "preflight": Applied(
        in_server("if ($request_method = OPTIONS) { return 204; }"),
        without("if ($request_method = OPTIONS) { return 204; }"),
        ("remove if ($request_method = OPTIONS)",),
    ),
    "agent": Applied(
        in_server("if ($http_user_agent ~* (curl|wget|python|java)) { return 403; }"),
        without("if ($http_user_agent ~* (curl|wget|python|java)) { return 403; }"),
        ("remove the if or map of $http_user_agent",),
    ),
    "by-field": Applied(
        in_server('if ($http_accept_language ~ "^en") { return 302 /en$request_uri; }'),
        moved_to_site('if ($http_accept_language ~ "^en") { return 302 /en$request_uri; }'),
        ("move the if of this field, such as $http_accept_language, into location /",),
    ),
    "referrer": Applied(
        in_server("valid_referers none blocked server_names; if ($invalid_referer) { return 403; }"),
        without("valid_referers none blocked server_names; if ($invalid_referer) { return 403; }"),
        ("remove valid_referers and $invalid_referer",),
    ),
    "cors": Applied(
        in_names("add_header Access-Control-Allow-Origin * always;"),
        without("add_header Access-Control-Allow-Origin * always;"),
        ("remove add_header Access-Control-Allow-Origin",),
    ),
    "robots": Applied(
        in_names("add_header X-Robots-Tag noindex always;"),
        without("add_header X-Robots-Tag noindex always;"),
        ("remove add_header X-Robots-Tag",),
    ),
    "no-process": Applied(
        (("server 127.0.0.1:8000;", "server 127.0.0.1:DEAD;"),),
        (("server 127.0.0.1:DEAD;", "server 127.0.0.1:8000;"),),
        ("compare server 127.0.0.1:8000; in the upstream block",),
    ),
    "two-databases": Applied(
        (("server 127.0.0.1:8000;", "server 127.0.0.1:8000; server 127.0.0.1:OTHER;"),),
        without("server 127.0.0.1:OTHER;"),
        ("each server in the upstream block must be a process of the same site",),
    ),
    "redirect-query": Applied(
        (("return 301 https://$host$request_uri;", "return 301 https://$host$uri;"),),
        (("return 301 https://$host$uri;", "return 301 https://$host$request_uri;"),),
        ("return 301 https://$host$request_uri;",),
        "tls",
    ),
    "no-redirect": Applied(
        (("return 301 https://$host$request_uri;", "return 404;"),),
        (("return 404;", "return 301 https://$host$request_uri;"),),
        ("return 301 https://$host$request_uri;",),
        "tls",
    ),
    "dead-redirect": Applied(
        (("return 301 https://$host$request_uri;", "return 301 https://$host:8443$request_uri;"),),
        (("return 301 https://$host:8443$request_uri;", "return 301 https://$host$request_uri;"),),
        ("return 301 https://$host$request_uri; without a port",),
        "tls",
    ),
    "hsts": Applied(
        without('add_header Strict-Transport-Security "max-age=31536000" always;'),
        in_server('add_header Strict-Transport-Security "max-age=31536000" always;'),
        ('add_header Strict-Transport-Security "max-age=31536000" always; in the server for https',),
        "tls",
    ),
}

SECTION = r'<LocationMatch "(?i)^/((ark|urn)(:|%3A)|\.well-known/ark$)">'
ALSO = r"RewriteCond %{REQUEST_URI} !^/((ark|urn):|\.well-known/ark$) [NC]"
OUT = "RewriteCond %{REQUEST_URI} !^/(ark|urn): [NC]"
PROXY = "        ProxyPass http://127.0.0.1:8000 nocanon\n"
ALL = "ProxyPass / http://127.0.0.1:8000/ nocanon"
REST = f"    {ALL}\n"


def in_host(lines: str) -> Change:
    return (("    ServerName example.org\n", f"    ServerName example.org\n    {lines}\n"),)


def in_section(line: str) -> Change:
    return ((SECTION, f"{SECTION}\n        {line}"),)


def rule(line: str, condition: str) -> tuple[Change, Change]:
    """Return a rule in the host, and the condition before it that leaves out the names."""
    return in_host(f"RewriteEngine On\n    {line}"), ((line, f"{condition}\n    {line}"),)


ENGLISH = "RewriteCond %{HTTP:Accept-Language} ^en\n    RewriteRule ^/(.*)$ /en/$1 [R=302,L]"
EXPIRES = "ExpiresActive On\n        ExpiresDefault A2592000"
APACHE: dict[str, Applied] = {
    "rewritten": Applied(
        ((ALL, "ProxyPass / http://127.0.0.1:8000/"),),
        (("ProxyPass / http://127.0.0.1:8000/\n", f"{ALL}\n"),),
        ("ProxyPass / http://127.0.0.1:8000/ nocanon",),
        "all",
    ),
    "arguments": Applied(
        in_host("RewriteEngine On\n    RewriteRule ^/ark:(.*)$ http://127.0.0.1:8000/ark:$1 [P,QSD]"),
        without("RewriteRule ^/ark:(.*)$ http://127.0.0.1:8000/ark:$1 [P,QSD]"),
        ("remove the flag QSD",),
    ),
    "stopped": Applied(
        without("    AllowEncodedSlashes NoDecode\n"),
        in_host("AllowEncodedSlashes NoDecode"),
        ("AllowEncodedSlashes NoDecode in the virtual host", "ProxyPass with nocanon"),
    ),
    "rule": Applied(
        in_host('RewriteEngine On\n    RewriteCond %{THE_REQUEST} "%2F"\n    RewriteRule ^ - [F]'),
        without('RewriteCond %{THE_REQUEST} "%2F"\n    RewriteRule ^ - [F]'),
        ("RewriteRule with [F]",),
    ),
    "label": Applied(
        # ProxyPass in a section needs a pattern with one of the characters ? * [.
        ((SECTION, '<LocationMatch "^/(ark|urn):.*">'), (REST, "")),
        (('<LocationMatch "^/(ark|urn):.*">', SECTION),),
        ('<LocationMatch "(?i)^/(ark|urn)(:|%3A)">',),
    ),
    "urn": Applied(
        ((SECTION, SECTION.replace("(ark|urn)", "ark")), (REST, "")),
        ((SECTION.replace("(ark|urn)", "ark"), SECTION),),
        ('<LocationMatch "(?i)^/(ark|urn)(:|%3A)"> in place of a section for ark only',),
    ),
    "case": Applied(
        (
            ("<VirtualHost", "RewriteEngine On\n<VirtualHost"),
            *in_host(
                "RewriteMap lower int:tolower\n    RewriteEngine On\n"
                "    RewriteRule ^(.*)$ http://127.0.0.1:8000${lower:$1} [P,NE]"
            ),
        ),
        (("    RewriteRule ^(.*)$", f"    {OUT}\n    RewriteRule ^(.*)$"),),
        (OUT,),
    ),
    "extension": Applied(
        *rule(r"RewriteRule \.(pdf|css|js|png|jpg)$ - [R=404,NC,L]", OUT),
        (OUT,),
    ),
    "long": Applied(
        (("<VirtualHost", "LimitRequestLine 2000\n<VirtualHost"),),
        (("LimitRequestLine 2000", "LimitRequestLine 8190"),),
        ("LimitRequestLine 8190",),
    ),
    "head": Applied(
        in_host("RewriteEngine On\n    RewriteCond %{REQUEST_METHOD} =HEAD\n    RewriteRule ^ - [R=405,L]"),
        without("RewriteCond %{REQUEST_METHOD} =HEAD\n    RewriteRule ^ - [R=405,L]"),
        ("remove any RewriteCond of %{REQUEST_METHOD} that excludes HEAD",),
    ),
    "not-forwarded": Applied(
        ((SECTION, '<LocationMatch "^/nothing$">'), (REST, "")),
        (('<LocationMatch "^/nothing$">', SECTION),),
        ('<LocationMatch "(?i)^/(ark|urn)(:|%3A)"> ProxyPass http://127.0.0.1:8000 nocanon </LocationMatch>',),
    ),
    "no-process": Applied(
        (("127.0.0.1:8000", "127.0.0.1:DEAD"),),
        (("127.0.0.1:DEAD", "127.0.0.1:8000"),),
        ("compare the URL of ProxyPass",),
    ),
    "intercepted": Applied(
        in_host("ProxyErrorOverride On"),
        in_section("ProxyErrorOverride Off"),
        ("ProxyErrorOverride Off in the section of the names",),
    ),
    "slash": Applied(*rule("RewriteRule ^(.*[^/])$ $1/ [R=301,L]", ALSO), (ALSO,)),
    "redirected": Applied(*rule("RewriteRule ^/(?!en/)(.*)$ /en/$1 [R=302,L]", ALSO), (ALSO,)),
    "password": Applied(
        in_host(
            '<Location "/">\n        AuthType Basic\n        AuthName staging\n        AuthUserFile users\n'
            "        Require valid-user\n    </Location>"
        ),
        in_section("Require all granted"),
        ("Require all granted in <LocationMatch",),
    ),
    "cache": Applied(in_section(EXPIRES), without(EXPIRES), ("remove the directives of mod_expires",)),
    "buffer": Applied(
        ((ALL, f"{ALL} responsefieldsize=1024"),),
        (("responsefieldsize=1024", "responsefieldsize=16384"),),
        ("responsefieldsize=16384 after the URL of ProxyPass",),
        "all",
    ),
    "location": Applied(
        in_section("Header edit Location ^https://example.org http://127.0.0.1"),
        without("Header edit Location ^https://example.org http://127.0.0.1"),
        ("no Header edit Location for the names",),
    ),
    "fields": Applied(
        in_host("RequestHeader unset Accept-Language"),
        without("RequestHeader unset Accept-Language"),
        ("remove RequestHeader unset for Accept, Accept-Language",),
    ),
    "link": Applied(in_host("Header unset Link"), without("Header unset Link"), ("remove Header unset Link",)),
    "response": Applied(
        in_host("Header set Content-Disposition attachment"),
        without("Header set Content-Disposition attachment"),
        ("Header set or add of Content-Disposition",),
    ),
    "preflight": Applied(
        in_host("RewriteEngine On\n    RewriteCond %{REQUEST_METHOD} OPTIONS\n    RewriteRule ^ - [R=204,L]"),
        without("RewriteCond %{REQUEST_METHOD} OPTIONS\n    RewriteRule ^ - [R=204,L]"),
        ("RewriteCond of REQUEST_METHOD OPTIONS",),
    ),
    "agent": Applied(
        in_host(
            "RewriteEngine On\n    RewriteCond %{HTTP_USER_AGENT} (curl|wget|python|java) [NC]\n    RewriteRule ^ - [F]"
        ),
        without("RewriteCond %{HTTP_USER_AGENT} (curl|wget|python|java) [NC]\n    RewriteRule ^ - [F]"),
        ("remove the RewriteCond or SetEnvIf of User-Agent",),
    ),
    "by-field": Applied(
        in_host(f"RewriteEngine On\n    {ENGLISH}"),
        ((ENGLISH, f"{ALSO}\n    {ENGLISH}"),),
        (f"{ALSO} before the RewriteRule",),
    ),
    "referrer": Applied(
        in_host(
            "RewriteEngine On\n    RewriteCond %{HTTP_REFERER} !^$\n"
            "    RewriteCond %{HTTP_REFERER} !//127\\.0\\.0\\.1\n    RewriteRule ^ - [F]"
        ),
        without(
            "RewriteCond %{HTTP_REFERER} !^$\n    RewriteCond %{HTTP_REFERER} !//127\\.0\\.0\\.1\n"
            "    RewriteRule ^ - [F]"
        ),
        ("remove the RewriteCond of HTTP_REFERER",),
    ),
    "cors": Applied(
        in_host("Header always add Access-Control-Allow-Origin *"),
        without("Header always add Access-Control-Allow-Origin *"),
        ("remove Header set or add Access-Control-Allow-Origin",),
    ),
    "robots": Applied(
        in_host("Header always set X-Robots-Tag noindex"),
        without("Header always set X-Robots-Tag noindex"),
        ("remove Header set X-Robots-Tag",),
    ),
    "redirect-query": Applied(
        (
            (
                "NAMES OVER HTTP",
                "RewriteEngine On\n    RewriteRule ^ https://%{SERVER_NAME}%{REQUEST_URI} [END,NE,R=permanent]",
            ),
        ),
        (
            ("RewriteRule ^ https", f"{OUT}\n    RewriteRule ^ https"),
            ("</VirtualHost>\n# http", "SECTION\n</VirtualHost>\n# http"),
        ),
        (OUT, "the section of the names into the host of port 80"),
        "tls",
    ),
    "no-redirect": Applied(
        (("NAMES OVER HTTP", ""),),
        (("</VirtualHost>\n# http", "SECTION\n</VirtualHost>\n# http"),),
        ("repeat the section of the names in <VirtualHost *:80>",),
        "tls",
    ),
    "hsts": Applied(
        (
            ('Header always set Strict-Transport-Security "max-age=31536000"', ""),
            ("NAMES OVER HTTP", "SECTION"),
        ),
        in_host('Header always set Strict-Transport-Security "max-age=31536000"'),
        ('Header always set Strict-Transport-Security "max-age=31536000" in the host for https',),
        "tls",
    ),
}

AT = '@names path_regexp "(?i)^/((ark|urn):|\\.well-known/ark$)"'
HANDLE = "    handle @names {\n        reverse_proxy 127.0.0.1:8000\n    }\n"
BACKEND = "        reverse_proxy 127.0.0.1:8000\n"
OPEN = "example.org {\n"
NOT_ANNOUNCED = '        not path_regexp "(?i)^/((ark|urn):|\\.well-known/ark$)"\n'


def in_site(lines: str) -> Change:
    return ((OPEN, f"{OPEN}    {lines}\n"),)


def in_backend(line: str) -> Change:
    return ((BACKEND, f"        reverse_proxy 127.0.0.1:8000 {{\n            {line}\n        }}\n"),)


def matched(conditions: str, action: str) -> Change:
    """Return an action for the requests that meet conditions. Caddy runs it before the handles."""
    return in_site(f"@matched {{\n        {conditions}\n    }}\n    {action}")


def refused(conditions: str) -> Change:
    """Return a handle that refuses the requests that meet conditions."""
    return matched(conditions, REFUSAL)


ORIGIN = "header {\n        +Access-Control-Allow-Origin *\n        defer\n    }"
HEADER = 'header {\n        Cache-Control "max-age=31536000"\n        defer\n    }'
EXCLUDED = 'not expression {http.request.uri}.contains("%2F")'
FILES = "    handle @files {\n        respond 404\n    }\n"
REFUSAL = "handle @matched {\n        respond 403\n    }\n"


def left_out(condition: str) -> Change:
    return (("    @matched {\n", f"    @matched {{\n{condition}"),)


CADDY: dict[str, Applied] = {
    "rewritten": Applied(
        ((HANDLE, HANDLE.replace("reverse_proxy", "uri strip_prefix /nothing\n        reverse_proxy")),),
        without("uri strip_prefix /nothing\n"),
        ("use reverse_proxy only, without uri",),
    ),
    "arguments": Applied(
        ((BACKEND, f"        uri query * x\n{BACKEND}".replace("uri query * x", "rewrite * {path}?")),),
        without("rewrite * {path}?"),
        ("rewrite for the names",),
    ),
    "stopped": Applied(
        ((AT, f"@names {{\n        {AT[7:]}\n        {EXCLUDED}\n    }}"), ("\n    reverse_proxy", "\n    #")),
        without(EXCLUDED),
        ("use reverse_proxy without a matcher that excludes such paths",),
    ),
    "rule": Applied(
        refused('expression {http.request.uri}.contains("%2F")'),
        without(REFUSAL),
        ("look for respond, abort and error",),
    ),
    "label": Applied(
        ((AT, AT.replace("(?i)", "")), ("\n    reverse_proxy", "\n    #")),
        ((AT.replace("(?i)", ""), AT),),
        ('path_regexp "(?i)^/(ark|urn):", if a matcher lists the labels',),
    ),
    "urn": Applied(
        ((AT, AT.replace("(ark|urn)", "ark")), ("\n    reverse_proxy", "\n    #")),
        ((AT.replace("(ark|urn)", "ark"), AT),),
        ('@names path_regexp "(?i)^/(ark|urn):" in place of a matcher for ark only',),
    ),
    "extension": Applied(
        in_site(f"@files path *.pdf\n{FILES}"),
        (*without(FILES), (HANDLE, f"{HANDLE}{FILES}")),
        ("handle the names first, in handle @names", "above every other handle"),
    ),
    "not-forwarded": Applied(
        ((AT, "@names path /nothing"), ("\n    reverse_proxy", "\n    #")),
        (("@names path /nothing", AT),),
        ('@names path_regexp "(?i)^/(ark|urn):" and handle @names { reverse_proxy 127.0.0.1:8000 }',),
    ),
    "no-process": Applied(
        (("127.0.0.1:8000", "127.0.0.1:DEAD"),),
        (("127.0.0.1:DEAD", "127.0.0.1:8000"),),
        ("compare the address of reverse_proxy",),
    ),
    "intercepted": Applied(
        in_backend(
            "@gone status 404 410\n            handle_response @gone {\n                respond 410\n            }"
        ),
        (
            (
                "@gone status 404 410\n            handle_response @gone {\n                respond 410\n            }",
                "",
            ),
        ),
        ("remove handle_response from reverse_proxy",),
    ),
    "slash": Applied(
        matched("path_regexp slash ^(.*[^/])$", "redir @matched {re.slash.1}/ 301"),
        left_out(NOT_ANNOUNCED),
        (f"{NOT_ANNOUNCED.strip()} in the matcher of the redir",),
    ),
    "redirected": Applied(
        matched("not path /en/*", "redir @matched /en{uri} 302"),
        left_out(NOT_ANNOUNCED),
        (f"{NOT_ANNOUNCED.strip()} in the matcher of the redir",),
    ),
    "password": Applied(
        matched(
            "path /*",
            "basicauth @matched {\n            jane PASSWORD\n        }",
        ),
        left_out(NOT_ANNOUNCED),
        (f"{NOT_ANNOUNCED.strip()} in the matcher of basic_auth",),
    ),
    "cache": Applied(
        in_site(HEADER),
        without(HEADER),
        ("remove header Cache-Control",),
    ),
    "location": Applied(
        in_backend("header_down Location ^https://example.org http://127.0.0.1"),
        without("header_down Location ^https://example.org http://127.0.0.1"),
        ("remove header_down Location",),
    ),
    "fields": Applied(
        in_backend("header_up -Accept-Language"),
        without("header_up -Accept-Language"),
        ("remove header_up of Accept, Accept-Language",),
    ),
    "link": Applied(in_site("header -Link"), without("header -Link"), ("remove header -Link",)),
    "response": Applied(in_site("header -Vary"), without("header -Vary"), ("remove header -NAME",)),
    "preflight": Applied(
        matched("method OPTIONS", REFUSAL.replace("403", "204")),
        without(REFUSAL.replace("403", "204")),
        ("remove method OPTIONS from the matcher",),
    ),
    "agent": Applied(
        refused("header_regexp User-Agent (?i)(curl|wget|python|java)"),
        without(REFUSAL),
        ("remove header User-Agent from the matcher",),
    ),
    "by-field": Applied(
        matched("header Accept-Language en*", "redir @matched /en{uri} 302"),
        left_out(NOT_ANNOUNCED),
        (f"{NOT_ANNOUNCED.strip()} in the matcher with header",),
    ),
    "referrer": Applied(
        refused("header Referer *\n        not header Referer *127.0.0.1*"),
        without(REFUSAL),
        ("remove header Referer from the matcher",),
    ),
    "cors": Applied(
        in_site(ORIGIN),
        without(ORIGIN),
        ("remove header Access-Control-Allow-Origin",),
    ),
    "robots": Applied(
        in_site("header X-Robots-Tag noindex"),
        without("header X-Robots-Tag noindex"),
        ("remove header X-Robots-Tag",),
    ),
    "two-databases": Applied(
        (("reverse_proxy 127.0.0.1:8000", "reverse_proxy 127.0.0.1:8000 127.0.0.1:OTHER"),),
        without(" 127.0.0.1:OTHER"),
        ("each address of reverse_proxy must be a process of the same site",),
    ),
    "redirect-query": Applied(
        (("redir https://{host}{uri} permanent", "redir https://{host}{path} permanent"),),
        (("redir https://{host}{path} permanent", "redir https://{host}{uri} permanent"),),
        ("redir https://{host}{uri} permanent",),
        "tls",
    ),
    "dead-redirect": Applied(
        (("redir https://{host}{uri} permanent", "redir https://{host}:8443{uri} permanent"),),
        (("redir https://{host}:8443{uri} permanent", "redir https://{host}{uri} permanent"),),
        ("redir https://{host}{uri} permanent, without a port",),
        "tls",
    ),
    "hsts": Applied(
        without('header Strict-Transport-Security "max-age=31536000"'),
        in_site('header Strict-Transport-Security "max-age=31536000"'),
        ('header Strict-Transport-Security "max-age=31536000"',),
        "tls",
    ),
}
TABLES: dict[ReverseProxy, dict[str, Applied]] = {"nginx": NGINX, "Apache": APACHE, "Caddy": CADDY}


def changed(configuration: str, change: Change) -> str:
    for text, by in change:
        assert text in configuration, f"{text!r} is not in:\n{configuration}"
        configuration = configuration.replace(text, by)
    return configuration


TLS_HOST = "127.0.0.77"
NGINX_TLS = f"""\
    listen {TLS_HOST}:443 ssl;
    ssl_certificate site.pem;
    ssl_certificate_key site.pem;
    add_header Strict-Transport-Security "max-age=31536000" always;
"""
NGINX_HTTP = f"server {{ listen {TLS_HOST}:80; return 301 https://$host$request_uri; }}\n"
APACHE_TLS = """\
    SSLEngine on
    SSLCertificateFile site.pem
    Header always set Strict-Transport-Security "max-age=31536000"
"""
MODULES = ("ssl", "authn_core", "authn_file", "authz_user", "auth_basic", "expires", "setenvif")


def configured(server: ReverseProxy, row: Applied, address: str, changes: list[Change]) -> str:
    """Return the documented configuration with changes, in the file of a server at an address."""
    name = server.lower()
    names = composed(name, "WSGI or ASGI")
    section = ""
    shown = everything(name) if row.base == "all" else names
    host, is_tls = address.partition("//")[2], row.base == "tls"
    if server == "nginx":
        listen = NGINX_TLS if is_tls else f"    listen {host};\n"
        shown = shown.replace("    listen 80;\n    listen [::]:80;\n", listen) + (NGINX_HTTP if is_tls else "")
    elif server == "Apache":
        section = names[names.index("    # The names.") : names.index("</LocationMatch>")] + "</LocationMatch>"
        if is_tls:
            shown = shown.replace("*:80", f"{TLS_HOST}:443")
            shown = shown.replace("    ServerName example.org\n", f"    ServerName example.org\n{APACHE_TLS}")
            shown += f"<VirtualHost {TLS_HOST}:80>\nServerName {TLS_HOST}\nNAMES OVER HTTP\n</VirtualHost>\n# http\n"
        else:
            shown = shown.replace("*:80", host)
    elif is_tls:
        shown = shown.replace(
            OPEN,
            f'{OPEN}    tls site.pem site.pem\n    header Strict-Transport-Security "max-age=31536000"\n',
        )
        shown += f"http://{TLS_HOST} {{\n    redir https://{{host}}{{uri}} permanent\n}}\n"
    for change in changes:
        shown = changed(shown, change)
    if server == "Apache":
        shown = shown.replace("NAMES OVER HTTP", "").replace("SECTION", section)
    return shown


class Fronts:
    """The front servers of a test, one after the other at one address, before one site."""

    def __init__(self, world: World, server: ReverseProxy, row: Applied) -> None:
        self.world, self.row = world, row
        self.server: ReverseProxy = server
        self.is_tls = row.base == "tls"
        self.address = f"https://{TLS_HOST}" if self.is_tls else world.prefix
        self.site = world.site(prefix=self.address)
        self.places = {"DEAD": free_port(), "OTHER": 0}
        if "OTHER" in str(row):
            self.places["OTHER"] = world.site(world.other, prefix=self.address)
        self.environ: dict[str, str] = {}
        self.folder = world.folder / "front"
        self.folder.mkdir()
        self.folder.chmod(0o755)
        (self.folder / "users").write_text("jane:{PLAIN}secret\n", "ascii")
        if self.is_tls:
            authority = trustme.CA()
            issued = authority.issue_cert(TLS_HOST)
            issued.private_key_and_cert_chain_pem.write_to_path(str(self.folder / "site.pem"))
            authority.cert_pem.write_to_path(str(self.folder / "ca.pem"))
            self.environ = {"SSL_CERT_FILE": str(self.folder / "ca.pem")}

    def found(self, *changes: Change) -> list[dict[str, Any]]:
        """Return what doctor finds, without what is right."""
        front = FRONTS[self.server.lower()]
        program = program_of(front.program, front.package)
        shown = configured(self.server, self.row, self.address, [*changes])
        port = 443 if self.is_tls else self.world.port
        host = TLS_HOST if self.is_tls else "127.0.0.1"
        text = front.around.format(shown="SHOWN", port=port, user="user root;" if os.geteuid() == 0 else "")
        if self.server == "Apache":
            loaded = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in MODULES)
            listen = f"Listen {TLS_HOST}:443\nListen {TLS_HOST}:80" if self.is_tls else f"Listen {host}:{port}"
            text = text.replace(f"Listen 127.0.0.1:{port}", f"{loaded}{listen}")
        elif self.server == "Caddy":
            site = f"https://{TLS_HOST}" if self.is_tls else f"http://{host}:{port}"
            shown = re.sub(r"^example\.org", site, shown, flags=re.MULTILINE)
            if self.is_tls:
                text = text.replace("admin off", "admin off\n\tauto_https off").replace("127.0.0.1", TLS_HOST)
            if "PASSWORD" in shown:
                command = [program, "hash-password", "--plaintext", "secret"]
                ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
                shown = shown.replace("PASSWORD", ran.stdout.strip())
        text = text.replace("SHOWN", shown).replace("127.0.0.1:8000", f"127.0.0.1:{self.site}")
        for place, number in self.places.items():
            text = text.replace(f"127.0.0.1:{place}", f"127.0.0.1:{number}")
        (self.folder / "front.conf").write_text(text, "utf-8")
        folders = {name: str(self.folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        started = self.world.start_server([program, *front.command], folders, self.folder)
        try:
            wait_until_it_listens(started, host, port)
            ran = self.world.doctor(self.address, environ=self.environ)
        finally:
            started.stop()
        return [row for row in ran.rows if row["state"] != "ok"]


def wait_until_it_listens(server: Any, host: str, port: int) -> None:
    deadline = time.monotonic() + 20
    while True:
        assert server.process.poll() is None, server.log()
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
            return
        assert time.monotonic() < deadline, server.log()
        time.sleep(0.02)


@pytest.fixture
def world(public_path: Path, start_server: Callable[..., Any], wsgi_server: Callable[..., Any]) -> World:
    return World(public_path, start_server, wsgi_server)


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("server", "cause"), [(server, cause) for server, table in TABLES.items() for cause in table])
def test_a_remedy_mends_the_fault(server: ReverseProxy, cause: str, world: World) -> None:
    row = TABLES[server][cause]
    if row.base == "tls" and os.geteuid() != 0:
        pytest.skip("REMEDIES FOR PORTS 80 AND 443 ARE NOT TESTED: only root can listen there")
    line = remedies()[cause][server]  # type: ignore[index]
    assert [words for words in row.words if words not in line] == []
    fronts = Fronts(world, server, row)
    faults = fronts.found(row.fault)
    assert [each for each in faults if line in each.get("remedy", "")], faults
    if row.after == "cache":
        shutil.rmtree(fronts.folder / "cache")
    assert fronts.found(row.fault, row.mend) == []


def test_each_tried_line_is_applied() -> None:
    tried = {(server, cause) for cause, row in remedies().items() for server in row.get("tried", ())}
    assert tried == {(server, cause) for server, table in TABLES.items() for cause in table}


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("days", "state"), [(1, "error"), (10, "warning")])
@pytest.mark.parametrize("server", ["nginx", "Apache", "Caddy"])
def test_the_end_of_the_certificate_of_a_real_server_is_found(
    server: ReverseProxy, days: int, state: str, world: World
) -> None:
    if os.geteuid() != 0:
        pytest.skip("THE END OF A CERTIFICATE IS NOT TESTED: only root can listen at the ports 80 and 443")
    fronts = Fronts(world, server, Applied((), (), (), "tls"))
    assert [row for row in fronts.found() if row["code"].startswith("certificate")] == []
    authority = trustme.CA()
    end = datetime.now(UTC) + timedelta(days=days, hours=1)
    issued = authority.issue_cert(TLS_HOST, not_before=end - timedelta(days=90), not_after=end)
    issued.private_key_and_cert_chain_pem.write_to_path(str(fronts.folder / "site.pem"))
    authority.cert_pem.write_to_path(str(fronts.folder / "ca.pem"))
    [found] = [row for row in fronts.found() if row["code"].startswith("certificate")]
    assert (found["code"], found["state"]) == ("certificate-ends", state)
    assert "certbot renew" in found["remedy"]
