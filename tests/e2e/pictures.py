"""Take screenshots of all pages and states of the inspector: `make pictures` writes them to pictures/.

As a script, start `ararat serve` with the demo at the first free port from 8000. Each state is taken in windows of
1440, 1024 and 390 pixels, light and dark: the whole page, and for the narrowest and the widest also the first screen.
With `--readme`, also take the two pictures of the README. Arguments select states by the beginning of their names:
`make pictures ARGS='trace policy'`. With `--desk`, only take the pictures of docs/desk.md, light and dark.
"""

from __future__ import annotations

import base64
import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Literal

from conftest import find_browser, flags
from desk import tasks
from playwright.sync_api import Browser, Page, sync_playwright

from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
WINDOWS = (1440, 900), (1024, 768), (390, 844)
LOOKS: tuple[tuple[int, int, Scheme], ...] = tuple(
    (width, height, scheme) for width, height in WINDOWS for scheme in SCHEMES
)
ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "pictures"

ONE = "ark:/12345/mp-39n/1.pdf\u202e.en?info"
MANY = "\n".join(
    [
        *("ark:/12345/mp-39n.svg", "https://n2t.net/ark:12345/mp39n.svg", "urn:isbn:0451450523", "ark:12345/x8rd4"),
        *("ark:12345/x8rd4", "ark:12345/a\u202eb", "ark:99999/q-1", "ark:B5072/x!", "URN:ISBN:0451450523", "ark:12345"),
        *(f"ark:12345/z{number}-a" for number in range(16)),
    ]
)
RIGHT_TO_LEFT = "ark:12345/\u05e9\u05dc\u05d5\u05dd/ab\u0645\u0631\u062d\u0628\u0627.\u05d0\u05d1.en"


def pasted(text: str) -> Callable[[Page], None]:
    """The state of a page after a text was pasted."""

    def reach(page: Page) -> None:
        page.goto("/")
        page.locator("#q").fill(text)
        page.locator("#q").press("Enter")
        page.locator("#answer .card, #answer .found").first.wait_for()

    return reach


def at(address: str) -> Callable[[Page], None]:
    """The state of a page with a URL."""
    return lambda page: page.goto(address) and None


def lit(page: Page) -> None:
    """Highlight a part, and open the QR code."""
    pasted(ONE)(page)
    page.locator(".qr summary").click()
    page.locator(".qr img").evaluate("one => one.decode()")
    page.locator(".segments .variant").first.hover()


def running(page: Page) -> None:
    """A trace that waits for its second hop."""
    page.goto("/?q=ark:/12345/x8-rd4")
    page.get_by_role("button", name="Run the trace").click()
    page.locator(".hop:not(.waits)").first.wait_for()


def done(page: Page) -> None:
    """The same trace when it is finished."""
    running(page)
    page.locator(".ended").wait_for()
    # New elements fade in.
    page.wait_for_timeout(400)


def listed(page: Page) -> None:
    """A finished list of traces."""
    page.goto("/traces")
    page.locator("#q").fill("ark:12345/m5137\nark:12345/d0v3z\nnonsense")
    page.get_by_role("button", name="Run the traces").click()
    page.locator(".round .ended").wait_for()


STATES: dict[str, Callable[[Page], None]] = {
    "empty": at("/"),
    "one": pasted(ONE),
    "one-lit": lit,
    "one-wrong": pasted("ark:12345/x!y"),
    "pasted-gallica": pasted("https://gallica.bnf.fr/ark:/12148/btv1b8449691v/f29.item"),
    "pasted-familysearch": pasted("https://www.familysearch.org/ark:/61903/1:1:MW8X-BQL?lang=de"),
    "pasted-isbn": pasted("urn:isbn:9783161484101"),
    "pasted-nbn": pasted("urn:nbn:de:101:1-201102033592"),
    "pasted-recorded": pasted("ark:12345/x8rd4"),
    "pasted-withdrawn": pasted("ark:12345/d0v3z"),
    "pasted-hidden": pasted("ark:12345/\u202ea\u200bb\u2066.pdf"),
    "pasted-nonsense": pasted("ark:12345"),
    "urn": pasted("urn:example:maps/17?+r?=q#f"),
    "several": pasted(MANY.partition("\nark:99999")[0]),
    "many": pasted(MANY),
    "nothing-found": pasted("nothing of the kind"),
    "right-to-left": pasted(RIGHT_TO_LEFT),
    "compare-empty": at("/compare"),
    "compare-two": at("/compare?a=ark:12345/x6np1&b=ark:12345/x7np1"),
    "policy": at("/policy?q=https://17beta.top/en/"),
    "trace-running": running,
    "trace-done": done,
    "trace-page": at("/trace?q=ark:12345/m5137"),
    "error": at("/nowhere"),
    "traces": listed,
    "problems": at("/problems"),
    "naans": at("/registries/naan?q=biblio"),
    "naan": at("/registries/naan/12148"),
    "schemes": at("/schemes"),
    "api": at("/api"),
    "handbook": at("/docs"),
    "public-description": at("/ark:12345/x8rd4?info"),
    "public-withdrawn": at("/ark:12345/d0v3z"),
    "public-unknown": at("/ark:12345/x8rd5"),
    "public-wrong": at("/ark:12345/x8rd4!"),
    "demo": at("/demo/"),
    "handbook-drawings": at("/docs/public-pages"),
}


@contextlib.contextmanager
def served(*options: str) -> Iterator[str]:
    """Yield the origin of an `ararat serve`, by default with the demo, and stop it afterwards."""
    command = [Path(sys.executable).with_name("ararat"), "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            lines = iter(server.stdout or ())
            found = next(filter(None, (re.search(r"http://[\d.]+:\d+", line) for line in lines)), None)
            if found is None:
                sys.exit("error: the server did not start")
            yield found[0]
        finally:
            server.terminate()


def take(browser: Browser, origin: str, begin: tuple[str, ...]) -> Iterator[Path]:
    """Take every selected state in each window, and yield the files."""
    for width, height, scheme in LOOKS:
        with browser.new_context(
            base_url=origin,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
        ) as context:
            for name, reach in STATES.items():
                if not name.startswith(begin):
                    continue
                page = context.new_page()
                reach(page)
                path = PICTURES / f"{name}-{width}-{scheme}.png"
                page.screenshot(path=path, full_page=True)
                if width != 1024:
                    page.evaluate("scrollTo(0, 0)")
                    page.screenshot(path=PICTURES / f"{name}-{width}-{scheme}-first.png")
                page.close()
                yield path
    if not "one".startswith(begin):
        return
    with browser.new_context(base_url=origin, viewport={"width": 1180, "height": 900}) as context:
        for name in ("print", "forced-colors"):
            page = context.new_page()
            pasted(ONE)(page)
            if name == "print":
                page.emulate_media(media="print")
            else:
                page.emulate_media(forced_colors="active")
            page.screenshot(path=PICTURES / f"one-{name}.png", full_page=True)
            page.close()
            yield PICTURES / f"one-{name}.png"


def take_for_readme(browser: Browser, origin: str) -> Iterator[Path]:
    """Take the finished trace in both themes for the README."""
    for scheme in SCHEMES:
        path = ROOT / "docs" / f"inspector-{scheme}.png"
        with browser.new_context(
            base_url=origin,
            viewport={"width": 1080, "height": 1700},
            device_scale_factor=1,
            color_scheme=scheme,
        ) as context:
            page = context.new_page()
            done(page)
            page.evaluate("scrollTo(0, 0)")
            # Cut below the parts.
            end = page.locator(".anatomy").bounding_box() or {"y": 1600, "height": 0}
            page.screenshot(path=path, clip={"x": 0, "y": 0, "width": 1080, "height": end["y"] + end["height"] + 28})
        yield path


def take_for_desk(browser: Browser) -> Iterator[Path]:
    """Take a picture of each task of docs/desk.md in both themes, as WebP: such a file has half the size of a PNG."""
    for (name, task), scheme in product(tasks.TASKS.items(), SCHEMES):
        path = ROOT / "docs" / f"desk-{name}{'-dark' if scheme == 'dark' else ''}.webp"
        with tempfile.TemporaryDirectory() as folder, open_bindings(f"{folder}/desk.sqlite", create=True) as bindings:
            tasks.fill(bindings)
            accounts = Accounts(bindings)
            account = accounts.get(task.account)
            assert account
            with (
                served("--no-trace-elsewhere", "--database", f"{folder}/desk.sqlite") as origin,
                browser.new_context(
                    base_url=origin, viewport={"width": 1080, "height": 660}, color_scheme=scheme
                ) as context,
            ):
                context.add_cookies([{"name": "ararat", "value": accounts.sessions.start(account), "url": origin}])
                page = context.new_page()
                page.goto("/desk")
                task.steps(tasks.Hand(page, lambda page, path=path: path.write_bytes(as_webp(page))))
        yield path


def as_webp(page: Page) -> bytes:
    """Return the visible part of a page as WebP, without the blinking cursor."""
    page.wait_for_load_state("networkidle")
    page.evaluate("document.activeElement?.blur()")
    options = {"format": "webp", "quality": 70}
    return base64.b64decode(page.context.new_cdp_session(page).send("Page.captureScreenshot", options)["data"])


if __name__ == "__main__":
    if "--desk" in sys.argv[1:]:
        with sync_playwright() as playwright:
            started = playwright.chromium.launch(executable_path=find_browser(playwright), args=flags())
            for taken in take_for_desk(started):
                print(taken.relative_to(ROOT))
            started.close()
        sys.exit()
    PICTURES.mkdir(exist_ok=True)
    with served("--policy", "17beta") as at_origin, sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=find_browser(playwright), args=flags())
        wanted = tuple(each for each in sys.argv[1:] if not each.startswith("--")) or ("",)
        for taken in take(started, at_origin, wanted):
            print(taken.relative_to(ROOT))
        if "--readme" in sys.argv[1:]:
            for taken in take_for_readme(started, at_origin):
                print(taken.relative_to(ROOT))
        started.close()
