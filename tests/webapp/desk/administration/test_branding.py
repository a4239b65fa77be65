"""The page of the branding of the public pages."""

from __future__ import annotations

import html
import io
import re
from base64 import b64encode
from typing import Any

import pytest

from ararat.bindings.names.branding.logos import MAX_BYTES
from ararat.bindings.names.branding.model import Branding
from ararat.middleware.resolution.settings import LANGUAGES
from ararat.webapp.language.current import LANGUAGE_NAMES

from ..conftest import Browser, Desk

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
DATA = f"data:image/png;base64,{b64encode(PNG).decode()}"
FORM = {
    "institution": "The Map Library",
    "contact": "maps@example.org",
    "colour": "#7A1F3D",
    "statement": "We keep\r\nnames.",
    "logo": "/static/logo.svg",
    "revision": "0",
}


def test_the_preview_has_all_languages():
    assert [language for language, _ in LANGUAGE_NAMES] == list(LANGUAGES)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


def save(browser: Browser, **form: Any) -> Any:
    return browser.post("/desk/branding", {**FORM, **form}, content_type="multipart/form-data")


def image(content: bytes = PNG) -> tuple[io.BytesIO, str]:
    return io.BytesIO(content), "logo.png"


def recorded(desk: Desk) -> Branding:
    return desk.bindings.branding.history()[0].branding


def test_a_branding_is_saved_and_shown_again(desk: Desk, ada: Browser):
    assert save(ada).location == "/desk/branding"
    assert recorded(desk) == Branding(
        institution="The Map Library",
        contact="maps@example.org",
        colour="#7a1f3d",
        statement="We keep names.",
        logo="/static/logo.svg",
    )
    page = ada.get("/desk/branding").text
    for value in ("The Map Library", "maps@example.org", "#7a1f3d", "We keep names.", "/static/logo.svg"):
        assert value in page
    assert "Version 1" in text_of(page)
    assert 'name="revision" value="1"' in page
    assert "branding.set" in ada.get("/desk/audit").text


def test_an_image_is_uploaded_kept_and_replaced(desk: Desk, ada: Browser):
    save(ada, image=image())
    assert recorded(desk).logo == DATA
    page = ada.get("/desk/branding")
    assert f'src="{DATA}"' in page.text
    assert "img-src 'self' data:" in page.headers["Content-Security-Policy"]
    save(ada, logo="", kept=DATA, keep="on", revision="1", institution="Another")
    assert recorded(desk).logo == DATA
    save(ada, logo="/logo.svg", kept=DATA, keep="on", revision="2")
    assert recorded(desk).logo == "/logo.svg"
    save(ada, logo="", kept=DATA, revision="3")
    assert recorded(desk).logo is None


def test_a_corrected_form_does_not_replace_a_version_that_it_never_showed(desk: Desk, ada: Browser):
    save(ada)
    # Another account saves a version while the form is open.
    save(ada, institution="The Archive", revision="1")
    page = save(ada, colour="red", revision="1")
    assert page.status_code == 422
    (sent,) = re.findall(r'action="/desk/branding" .*?name="revision" value="(-?\d+)"', page.text, re.DOTALL)
    assert save(ada, revision=sent).status_code == 409
    assert recorded(desk).institution == "The Archive"


def test_the_page_shows_the_settings_of_the_server_and_a_sample(make_desk: Any, read_page: Any) -> None:
    desk = make_desk(institution="The Archive", colour="#7a1f3d", contact="office@example.org", statement="We last.")
    ada = desk.signed_in("ada")
    page = read_page(ada.get("/desk/branding").text)
    for field, value in (("institution", "The Archive"), ("colour", "#7a1f3d"), ("contact", "office@example.org")):
        found = page.one("input", name=field)
        assert (found.attributes["value"], found.attributes["placeholder"]) == ("", value)
    assert page.one("textarea", id="statement").attributes["placeholder"] == "We last."
    assert 'fill="#7a1f3d"' in ada.get("/desk/branding").text
    # The sample has the values so far, also while one of them is not valid.
    form = {**FORM, "colour": "#ffff00", "image": image(), "contact": "x" * 401}
    sample = ada.post("/desk/branding/sample", form, content_type="multipart/form-data").text
    for part in ("The Map Library", 'fill="#707000"', 'fill="#ffff00"', f'href="{DATA}"', "office@example.org"):
        assert part in sample
    assert "<script" not in ada.post("/desk/branding/sample", {"institution": "<script>"}).text
    assert desk.bindings.branding.history() == []
    assert desk.signed_in("jane").post("/desk/branding/sample", FORM).status_code == 403


WRONG: tuple[tuple[str, Any], ...] = (
    ("institution", "a\0b"),
    ("institution", "x" * 201),
    ("contact", "x" * 401),
    ("statement", "x" * 1001),
    ("colour", "red"),
    ("colour", "#fff;}body{display:none"),
    ("logo", "https://evil.example/logo.png"),
    ("logo", "javascript:alert(1)"),
    ("logo", "data:image/svg+xml;base64,PHN2Zz4="),
    ("image", b"<svg onload=alert(1)>"),
    ("image", PNG + bytes(MAX_BYTES)),
)


def test_a_wrong_field_is_explained(desk: Desk, ada: Browser):
    # One desk for all values, because nothing is written.
    for path in ("/desk/branding", "/desk/branding/preview"):
        for field, value in WRONG:
            given = image(value) if isinstance(value, bytes) else value
            refused = ada.post(path, {**FORM, field: given}, content_type="multipart/form-data")
            assert refused.status_code == 422, field
            assert f'id="{"logo" if field == "image" else field}-error"' in refused.text
            assert "<svg onload" not in refused.text
    assert desk.bindings.branding.history() == []


def test_concurrent_edits_show_both_versions(desk: Desk, ada: Browser):
    desk.bindings.branding.set(Branding(institution="An Archive"), actor="ben")
    conflict = save(ada)
    assert conflict.status_code == 409
    page = text_of(conflict.text)
    assert "Institution An Archive The Map Library" in page
    assert "by ben" in page
    assert 'name="revision" value="1"' in conflict.text
    assert recorded(desk).institution == "An Archive"
    assert save(ada, revision="1").status_code == 303


def test_a_form_without_a_revision_is_a_conflict(desk: Desk, ada: Browser):
    for revision in ("", "x", "-1", "\u0661", "9" * 30):
        assert save(ada, revision=revision).status_code == 409
    assert desk.bindings.branding.history() == []


def test_an_earlier_version_is_restored(desk: Desk, ada: Browser):
    save(ada)
    save(ada, institution="Another", revision="1")
    page = ada.get("/desk/branding").text
    assert "Institution The Map Library Another" in text_of(page)
    assert page.count("Restore version") == 1
    form = {"version": "1", "revision": "2"}
    assert ada.post("/desk/branding/restore", {**form, "revision": "1"}).status_code == 409
    assert ada.post("/desk/branding/restore", form).location == "/desk/branding"
    assert recorded(desk).institution == "The Map Library"
    assert len(desk.bindings.branding.history()) == 3
    assert ada.post("/desk/branding/restore", {"version": "9", "revision": "3"}).status_code == 404


def test_the_preview_is_a_public_page_and_saves_nothing(desk: Desk, ada: Browser):
    form = {**FORM, "language": "he", "image": image()}
    answer = ada.post("/desk/branding/preview", form, content_type="multipart/form-data")
    assert '<html lang="he" dir="rtl">' in answer.text
    assert f'<img src="{DATA}" alt="">' in answer.text
    assert "#7a1f3d" in answer.text
    assert "img-src data:" in answer.headers["Content-Security-Policy"]
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    assert desk.bindings.branding.history() == []
    for language in ("tlh", "", "../en"):
        assert '<html lang="en"' in ada.post("/desk/branding/preview", {**FORM, "language": language}).text


def test_hostile_texts_are_isolated(ada: Browser):
    for revision, text in enumerate(("<b>\u202e", '"><script>', "\u0627\u0644<script>", "{{ 7*7 }}")):
        assert save(ada, institution=text, contact=text, statement=text, revision=str(revision)).status_code == 303
        preview = ada.post("/desk/branding/preview", {**FORM, "institution": text, "statement": text}).text
        page = ada.get("/desk/branding").text
        for found in (page, preview):
            assert "\u202e" not in found
            assert (text in found) == (text == "{{ 7*7 }}")


@pytest.mark.one_setup
@pytest.mark.parametrize("account", ["jane", "rita"])
def test_only_administrators_see_the_page(desk: Desk, account: str):
    browser = desk.signed_in(account)
    assert browser.get("/desk/branding").status_code == 403
    assert save(browser).status_code == 403
    assert save(browser, colour="red").status_code == 403
    assert "/desk/branding" not in browser.get("/desk/prefixes").text
    assert desk.bindings.branding.history() == []
    assert "branding.set" in desk.signed_in("ada").get("/desk/audit").text
