"""Find the lines of a front server's configuration that cause a fault, to name their file and number.
The files are those that the user names, or those of a front server on this machine, with included files.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...identifiers.text import display
from .fixes import Cause, ReverseProxy, remedies

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


class ConfigurationLine(NamedTuple):
    """A line of the configuration of a front server: its file, its number from 1, and its text."""

    file: Path
    number: int
    text: str

    def __str__(self) -> str:
        shown = display.escape(self.text.strip()[:_SHOWN])
        return f"{display.escape(str(self.file))}, line {self.number}: {shown}"


class FrontConfiguration:
    """The configuration of the front servers that a check can read: the ``files`` that the user named.
    Without them, the files of a front server on this machine are used that mention ``port``, if it is given.
    """

    def __init__(self, files: Iterable[Path] = (), port: int | None = None) -> None:
        self._files = tuple(files)
        self._port = port
        self._read: dict[ReverseProxy, list[ConfigurationLine]] = {}

    def front(self) -> ReverseProxy | None:
        """Return the only front server here whose files mention the port, or None. None, too, if files were named."""
        proxies: list[ReverseProxy] = [proxy for proxy in _PROGRAMS if self._of(proxy)]
        return proxies[0] if len(proxies) == 1 and not self._files else None

    def lines(self, cause: Cause, proxy: ReverseProxy | None) -> list[ConfigurationLine]:
        """Return at most three lines of the configuration that can cause a fault of a reverse proxy, if it is known."""
        pattern = remedies()[cause].get("lines", {}).get(proxy)
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
                waiting.extend(_find_included(match[1].strip().strip("\"'"), folder))
            yield ConfigurationLine(each, number, line)


def _find_included(pattern: str, folder: Path) -> list[Path]:
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
