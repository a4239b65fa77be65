"""Check that a site serves the checkpoint of a log, and that it is the one in the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from werkzeug.datastructures import ResponseCacheControl
from werkzeug.http import parse_cache_control_header, parse_options_header

from ...bindings.log.errors import LogError
from ...bindings.log.folder import CHECKPOINT, LogFolder
from ...bindings.log.notes.checkpoints import Checkpoint, read_checkpoint
from ...bindings.log.notes.keys import VerifierKey
from ...identifiers.text import display
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from ...net.url import WebURL
from ..output import format_count
from .finding import HealthFinding
from .fixes import reverse_proxy
from .requests import raw_request

MAX_SECONDS = 60
"""The longest time in seconds for which a cache may keep the checkpoint without a warning."""

_REFERENCE = "C2SP tlog-tiles"
_SHOWN = 100
_CACHE = (
    "Let caches keep the checkpoint for 5 seconds: Cache-Control: max-age=5, as Ararat sends it (nginx: remove "
    "proxy_ignore_headers, proxy_cache_valid and expires for this path; Apache: remove the directives of "
    "mod_expires for it)."
)


def examine(
    url: WebURL, path: str, folder: Path, key: VerifierKey, *, asking: Callable[[str], SiteAnswer] | None = None
) -> Iterator[HealthFinding]:
    """Request the checkpoint from the site with the prefix ``url``, and yield the findings.
    ``path`` is the setting ``log``, such as "/log". ``folder`` has the files of the log, and ``key`` is its public key.
    ``asking`` replaces the network; it raises HopFailed without an answer.
    """
    target = f"{url.target.rstrip('/')}{path}/{CHECKPOINT}"
    where = display.percent(target)
    change = (
        f'Serve the folder at this path: ResolverMiddleware(..., log="{path}", log_folder=...), ararat serve --log '
        f"{path} --log-folder DIR, or a web server. For another path, pass --log."
    )
    try:
        response = asking(target) if asking else raw_request(url, target)
    except HopFailed as failed:
        yield HealthFinding(
            "log", "log-served", "error", "served log", f"No answer for {where}: {failed.sentence}.", change
        )
        return
    if response.status != 200:
        message = f"{where} is answered by {response.status}, so no reader can check the log."
        yield HealthFinding("log", "log-served", "error", "served log", message, change)
        return
    try:
        served = read_checkpoint(response.body, key)[0]
    except LogError as error:
        message = f"{where} is not a checkpoint of this log: {error}."
        yield HealthFinding("log", "log-served", "error", "served log", message, change)
        return
    yield _compare_checkpoints(served, folder, key, response)
    yield _content_type(response)
    yield _cache_control(response)


def _compare_checkpoints(served: Checkpoint, folder: Path, key: VerifierKey, response: SiteAnswer) -> HealthFinding:
    """Compare the checkpoint of the site with that in the folder, which was read later and therefore is not older."""
    code, shown = "log-served", "served log"
    try:
        own = read_checkpoint(LogFolder(folder).checkpoint() or b"", key)[0]
    except (LogError, OSError):
        message = f"The site serves {_entries(served)}; the checkpoint in the folder cannot be read."
        change = "See the other findings about the log."
        return HealthFinding("log", code, "warning", shown, message, change)
    if served.size == own.size and served.root == own.root:
        return HealthFinding("log", code, "ok", shown, "The site serves the checkpoint in the folder.")
    sizes = f"The site serves {_entries(served)}, and the folder has {_entries(own)}"
    if served.size < own.size:
        age = response.field("Age")
        proxy = reverse_proxy(response.field("Server"), response.field("Via"))
        cache = f"the cache of {proxy}" if proxy else "a cache"
        held = f" (Age: {display.escape(age[:20])})" if age else ""
        message = f"{sizes}: {cache}{held} or another copy of the folder is older."
        change = f"{_CACHE} If the site serves a copy of the folder, copy it after each publication."
        return HealthFinding("log", "log-cached", "warning", shown, message, change, _REFERENCE)
    if served.size > own.size:
        message = f"{sizes}, so the folder is an old copy."
        change = (
            "Do not publish. Check that --log-folder is the folder of this site, or restore its newest copy. If it is "
            "lost, download the files of the site into it. Then run: ararat log recover --database URL --dir DIR"
        )
        return HealthFinding("log", "log-folder", "error", shown, message, change)
    message = f"The site and the folder have different trees of {_entries(own)}: the log has two histories."
    change = "Do not publish. Find out which copy is older, and restore the database and the folder of one log."
    return HealthFinding("log", "log-fork", "error", shown, message, change)


def _entries(checkpoint: Checkpoint) -> str:
    return format_count(checkpoint.size, "entry", "entries")


def _content_type(response: SiteAnswer) -> HealthFinding:
    code, shown = "log-content-type", "Content-Type"
    seen = response.field("Content-Type")
    kind, options = parse_options_header(seen)
    if kind == "text/plain" and options.get("charset", "").lower() == "utf-8":
        return HealthFinding("log", code, "ok", shown, "The checkpoint has text/plain; charset=utf-8.")
    message = f"The checkpoint has {display.escape((seen or 'no type')[:_SHOWN])}, not text/plain; charset=utf-8."
    change = (
        "Set the type of this file (nginx: location = /log/checkpoint { default_type 'text/plain; charset=utf-8'; } "
        "Apache: <Files checkpoint> ForceType 'text/plain; charset=utf-8' </Files>)."
    )
    return HealthFinding("log", code, "warning", shown, message, change, _REFERENCE)


def _cache_control(response: SiteAnswer) -> HealthFinding:
    code, shown = "log-cache-control", "Cache-Control"
    seen = response.field("Cache-Control")
    control = parse_cache_control_header(seen, cls=ResponseCacheControl)
    seconds = control.max_age if control.s_maxage is None else control.s_maxage
    short = seconds is not None and seconds <= MAX_SECONDS and (control.max_age or 0) <= MAX_SECONDS
    if control.no_store or control.no_cache or short:
        return HealthFinding("log", code, "ok", shown, f"The checkpoint has {display.escape((seen or '')[:_SHOWN])}.")
    message = (
        f"The checkpoint has {display.escape((seen or 'no value')[:_SHOWN])}, so caches can serve an old one for more "
        f"than {MAX_SECONDS} seconds."
    )
    return HealthFinding("log", code, "warning", shown, message, _CACHE, _REFERENCE)
