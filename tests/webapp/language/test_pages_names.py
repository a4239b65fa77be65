"""The pages of names, the overview and the errors of the desk have no text that is only in English."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from ararat.bindings import holding
from ararat.tracing.links.model import State, TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp.desk.names import listing, page

from ...pseudo import pseudo_language, untranslated
from ..desk.conftest import Browser, Desk, desk, make_desk, shared

__all__ = ["desk", "make_desk", "shared"]

GERMAN = {"Accept-Language": "de"}
X = "ark:12345/x5"
_SAID = re.compile(r'<(p|li) class="(?:message|error|lead|notice|warn|bad|good)\b.*?</\1>', re.DOTALL)
_DATA = re.compile(
    r"API|Ararat 0.1.0|CSV|JSON Lines|Dublin Core|DataCite|schema\.org|30[27] [A-Z].*|(dc|datacite)\.\w+"
    r"|(ARK)?, NAAN 12345|NAAN|Name|ark:.*|(title=)?[\d.]+ [\d:]+ UTC|placeholder=.*"
)
"""The names of formats, codes, identifiers and times."""


def left_of(html: str) -> list[str]:
    """Return the texts of a page that are not translated, also those of sentences with identifiers."""
    own = _SAID.sub(lambda found: re.sub("</?bdi[^>]*>", "", found[0]), html)
    return [each for each in untranslated(own) if not _DATA.fullmatch(each)]


def left(browser: Browser, paths: list[str], **options: Any) -> dict[str, list[str]]:
    """Return the texts that are not translated, by path."""
    answers = {path: browser.get(path, headers={**GERMAN, **options}) for path in paths}
    return {path: texts for path, answer in answers.items() if (texts := left_of(answer.text))}


def left_after(browser: Browser, forms: list[tuple[str, dict[str, Any]]]) -> dict[str, list[str]]:
    """Return the texts that are not translated of the answers to forms, and of the pages that they redirect to."""
    found: dict[str, list[str]] = {}
    for path, form in forms:
        answer = browser.post(path, form, headers=GERMAN)
        if answer.status_code == 303:
            answer = browser.get(answer.headers["Location"], headers=GERMAN)
        if texts := left_of(answer.text):
            found[f"{path} {form}"] = texts
    return found


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """A desk with names in each state, traced targets, holds, a record of a shoulder and a history."""
    bindings, now = desk.bindings, desk.bindings.now()
    bindings.prefixes.set("12345/x5", what="Maps", statement="These names last.", availability="lifetime", actor="ada")
    texts = {"what": "A map", "when": "(:unkn)", "availability": "finite, until 2030", "dc.title": "Map"}
    bindings.bind(f"{X}a", "https://old.example/a", metadata=texts, resource="K 1", passthrough=True, actor="jane")
    bindings.bind(
        f"{X}a/1", "https://old.example/a1", alternates={"de": "https://old.example/de"}, listed=False, actor="jane"
    )
    bindings.relocate(f"{X}a/1", "https://new.example/a1", actor="jane")
    bindings.bind(f"{X}b", "https://old.example/b", passthrough="given", actor="jane")
    bindings.bind(f"{X}s", "/s", kind="served", scope="subtree", actor="jane")
    bindings.reserve(f"{X}r", actor="jane", embargo=now + timedelta(days=9))
    bindings.reserve(f"{X}q", actor="jane")
    bindings.bind(f"{X}w", "https://old.example/w", actor="jane")
    bindings.withdraw(f"{X}w", reason="gone", successor=f"{X}a", actor="jane")
    bindings.bind(f"{X}h", "https://old.example/h", actor="jane")
    holding.hold(bindings, f"{X}h", now + timedelta(days=30), "a court order", actor="ada")
    states: list[tuple[str, State]] = [("a", "dead"), ("a/1", "moved"), ("b", "refused")]
    Links(bindings).record(
        [
            TracedTarget(
                identifier=f"{X}{name}",
                key=f"{X}{name}",
                target=str(bindings.store.fetch([f"{X}{name}"])[f"{X}{name}"].target),
                state=state,
                status=404,
                url=None,
                code="found",
                sentence="",
                since=now - timedelta(days=3),
                traced=now,
            )
            for name, state in states
        ]
    )
    return desk


def test_pages_of_names_are_translated(filled: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"/desk/name?name={X}{each}" for each in ("a", "a/1", "b", "h", "q", "r", "s", "w", "none")]
    lists = [
        "/desk/names",
        "/desk/names?all=1",
        "/desk/names?q=map",
        "/desk/names?q=nothing+like+it",
        "/desk/names?state=withdrawn",
        "/desk/names?state=wrong&prefix=wrong&created_since=wrong&hold=wrong&sort=wrong",
        "/desk/names?prefix=ark:12345/zz",
        "/desk/names?after=zz",
        f"/desk/labels?pick={X}a&pick={X}b",
        "/desk/labels",
        "/desk",
        "/desk/nothing",
    ]
    forms = [f"/desk/name/{each}?name={X}a" for each in ("metadata", "target", "withdraw")]
    forms += [
        f"/desk/hold?name={X}a",
        f"/desk/hold?name={X}h",
        f"/desk/hold?prefix={X}",
        f"/desk/name/target?name={X}r",
    ]
    forms += [f"/desk/name/target?name={X}r", f"/desk/name/withdraw?name={X}w", f"/desk/name/texts?name={X}w"]
    forms += ["/desk/new", "/desk/new?many=1", "/desk/new/minted?created=x"]
    typed = [f"{X}a", f"{X}-a", f"{X}new", "ark:99999/x", "nonsense", "https://old.example/a", "https://x.org", X + "A"]
    checks = [f"/desk/new/check?text={each}" for each in (*typed, f"{X}n and {X}m", "urn:isbn:1")]
    with pseudo_language():
        found: dict[str, list[str]] = {}
        for name in ("ada", "jane", "rita"):
            browser = filled.signed_in(name)
            found |= left(browser, names + lists + (forms if name != "rita" else []))
        found |= left(filled.signed_in("jane"), checks, **{"HX-Request": "true"})
        found |= left(filled.signed_in("ada"), ["/desk/names?q=map"], **{"HX-Request": "true"})
        monkeypatch.setattr(page, "MAX_SHOWN", 1)
        monkeypatch.setattr(page, "MAX_BELOW", 0)
        monkeypatch.setattr(listing, "SHOWN", 2)
        found |= left(filled.signed_in("rita"), [f"/desk/name?name={X}a/1", f"/desk/name?name={X}a", "/desk/names"])
    assert found == {}


def test_forms_of_names_are_translated(filled: Desk) -> None:
    one = {"name": f"{X}a", "revision": "1"}
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("/desk/name/metadata", {**one, "m.erc.when": "x" * 70000, "new-element": "a b", "new-text": "x"}),
        ("/desk/name/metadata", {**one, "m.datacite": "<x"}),
        ("/desk/name/target", {**one, "kind": "located", "target": ""}),
        ("/desk/name/target", {**one, "target": "ftp://x.example", "redirect": "307"}),
        (
            "/desk/name/target",
            {**one, "target": "/a", "alternate-type": "x", "alternate-language": "", "alternate-target": "/b"},
        ),
        ("/desk/name/target", {**one, "add": "1"}),
        ("/desk/name/withdraw", {**one, "reason": "", "successor": "ark:1"}),
        ("/desk/name/withdraw", {**one, "reason": "x" * 9000}),
        ("/desk/name/texts", {**one, "reason": ""}),
        ("/desk/hold", {"name": f"{X}a", "until": "", "reason": ""}),
        ("/desk/hold", {"name": f"{X}a", "until": "2000-01-01", "reason": "x"}),
        ("/desk/new/name", {"text": ""}),
        ("/desk/new/name", {"text": "nonsense"}),
        ("/desk/new/name", {"text": f"{X}a"}),
        ("/desk/new/name", {"text": f"{X}k", "target": "ftp://x"}),
        ("/desk/new/name", {"text": "https://x.example/1", "below": ""}),
        ("/desk/new/name", {"text": f"{X}k", "status": "live", "embargo": "wrong"}),
        ("/desk/new/mint", {"shoulder": X, "count": "0"}),
        ("/desk/new/mint", {"shoulder": X, "count": "2", "template": "ftp://x"}),
        ("/desk/new/mint", {"shoulder": "ark:99999/z", "count": "2"}),
        ("/desk/names/selected", {"do": "edit"}),
    ]
    right: list[tuple[str, dict[str, Any]]] = [
        ("/desk/new/mint", {"shoulder": X, "count": "2"}),
        ("/desk/new/mint", {"shoulder": X, "count": "1", "state": "live"}),
        ("/desk/new/name", {"text": f"{X}k", "target": "https://jane@x.example/1?token=1"}),
        ("/desk/name/undo", {"name": f"{X}b", "revision": "1"}),
        ("/desk/name/target", {"name": f"{X}b", "revision": "1", "target": "https://b.example/", "same": "1"}),
        ("/desk/name/withdraw", {"name": f"{X}b", "revision": "2", "reason": "gone"}),
        ("/desk/name/restore", {"name": f"{X}b", "revision": "3"}),
        ("/desk/name/publish", {"name": f"{X}q", "revision": "1"}),
        ("/desk/name/metadata", {"name": f"{X}b", "revision": "4", "m.erc.what": "Map"}),
        ("/desk/name/undo", {"name": f"{X}b", "revision": "5"}),
        ("/desk/name/delete", {"name": f"{X}r", "revision": "1"}),
        ("/desk/names/selected", {"do": "publish", "pick": f"{X}a"}),
    ]
    with pseudo_language():
        found = left_after(filled.signed_in("jane"), wrong + right)
        other = filled.signed_in("jane")
        other.token = "0" * 64
        for kept in (other, Browser(filled.app.test_client(), token="0" * 64)):
            headers = {**GERMAN, "Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
            answer = kept.post("/desk/name/metadata", {"name": f"{X}a", "m.erc.what": "Map"}, headers=headers)
            assert answer.status_code == 403
            if texts := left_of(answer.text[answer.text.index("<main>") :]):
                found[f"unsent {len(found)}"] = texts
    assert found == {}


def test_a_desk_without_names_is_translated(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk()
    desk.accounts.add("nina", "curator", [])
    with pseudo_language():
        found: dict[str, list[str]] = {}
        for name in ("ada", "jane", "rita", "nina"):
            found |= left(desk.signed_in(name), ["/desk", "/desk/names", *(["/desk/new"] if name != "rita" else [])])
    assert found == {}
