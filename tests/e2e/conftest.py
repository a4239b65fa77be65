"""A real browser for the end-to-end tests, a watch for unexpected messages of pages, and scans by axe.

As a script, print the browser of the tests, or how to install one (exit code 1).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    ViewportSize,
    WebError,
    expect,
    sync_playwright,
)

# The default of five seconds is too short for a busy machine. It delays only a test that fails.
expect.set_options(timeout=15_000)

# The headless shell has the same engine without a user interface, and needs half of the CPU time.
ON_PATH = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "microsoft-edge",
    "msedge",
)
ELSEWHERE = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    # Fewer processes: to start one takes longer than to draw most pages.
    "--disable-site-isolation-trials",
    "--disable-sync",
    # The style sheet shows no animations then. A page that waits would be drawn 60 times a second.
    "--force-prefers-reduced-motion",
    "--no-first-run",
    "--renderer-process-limit=1",
)


class NoBrowser(LookupError):
    """There is no browser for the tests. The message contains the fix."""


def find_browser(playwright: Playwright) -> str:
    """Return the path of Chromium: the configured one, that of Playwright, or one of this machine.

    Raises NoBrowser if none exists, or if ARARAT_BROWSER is not a program.
    """
    if asked := os.environ.get("ARARAT_BROWSER"):
        if program := shutil.which(asked):
            return program
        raise NoBrowser(f"ARARAT_BROWSER={asked} is not a program that can be run")
    # Playwright returns the path even if nothing is downloaded.
    own = playwright.chromium.executable_path
    found = [own] if Path(own).exists() else []
    found += [path for path in map(shutil.which, ON_PATH) if path]
    found += [path for path in ELSEWHERE if Path(path).exists()]
    if not found:
        raise NoBrowser(
            "no browser for the end-to-end tests. One of these helps:\n"
            "  apt-get install chromium-headless-shell             on Debian, as root; or chromium\n"
            "  .venv/bin/python -m playwright install chromium     a download of about 150 MB\n"
            "  export ARARAT_BROWSER=/path/to/chrome               any Chromium, Chrome or Edge you have"
        )
    return found[0]


def flags() -> list[str]:
    """The arguments of the browser."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    # Chromium refuses to run as root without this.
    return [*QUIET, "--no-sandbox"] if as_root else [*QUIET]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker("e2e")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], playwright: Playwright) -> dict[str, Any]:
    try:
        browser = find_browser(playwright)
    except NoBrowser as missing:
        # Fail instead of a skip: a run without a browser must not look complete.
        raise pytest.UsageError(str(missing)) from None
    return browser_type_launch_args | {
        "executable_path": browser,
        "args": [*browser_type_launch_args.get("args", ()), *flags()],
    }


class Watch:
    """Unexpected messages of a page: errors on the console, violated policies, requests to other hosts.

    Chromium reports a violated Content-Security-Policy as an error on the console.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self.seen: list[str] = []
        self.expected: list[str] = []
        self.origins: set[str] = set()

    def expect(self, part: str) -> None:
        """Ignore messages with this text in this test (a page with status 404 is an error on the console, too)."""
        self.expected.append(part)

    def watch(self, context: BrowserContext) -> None:
        """Watch all pages of a context, including those opened later."""
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)

    def leave(self, context: BrowserContext) -> None:
        """Watch a context no longer."""
        context.remove_listener("console", self._console)
        context.remove_listener("weberror", self._error)
        context.remove_listener("request", self._request)

    def complaints(self) -> list[str]:
        """Return all unexpected messages."""
        return [line for line in self.seen if not any(part in line for part in self.expected)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.seen.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _error(self, error: WebError) -> None:
        self.seen.append(f"uncaught: {error.error}")

    def _request(self, request: Request) -> None:
        inside = request.url.startswith(("data:", "about:", "blob:", *(f"{origin}/" for origin in self.origins)))
        if not inside:
            self.seen.append(f"request outside: {request.method} {request.url}")


@pytest.fixture(autouse=True)
def page_watch(request: pytest.FixtureRequest) -> Iterator[Watch]:
    """Fail a test whose pages have unexpected messages. `page_watch.expect(text)` permits a message.

    A test that opens its own context passes it to `page_watch.watch(context)`.
    """
    watch = Watch()
    if "ararat_server" in request.fixturenames:
        watch.origins.add(request.getfixturevalue("ararat_server").origin)
    yield watch
    assert watch.complaints() == []


WIDE: ViewportSize = {"width": 1280, "height": 720}


def empty(context: BrowserContext) -> bool:
    """Make a context as if it were new, with one page, and return whether this is possible."""
    with suppress(Error):
        page, *others = context.pages
        for other in others:
            other.close()
        if page.url.startswith("http"):
            page.evaluate("() => { sessionStorage.clear(); localStorage.clear(); stop() }")
        page.unroute_all()
        # This needs a fifth of the time of another page.
        page.set_content("")
        # Nothing is under the pointer.
        page.mouse.move(-9, -9)
        page.set_viewport_size(WIDE)
        page.emulate_media(media="null", color_scheme="null", reduced_motion="null", forced_colors="null")
        page.set_extra_http_headers({})
        context.clear_cookies()
        context.clear_permissions()
        return True
    return False


@pytest.fixture(scope="session")
def _emptied() -> dict[frozenset[tuple[str, Any]], list[BrowserContext]]:
    """The contexts of earlier tests by their options. To start a context takes longer than most tests."""
    return {}


@pytest.fixture
def new_page(browser: Browser, _emptied: Any, page_watch: Watch) -> Iterator[Callable[..., Page]]:
    """new_page(**options) returns the page of a context without cookies, with the options of `Browser.new_context`."""
    used: list[tuple[list[BrowserContext], BrowserContext]] = []

    def open_page(
        *, viewport: ViewportSize = WIDE, color_scheme: Any = None, forced_colors: Any = None, **options: Any
    ) -> Page:
        free = _emptied.setdefault(frozenset(options.items()), [])
        # A test can close all contexts of the browser.
        context = next((each for each in free if each in browser.contexts), None)
        if context:
            free.remove(context)
            [page] = context.pages
        else:
            context = browser.new_context(viewport=WIDE, **options)
            page = context.new_page()
        used.append((free, context))
        page_watch.watch(context)
        if viewport != WIDE:
            page.set_viewport_size(viewport)
        if color_scheme or forced_colors:
            page.emulate_media(color_scheme=color_scheme, forced_colors=forced_colors)
        return page

    yield open_page
    for free, context in used:
        page_watch.leave(context)
        if empty(context):
            free.append(context)
        else:
            context.close()


@pytest.fixture
def page(new_page: Callable[..., Page], base_url: str) -> Page:
    """A page of the inspector's site."""
    return new_page(base_url=base_url)


@pytest.fixture
def context(page: Page) -> BrowserContext:
    return page.context


def findings(page: Page, *rules: str) -> list[str]:
    """Return what axe finds on the current page by all rules, or some of them: rule, place and element.

    Only the findings leave the browser, because all results are as large as several pages.
    """
    if page.evaluate("window.axe === undefined"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(
        """rules => axe.run({resultTypes: ["violations"], ...rules}).then(results => results.violations.flatMap(
            each => each.nodes.map(node => `${each.id} at ${node.target}: ${node.html} ${node.failureSummary}`)))""",
        {"runOnly": [*rules]} if rules else {},
    )


@pytest.fixture(scope="session")
def base_url(ararat_server: Any) -> str:
    """Return the base URL: pytest-playwright puts it before page.goto("/")."""
    return ararat_server.origin


if __name__ == "__main__":
    with sync_playwright() as found:
        try:
            print(find_browser(found))
        except NoBrowser as missing:
            sys.exit(f"error: {missing}")
