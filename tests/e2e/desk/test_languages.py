"""The pages in other languages: no text is wider than its button or its window. In make long also a language for tests.

The language for tests has longer words, also from right to left. Its pictures are in the folder ``pictures``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize
from werkzeug.serving import make_server

from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.language.current import LANGUAGE_NAMES, languages
from tests.http_servers import serving
from tests.pseudo import pseudo_language, untranslated

from .conftest import Running, Server
from .test_accessibility import NAME, OTHERS, PAGES

PICTURES = Path(__file__).parents[3] / "pictures"
NARROW: ViewportSize = {"width": 360, "height": 740}
INSPECTOR = (
    "/",
    "/?q=ark:/12345/x5-n01",
    "/compare?a=ark:12345/x5n01&b=ark:12345/x5n02",
    "/traces",
    "/problems",
    "/docs",
)
FEW = ("/desk", "/desk/names", f"/desk/name?name={NAME}", "/desk/new?many=1", "/desk/tables", "/?q=ark:/12345/x5-n01")
LANGUAGES = [
    pytest.param(tag, id=tag, marks=() if tag == "de" else pytest.mark.long) for tag in languages() if tag != "en"
]
# A control that shows its whole text: nothing is cut or covers its neighbour.
CUT = """() => {
  const cut = new Set();
  for (const one of document.querySelectorAll("button, .button, summary, .places a, .badge")) {
    if (!one.checkVisibility()) continue;
    const box = one.getBoundingClientRect();
    const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      if (texts.currentNode.parentElement.closest(".visually-hidden")) continue;
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      const text = range.getBoundingClientRect();
      if (text.width && (text.right > box.right + 1 || text.left < box.left - 1)) cut.add(one.textContent.trim());
    }
  }
  // The list of places scrolls in a narrow window, and must be whole in a wide one.
  const places = innerWidth > 1000 && document.querySelector(".places > ul");
  if (places && places.scrollWidth > places.clientWidth) cut.add(places.textContent.trim());
  return [...cut];
}"""
# Names of elements, terms, formats and languages, statuses and the texts of an institution are not translated.
DATA = re.compile(
    r"(placeholder=)?(ark:|text/html|We keep names)|[a-z]+\.[a-z]+$|[a-z]+:$|\d{3} [A-Z]|"
    r"DataCite|Dublin Core|JSON Lines|" + "|".join(name for _, name in LANGUAGE_NAMES)
)
WIDE = "document.documentElement.scrollWidth - innerWidth"


def faults(page: Page, address: str) -> list[str]:
    """Return what does not fit on a page."""
    page.goto(address)
    cut = [f"{address}: {text!r} is cut" for text in page.evaluate(CUT)]
    wider = page.evaluate(WIDE)
    return [*cut, *([f"{address}: {wider} pixels wider than the window"] if wider > 0 else [])]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_fit_in_a_narrow_window(served: Server, page_watch: Any, language: str) -> None:
    page_watch.expect("404")
    page_watch.expect("does not conform to the required format")
    page = served.open_page("ada", locale=language, viewport=NARROW)
    pages = FEW if language == "de" else (*PAGES, *OTHERS, *INSPECTOR)
    assert [fault for address in pages for fault in faults(page, address)] == []
    assert page.locator("html").get_attribute("lang") == language


@contextmanager
def in_process(running: Running) -> Iterator[str]:
    """Serve the desk in this process, in which the language for tests can be added."""
    server = make_server("127.0.0.1", 0, create_app(running.bindings, trace_elsewhere=False), threaded=True)
    with serving(server):
        yield f"http://127.0.0.1:{server.port}"


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("tag", ["de", "he"], ids=["left-to-right", "right-to-left"])
def test_all_pages_in_a_language_for_tests(
    served: Server, running: Running, browser: Browser, page_watch: Any, tag: str
) -> None:
    page_watch.expect("404")
    page_watch.expect("does not conform to the required format")
    PICTURES.mkdir(exist_ok=True)
    found: list[str] = []
    with pseudo_language(tag), in_process(running) as origin:
        page_watch.origins.add(origin)
        accounts = Accounts(served.bindings)
        account = accounts.get("ada")
        assert account
        context = browser.new_context(base_url=origin, locale=tag, viewport=NARROW)
        page_watch.watch(context)
        context.add_cookies([{"name": "ararat", "value": accounts.sessions.start(account), "url": origin}])
        page = context.new_page()
        for number, address in enumerate((*PAGES, *OTHERS, *INSPECTOR)):
            found += faults(page, address)
            found += [
                f"{address}: {text!r} is not translated"
                for text in untranslated(page.content())
                if not DATA.match(text)
            ]
            page.screenshot(path=PICTURES / f"pseudo-{tag}-{number:02}.png", full_page=True)
        assert page.locator("html").get_attribute("dir") == ("rtl" if tag == "he" else "ltr")
        context.close()
    assert sorted(set(found)) == []
