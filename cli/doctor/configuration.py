"""Find the lines of a front server's configuration that cause a fault, to name their file and number.

The files are those that the user names, or those of a front server that runs on this machine. Included files are read,
too. A line is only shown; nothing is changed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...identifiers.text import display
from .fixes import Cause, ReverseProxy

_MAX_FILES = 300
_MAX_BYTES = 1_000_000
_MAX_SHOWN = 3
_SHOWN = 120
_SEARCHED = 1000

# Where Debian, Red Hat and the packages of Caddy keep the first file.
_PLACES: dict[ReverseProxy, tuple[str, ...]] = {
    "nginx": ("/etc/nginx/nginx.conf",),
    "Apache": ("/etc/apache2/apache2.conf", "/etc/httpd/conf/httpd.conf"),
    "Caddy": ("/etc/caddy/Caddyfile",),
}
_INCLUDES: dict[ReverseProxy, str] = {
    "nginx": r"\s*+include\s++([^;]++);",
    "Apache": r"(?i)\s*Include(?:Optional)?\s+(.+)",
    "Caddy": r"\s*import\s+(\S+)",
}
# The processes of a front server, and the options for its first file and for its folder.
_PROGRAMS: dict[ReverseProxy, tuple[re.Pattern[str], str, str]] = {
    "nginx": (re.compile(r"nginx: master process|(?:^|/)nginx\b"), "-c", "-p"),
    "Apache": (re.compile(r"(?:^|/)(?:apache2|httpd)\b"), "-f", "-d"),
    "Caddy": (re.compile(r"(?:^|/)caddy\b"), "--config", ""),
}

_LINES: dict[Cause, dict[ReverseProxy, str]] = {
    "rewritten": {
        "nginx": r"(?:proxy_pass\s+https?://[^/;\s]+/|rewrite\s)",
        "Apache": r"(?:ProxyPass(?:Match)?\s(?!.*\bnocanon\b)|RewriteRule\s)",
        "Caddy": r"(?:uri|rewrite|handle_path|try_files)\s",
    },
    "normalised": {"nginx": r"(?:uwsgi_pass|merge_slashes)\s", "Apache": r"(?:ProxyPass|MergeSlashes)\s"},
    "arguments": {
        "nginx": r"(?:set\s+\$(?:args|query_string)\s|rewrite\s.*\?\s)",
        "Apache": r"RewriteRule\s.*(?:QSD|\?)",
    },
    "cache-key": {"nginx": r"(?:proxy|uwsgi|fastcgi)_cache_key\s", "Apache": r"CacheIgnoreQueryString\s+On"},
    "cached": {
        "nginx": r"proxy_(?:cache_valid|ignore_headers|cache_use_stale|cache)\s",
        "Apache": r"Cache(?:Enable|IgnoreCacheControl|IgnoreNoLastMod|DefaultExpire|MinExpire)\s",
    },
    "vary": {"nginx": r"proxy_(?:ignore_headers\s.*Vary|cache_key\s)"},
    "intercepted": {
        "nginx": r"(?:proxy_intercept_errors\s+on|error_page\s)",
        "Apache": r"(?:ProxyErrorOverride\s+On|ErrorDocument\s)",
        "Caddy": r"(?:handle_response|handle_errors)\b",
    },
    "slash": {
        "nginx": r"(?:rewrite|return)\s.*/(?:\s|;)",
        "Apache": r"(?:RewriteRule|RedirectMatch)\s.*/(?:\s|$)",
        "Caddy": r"redir\s.*/(?:\s|$)",
    },
    "redirected": {
        "nginx": r"(?:rewrite|return\s+30[1278])\s",
        "Apache": r"(?:RewriteRule|Redirect(?:Match|Permanent)?)\s",
        "Caddy": r"redir\s",
    },
    "redirect-query": {
        "nginx": r"(?:return\s+30[1278]\s.*\$(?:uri|document_uri)|rewrite\s)",
        "Apache": r"(?:RewriteRule|Redirect(?:Match|Permanent)?)\s",
        "Caddy": r"redir\s",
    },
    "password": {
        "nginx": r"(?:auth_basic|auth_request|auth_jwt)\s",
        "Apache": r"(?:AuthType|Require)\s",
        "Caddy": r"(?:basic_?auth|forward_auth)\b",
    },
    "rate-limit": {
        "nginx": r"limit_(?:req|conn)\s",
        "Apache": r"(?:SetOutputFilter|QS_|DOS)",
        "Caddy": r"rate_limit\b",
    },
    "rule": {
        "nginx": r"(?:deny|return\s+40\d|modsecurity|if\s)",
        "Apache": r"(?:SecRule|Require|Deny|RewriteRule\s.*\[.*F)",
        "Caddy": r"(?:respond|abort|error)\s",
    },
    "stopped": {"Apache": r"(?:AllowEncodedSlashes|ProxyPass)\s"},
    "case": {
        "nginx": r"(?:rewrite|perl_set|js_set|set_by_lua)",
        "Apache": r"(?:RewriteMap\s.*tolower|CheckSpelling|CheckCaseOnly)",
    },
    "label": {
        "nginx": r"location\s+(?:~\s|\^~\s|=?\s*/).*(?:ark|urn)",
        "Apache": r"<Location",
        "Caddy": r"(?:@|handle|path)",
    },
    "urn": {"nginx": r"location\s.*ark", "Apache": r"<Location.*ark", "Caddy": r"(?:path|path_regexp)\s.*ark"},
    "extension": {
        "nginx": r"location\s+~\*?\s+.*\\\.",
        "Apache": r"(?:RewriteRule|RewriteCond|<FilesMatch|AliasMatch)\s.*\\\.",
        "Caddy": r"path\s+\*",
    },
    "long": {"nginx": r"large_client_header_buffers\s", "Apache": r"LimitRequestLine\s"},
    "head": {
        "nginx": r"(?:proxy_method|limit_except|if\s*\(\$request_method)",
        "Apache": r"(?:<Limit|RewriteCond\s.*REQUEST_METHOD)",
        "Caddy": r"method\s",
    },
    "cache": {
        "nginx": r"(?:expires|add_header\s+Cache-Control|more_set_headers)\s?",
        "Apache": r"(?:Expires|Header\s.*Cache-Control)",
        "Caddy": r"header\s.*Cache-Control",
    },
    "hsts": {
        "nginx": r"add_header\s+Strict-Transport",
        "Apache": r"Header\s.*Strict-Transport",
        "Caddy": r"header\s.*Strict-Transport",
    },
    "no-process": {
        "nginx": r"(?:server\s+[\w.:\[\]-]+|proxy_pass\s)",
        "Apache": r"(?:ProxyPass|BalancerMember)\s",
        "Caddy": r"reverse_proxy\s",
    },
    "two-databases": {
        "nginx": r"server\s+[\w.:\[\]/-]+.*;",
        "Apache": r"BalancerMember\s",
        "Caddy": r"reverse_proxy\s",
    },
    "buffer": {
        "nginx": r"(?:proxy_buffer_size|proxy_pass)\s",
        "Apache": r"(?:ProxyIOBufferSize|ProxyPass)\s",
        "Caddy": r"max_response_header\b",
    },
    "location": {
        "nginx": r"(?:proxy_redirect|sub_filter)\s",
        "Apache": r"(?:ProxyPassReverse|Header\s.*Location)",
        "Caddy": r"header_down\s+.?Location",
    },
    "fields": {
        "nginx": r"proxy_(?:pass_request_headers\s+off|set_header\s+(?:No-Redirect|Accept))",
        "Apache": r"RequestHeader\s+unset",
        "Caddy": r"header_up\s+-",
    },
    "link": {
        "nginx": r"(?:proxy_hide_header|more_clear_headers)\s",
        "Apache": r"Header\s.*Link",
        "Caddy": r"header(?:_down)?\s+-",
    },
}


class ConfigurationLine(NamedTuple):
    """A line of the configuration of a front server: its file, its number from 1, and its text."""

    file: Path
    number: int
    text: str

    def __str__(self) -> str:
        shown = display.escape(self.text.strip()[:_SHOWN])
        return f"{display.escape(str(self.file))}, line {self.number}: {shown}"


class FrontConfiguration:
    """The configuration of the front servers that a check can read.

    ``files`` are the first files that the user named. Without them, and if ``port`` is not None, the files of a front
    server on this machine are used that mention this port.
    """

    def __init__(self, files: Iterable[Path] = (), port: int | None = None) -> None:
        self._files = tuple(files)
        self._port = port
        self._read: dict[ReverseProxy, list[ConfigurationLine]] = {}

    def front(self) -> ReverseProxy | None:
        """Return the front server on this machine that has a configuration with this port, or None."""
        proxies: list[ReverseProxy] = [proxy for proxy in _PROGRAMS if self._of(proxy)]
        return proxies[0] if len(proxies) == 1 and not self._files else None

    def lines(self, cause: Cause, proxy: ReverseProxy | None) -> list[ConfigurationLine]:
        """Return at most three lines of the configuration that can cause a fault of a reverse proxy.

        ``cause`` is the kind of the fault. ``proxy`` is the reverse proxy, or None if it is not known. Without files
        of a configuration, the result is empty.
        """
        pattern = _LINES.get(cause, {}).get(proxy) if proxy is not None else None
        if pattern is None or proxy is None:
            return []
        # The directives of Apache have no case.
        directive = re.compile(rf"(?:^|[\s{{;]){pattern}", re.IGNORECASE if proxy == "Apache" else 0)
        return [line for line in self._of(proxy) if directive.search(line.text[:_SEARCHED])][:_MAX_SHOWN]

    def _of(self, proxy: ReverseProxy) -> list[ConfigurationLine]:
        if proxy not in self._read:
            self._read[proxy] = list(self._all(proxy))
        return self._read[proxy]

    def _all(self, proxy: ReverseProxy) -> Iterator[ConfigurationLine]:
        first = [(file, file.parent) for file in self._files]
        if not first and self._port is not None:
            first = [*_of_processes(proxy), *((Path(place), Path(place).parent) for place in _PLACES.get(proxy, ()))]
        for file, folder in first:
            lines = list(_lines(file, folder, proxy))
            text = "\n".join(line.text for line in lines)
            if self._files or self._port in (80, 443) or re.search(rf"(?<!\d){self._port}(?!\d)", text):
                yield from lines
                return


def _lines(file: Path, folder: Path, proxy: ReverseProxy) -> Iterator[ConfigurationLine]:
    """Yield the lines of a file and of the files that it includes, without comments."""
    waiting, seen = [file], set[Path]()
    include = re.compile(_INCLUDES.get(proxy, "(?!)"))
    while waiting and len(seen) < _MAX_FILES:
        each = waiting.pop(0)
        if each in seen:
            continue
        seen.add(each)
        try:
            with each.open("rb") as stream:
                text = stream.read(_MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("#"):
                continue
            if match := include.match(line):
                waiting.extend(_included(match[1].strip().strip("\"'"), folder))
            yield ConfigurationLine(each, number, line)


def _included(pattern: str, folder: Path) -> list[Path]:
    path = Path(pattern)
    try:
        if path.is_absolute():
            return sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        return sorted(folder.glob(pattern))
    except (ValueError, OSError, NotImplementedError):
        return []


def _of_processes(proxy: ReverseProxy) -> Iterator[tuple[Path, Path]]:
    """Yield the first file and the folder of each front server that runs on this machine (Linux)."""
    if proxy not in _PROGRAMS:
        return
    program, option, folder_option = _PROGRAMS[proxy]
    for process in sorted(Path("/proc").glob("[0-9]*")):
        try:
            command = (process / "cmdline").read_bytes().decode("utf-8", "replace").replace("\0", " ")
            words = shlex.split(command) if program.search(command[:200]) else []
            here = (process / "cwd").readlink() if words else Path()
        except (OSError, ValueError):
            continue
        if option in words[:-1]:
            folder = here / _after(words, folder_option, ".")
            file = folder / _after(words, option, "")
            yield file, folder if proxy == "Apache" else file.parent


def _after(words: list[str], option: str, otherwise: str) -> str:
    return words[words.index(option) + 1] if option in words[:-1] else otherwise
