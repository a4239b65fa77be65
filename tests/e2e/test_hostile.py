"""Hostile identifiers in a real browser by form, query, API and all at once. The page must not change.

Errors on the console, violated policies and requests to other hosts fail each test (conftest.py).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ararat.identifiers.text import characters
from ararat.webapp.config import MAX_BYTES

LETTERS = {
    "Hebrew": "\u05e9\u05dc\u05d5\u05dd",
    "Arabic": "\u0645\u0631\u062d\u0628\u0627",
    "Syriac": "\u0710\u0712\u0713",
    "Thaana": "\u0780\u0781\u0782",
    "N'Ko": "\u07ca\u07cb\u07cc",
    "Adlam": "\U0001e900\U0001e901",
}
MARKUP = ("bidi", "control", "html-js-template", "template-injection", "whitespace")
"""The classes that browsers interpret."""
SHAPES = ("{0}", "{0}/{0}", "a{0}b/{0}.{0}", "1{0}2/3.{0}4", "{0}.en.{0}?{0}#{0}")

# All texts of the page, except the text box, which contains the raw text. The title, and the number of elements.
STATE = """unexpected => {
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("#q")) texts.push(walker.currentNode.data);
  const count = selector => document.querySelectorAll(selector).length;
  return [texts.join(" "), document.title, count(unexpected), count("form.box")];
}"""
# Elements and attributes that no template creates for a result.
STRANGERS = (
    "iframe, object, embed, base, video, audio, math, form:not(.box, .plan, .languages), img:not(.qr img),"
    "script:not([src*='/static/']),"
    "[style], [onerror], [onload], [onclick], [onmouseover], [onfocus],"
    "[hx-trigger]:not(p.controls[hx-trigger='change']), [hx-on], [srcdoc]"
)


def hostile() -> list[dict[str, Any]]:
    """Return the hostile identifiers that a form can send unchanged."""
    path = Path(__file__).parents[1] / "data" / "hostile" / "naughty-identifiers.jsonl"
    rows = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    return [row for row in rows if row["input"] and not re.search("[\ud800-\udfff]", row["input"])]


def one_of_each() -> list[dict[str, Any]]:
    """Return the first row of every class."""
    rows = hostile()
    return [row for row in rows if row in [other for other in rows if other["class"] == row["class"]][:1]]


def check(page: Page, text: str) -> None:
    shown, title, strangers, forms = page.evaluate(STATE, STRANGERS)
    assert not characters.HIDDEN.search(shown.replace("\n", " ")), ascii(text)
    assert (strangers, forms) == (0, 1), ascii(text)
    assert title.isascii(), ascii(text)


def answered(page: Page, text: str) -> None:
    page.locator("#answer").evaluate("answer => { answer.replaceChildren() }")
    page.locator("#q").evaluate("(box, text) => { box.value = text }", text)
    page.locator("#q").press("Enter")
    expect(page.locator("#answer > *").first).to_be_attached(timeout=20_000)


def by_form(page: Page, rows: Iterable[dict[str, Any]]) -> None:
    page.goto("/")
    for row in rows:
        answered(page, row["input"])
        check(page, row["input"])


def by_query(page: Page, rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        if len(text := row["input"]) < 1_000:
            answer = page.request.get("/api/inspect", params={"q": text})
            assert answer.body().isascii()
            page.goto(answer.url.replace("/api/inspect", "/"))
            check(page, text)


def in_order(page: Page, selector: str) -> None:
    boxes = page.locator(selector).evaluate_all(
        "all => all.map(one => one.getClientRects()[0]).map(box => [box.left, box.top, box.right, box.bottom])"
    )
    assert boxes
    for (_, top, right, bottom), (left, next_top, *_) in itertools.pairwise(boxes):
        assert left >= right - 0.5 or next_top >= (top + bottom) / 2, boxes


def test_hostile_identifiers_do_not_change_the_page(page, page_watch):
    page_watch.expect("400")
    rows = one_of_each()
    by_form(page, rows)
    # tests/webapp/views/test_inspect.py and test_api.py send each row as a query without a browser.
    by_query(page, [row for row in rows if row["class"] in MARKUP])


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_every_hostile_identifier_leaves_the_page_intact(page, page_watch):
    page_watch.expect("400")
    by_form(page, hostile())
    by_query(page, hostile())


@pytest.mark.long
def test_a_megabyte_of_hostile_identifiers_leaves_the_page_intact(page):
    inputs = "\n".join(row["input"] for row in hostile() if len(row["input"]) < 2_000)
    text = (inputs + "\n") * (MAX_BYTES // len(inputs.encode()) + 1)
    text = text.encode()[: MAX_BYTES * 9 // 10].decode("utf-8", "ignore")
    page.goto("/")
    answered(page, text)
    expect(page.locator(".list tbody tr")).to_have_count(1_000, timeout=20_000)
    check(page, text[:40])


@pytest.mark.long
def test_right_to_left_letters_are_in_logical_order(page):
    for number, (script, letters) in enumerate(LETTERS.items()):
        for shape in SHAPES if number < 2 else SHAPES[-2:]:
            page.goto("/")
            answered(page, f"ark:12345/{shape.format(letters)}")
            in_order(page, ".segments > li > bdi")
            assert page.locator(".normal bdi").first.inner_text().isascii(), script
