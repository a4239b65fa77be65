"""The pages of the records of NAANs and shoulders."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware

from ..conftest import Browser, Desk

PREFIX, RULE = "ark:12345/x5", "https://rule.example/${value}"
FORM = {
    "prefix": "12345/x-5",
    "what": "Maps",
    "who": "The Map Library",
    "contact": "maps@example.org",
    "statement": "The names\r\nare persistent.",
    "pattern": "10^6+check",
    "characters": "0-9a-z",
    "rule": RULE,
    "redirect": "307",
    "etag": "",
}


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", page).split())


def etag_of(page: str) -> str:
    found = re.search(r'name="etag" value="([^"]*)"', page)
    assert found
    return html.unescape(found[1])


def save(browser: Browser, **form: Any) -> Any:
    return browser.post("/desk/prefixes/edit", {**FORM, **form})


def edited(browser: Browser, **form: Any) -> Any:
    """Save the recorded form with some other values."""
    etag = etag_of(browser.get(f"/desk/prefixes/edit?prefix={PREFIX}").text)
    return save(browser, etag=etag, **form)


def test_without_records_the_page_explains_them(ada: Browser, rita: Browser) -> None:
    assert "There are no records yet" in ada.get("/desk/prefixes").text
    assert "Add a record" in ada.get("/desk/prefixes").text
    assert "Add a record" not in rita.get("/desk/prefixes").text


def test_a_record_is_added_with_its_rule(desk: Desk, ada: Browser, rita: Browser) -> None:
    assert save(ada).location == f"/desk/prefixes/record?prefix={PREFIX}"
    record = desk.bindings.prefixes.get(PREFIX)
    assert record is not None
    assert (record.what, record.who, record.actor) == ("Maps", "The Map Library", "ada")
    assert (record.statement, record.pattern) == ("The names are persistent.", "10^6+check")
    assert record.rule is not None
    assert (record.rule.template, record.rule.redirect) == (RULE, 307)
    for page in (
        text_of(rita.get(f"/desk/prefixes/record?prefix={PREFIX}").text),
        text_of(rita.get("/desk/prefixes").text),
    ):
        for part in ("Maps", "The Map Library", "10^6+check", RULE):
            assert part in page


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("prefix", "nonsense"),
        ("prefix", ""),
        ("what", "a\0b"),
        ("who", "x" * 4001),
        ("pattern", "nonsense"),
        ("characters", "9-0"),
        ("rule", "javascript:${value}"),
        ("rule", "https://rule.example/"),
    ],
)
def test_a_wrong_field_is_explained(desk: Desk, ada: Browser, field: str, value: str) -> None:
    refused = save(ada, **{field: value})
    assert refused.status_code == 422
    assert f'id="{field}-error"' in refused.text
    assert "The Map Library" in refused.text or field == "who"
    assert desk.bindings.prefixes.list() == []


def test_an_empty_field_deletes_its_text(desk: Desk, ada: Browser) -> None:
    save(ada)
    assert edited(ada, statement="", rule="").status_code == 303
    record = desk.bindings.prefixes.get(PREFIX)
    assert record is not None
    assert (record.statement, record.rule, record.what) == (None, None, "Maps")
    history = text_of(ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text)
    assert "Rule removed" in history
    assert "Statement The names are persistent. removed" in history


def test_concurrent_edits_show_both_versions(desk: Desk, ada: Browser) -> None:
    save(ada)
    old = etag_of(ada.get(f"/desk/prefixes/edit?prefix={PREFIX}").text)
    assert edited(ada, what="Atlases").status_code == 303
    conflict = save(ada, etag=old, what="Globes", rule="", state="active")
    assert conflict.status_code == 409
    page = text_of(conflict.text)
    assert re.search(r"by \w+\.\s+Compare both versions", page)
    # The form selects the state that the record has, too.
    assert "State" not in page
    assert "What Atlases Globes" in page
    assert f"Rule {RULE} empty" in page
    assert "Who The Map Library" not in page
    form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', conflict.text))
    again = ada.post("/desk/prefixes/edit", {**{name: html.unescape(text) for name, text in form.items()}})
    assert again.status_code == 303
    record = desk.bindings.prefixes.get(PREFIX)
    assert record is not None
    assert (record.what, record.rule) == ("Globes", None)


def test_a_new_record_does_not_replace_another(desk: Desk, ada: Browser) -> None:
    desk.bindings.prefixes.set(PREFIX, what="Atlases")
    assert save(ada).status_code == 409
    record = desk.bindings.prefixes.get(PREFIX)
    assert record is not None
    assert record.what == "Atlases"


def test_a_record_that_was_removed_meanwhile_can_be_saved_again(desk: Desk, ada: Browser) -> None:
    save(ada)
    old = etag_of(ada.get(f"/desk/prefixes/edit?prefix={PREFIX}").text)
    desk.bindings.prefixes.remove(PREFIX)
    conflict = save(ada, etag=old)
    assert conflict.status_code == 409
    assert "The record was removed in the meantime" in text_of(conflict.text)
    assert save(ada, etag=etag_of(conflict.text)).status_code == 303


def test_a_record_is_removed_and_its_history_stays(desk: Desk, ada: Browser) -> None:
    save(ada)
    page = ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text
    form = {"prefix": PREFIX, "etag": etag_of(page)}
    assert ada.post("/desk/prefixes/remove", {**form, "etag": '"0-0"'}).status_code == 409
    assert ada.post("/desk/prefixes/remove", form).location == "/desk/prefixes"
    assert (desk.bindings.prefixes.list(), desk.bindings.rules.list()) == ([], [])
    assert "Record removed" in text_of(ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text)
    assert ada.post("/desk/prefixes/remove", form).status_code in (404, 409)


def test_inherited_texts_name_their_source(desk: Desk, rita: Browser) -> None:
    desk.bindings.prefixes.set("12345", statement="We keep names.", pattern=None)
    desk.bindings.prefixes.set(PREFIX, what="Maps")
    page = text_of(rita.get(f"/desk/prefixes/record?prefix={PREFIX}").text)
    assert "We keep names. (inherited from ark:12345/)" in page


def test_a_rule_without_a_record_is_listed_and_can_be_edited(desk: Desk, ada: Browser) -> None:
    desk.bindings.rules.set(PREFIX, RULE)
    assert "Rules without a record" in ada.get("/desk/prefixes").text
    assert RULE in text_of(ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text)
    form = ada.get(f"/desk/prefixes/edit?prefix={PREFIX}").text
    assert RULE in form
    assert save(ada, etag=etag_of(form)).status_code == 303


@pytest.mark.one_setup
@pytest.mark.parametrize("account", ["jane", "rita"])
def test_only_administrators_change_records(desk: Desk, ada: Browser, account: str) -> None:
    save(ada)
    browser = desk.signed_in(account)
    page = browser.get(f"/desk/prefixes/record?prefix={PREFIX}").text
    assert "/desk/prefixes/edit" not in page
    assert "/desk/prefixes/remove" not in page
    assert browser.get("/desk/prefixes/edit").status_code == 403
    assert save(browser).status_code == 403
    assert save(browser, pattern="nonsense").status_code == 403
    assert browser.post("/desk/prefixes/remove", {"prefix": PREFIX}).status_code == 403
    assert len(desk.bindings.prefixes.list()) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("prefix", ["", "nonsense", "ark:12345/none", "\u202e", "ark:99999/", "x" * 5000])
def test_a_prefix_without_a_record_is_not_found(ada: Browser, prefix: str) -> None:
    response = ada.get("/desk/prefixes/record", query_string={"prefix": prefix})
    assert response.status_code in (404, 422)
    assert "\u202e" not in response.text


def test_hostile_texts_are_isolated(ada: Browser) -> None:
    save(ada, what="<b>\u202e", who="\u0627\u0644<script>")
    for path in ("/desk/prefixes", f"/desk/prefixes/record?prefix={PREFIX}", f"/desk/prefixes/edit?prefix={PREFIX}"):
        page = ada.get(path).text
        assert "<b>\u202e" not in page
        assert "\u202e" not in page
        assert "<script>" not in page


def test_a_policy_is_previewed_published_and_read_in_all_formats(desk: Desk, ada: Browser, rita: Browser) -> None:
    policy = {
        "availability": ["lifetime", "by our statutes"],
        "statement": "We keep them.\u202e<script>",
        "variance": ["fixing", ""],
        "at_end": "\u05d4\u05d0\u05e8\u05db\u05d9\u05d5\u05df",
        "hosts": "museum.example",
    }
    desk.bindings.prefixes.set(PREFIX, what="Maps")
    assert "No policy is written for this prefix" in rita.get(f"/desk/prefixes/record?prefix={PREFIX}").text
    preview = ada.post("/desk/prefixes/preview", {**FORM, **policy, "language": "he"})
    assert preview.status_code == 200
    assert '<html lang="he" dir="rtl">' in preview.text
    assert "\u202e" not in preview.text
    assert "<script>" not in preview.text.partition("</script>")[2]
    assert "<bdi>\u05d4\u05d0\u05e8\u05db\u05d9\u05d5\u05df</bdi>" in preview.text
    assert rita.post("/desk/prefixes/preview", {**FORM, **policy}).status_code == 403
    record = desk.bindings.prefixes.get(PREFIX)
    assert record is not None
    assert record.availability is None
    assert edited(ada, **policy).status_code == 303
    desk.bindings.bind(f"{PREFIX}a", "https://museum.example/a")
    form = ada.get(f"/desk/prefixes/edit?prefix={PREFIX}").text
    assert '<option value="lifetime" selected>' in form
    assert 'value="by our statutes"' in form
    public = Client(ResolverMiddleware(lambda environ, start: [], desk.bindings, prefix="https://museum.example"))
    address = f"https://museum.example/{PREFIX}"
    page = public.get(f"/{PREFIX}", headers={"Accept": "text/html", "Accept-Language": "de"})
    assert "Es ist verf\u00fcgbar, solange die Institution besteht." in page.text
    assert f'<{address}>; rel="terms-of-service"' in page.headers.getlist("Link")
    assert f'<link rel="terms-of-service" href="{address}">' in page.text
    assert (
        "availability: lifetime, by our statutes\n" in public.get(f"/{PREFIX}??", headers={"Accept": "text/plain"}).text
    )
    described = public.get(f"/{PREFIX}?info&format=json").json
    assert described is not None
    assert (described["variance"], described["policy"]) == ("fixing", address)
    data = public.get(f"/{PREFIX}a?info&format=jsonld").json
    assert data is not None
    assert data["publishingPrinciples"] == address
    assert [each["name"] for each in data["identifier"]["valueReference"]] == [
        "persistence",
        "availability",
        "variance",
    ]
    assert f'<{address}>; rel="terms-of-service"' in public.get(f"/{PREFIX}a?info").headers.getlist("Link")
    history = text_of(ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text)
    assert "Availability lifetime, by our statutes" in history


def test_a_term_that_is_unknown_is_saved_with_a_warning(desk: Desk, ada: Browser) -> None:
    save(ada, availability="banana")
    assert "The availability banana is not a term of persistence statements" in text_of(ada.get("/desk/prefixes").text)


def test_an_institution_follows_another_one_after_a_preview(ada: Browser, desk: Desk) -> None:
    save(ada)
    page = ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text
    assert f"/desk/prefixes/succeed?prefix={PREFIX}" in page.replace("%3A", ":").replace("%2F", "/")
    form = {"prefix": PREFIX, "to": "Archive", "contact": "new@example.org", "accounts": "jane"}
    preview = ada.post("/desk/prefixes/succeed", form)
    assert (preview.status_code, "Archive (before: The Map Library)" in text_of(preview.text)) == (200, True)
    assert desk.bindings.prefixes.list()[0].who == "The Map Library"
    assert ada.post("/desk/prefixes/succeed", {**form, "accounts": "absent"}).status_code == 422
    assert ada.post("/desk/prefixes/succeed", {**form, "to": ""}).status_code == 422
    assert ada.post("/desk/prefixes/succeed", {**form, "apply": "1"}).status_code == 303
    shown = text_of(ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text)
    assert "The Map Library (maps@example.org), until" in shown


def test_a_prefix_is_retired_after_a_preview(ada: Browser, desk: Desk) -> None:
    save(ada)
    desk.bindings.bind("ark:12345/x5q1", "https://old.example/1")
    form = {"prefix": PREFIX, "resolver": "https://new.example"}
    preview = ada.post("/desk/prefixes/depart", form)
    assert (preview.status_code, "target will change" in text_of(preview.text)) == (200, True)
    fingerprint = re.search(r'name="preview" value="([^"]*)"', preview.text)
    assert fingerprint
    assert ada.post("/desk/prefixes/depart", {**form, "apply": "1", "preview": "other"}).status_code == 409
    assert ada.post("/desk/prefixes/depart", {**form, "resolver": "ftp://new.example"}).status_code == 422
    assert ada.post("/desk/prefixes/depart", {**form, "apply": "1", "preview": fingerprint[1]}).status_code == 303
    assert desk.bindings.prefixes.list()[0].state == "retired"
    moved = desk.bindings.lookup("ark:12345/x5q1")
    assert moved is not None
    assert moved.target == "https://new.example/ark:12345/x5q1"


def test_the_form_to_mint_states_the_minter_of_a_delegated_prefix(ada: Browser, desk: Desk) -> None:
    minter = "https://lower.example/mint"
    desk.bindings.prefixes.set(PREFIX, state="delegated", resolver="https://lower.example", minter=minter)
    refused = ada.post("/desk/new/mint", {"shoulder": PREFIX, "count": "1"})
    assert (refused.status_code, minter in refused.text) == (409, True)
    assert "Mint names" not in ada.get(f"/desk/prefixes/record?prefix={PREFIX}").text


def test_the_first_shoulder_is_shown_with_an_example_before_it_is_created(desk: Desk, ada: Browser) -> None:
    form = {"naan": " 12345 ", "letters": "q7"}
    shown = ada.post("/desk/prefixes/first", form)
    assert shown.status_code == 200
    assert "All names begin with ark:12345/q7. 12345 is a NAAN for examples or tests." in text_of(shown.text)
    example = re.search(r"ark:12345/q7[0-9bcdfghjkmnpqrstvwxz]{9}\b", shown.text)
    assert example
    assert 'value=" 12345 "' in shown.text or 'value="12345"' in shown.text
    assert desk.bindings.prefixes.get("ark:12345/q7") is None
    # Another beginning than the shown one is shown first.
    assert ada.post("/desk/prefixes/first", form | {"letters": "q8", "shown": "ark:12345/q7"}).status_code == 200
    created = ada.post("/desk/prefixes/first", form | {"shown": "ark:12345/q7"})
    assert created.location == "/desk/new?many=1"
    record = desk.bindings.prefixes.get("ark:12345/q7")
    assert record is not None
    assert record.pattern == "29^8+check"
    assert "ark:12345/q7" in ada.get("/desk/new?many=1").text
    again = ada.post("/desk/prefixes/first", form)
    assert (again.status_code, "ark:12345/q7 has a record already." in again.text) == (422, True)


@pytest.mark.parametrize(
    ("naan", "letters", "field", "words"),
    [
        pytest.param("x5", "q7", "naan", "No registry has x5 as a NAAN.", id="a shoulder as NAAN"),
        pytest.param("", "q7", "naan", "The NAAN is missing.", id="no NAAN"),
        pytest.param("1234l", "q7", "naan", "No registry has 1234l as a NAAN.", id="a wrong letter"),
        pytest.param("12345", "", "letters", "This is not the beginning of names.", id="no letters"),
        pytest.param("12345", "Museum", "letters", "This is not the beginning of names.", id="a word"),
        pytest.param("99999", "q7", "naan", "99999", id="the NAAN of tests"),
    ],
)
def test_a_wrong_first_shoulder_is_explained_at_its_field(
    desk: Desk, ada: Browser, naan: str, letters: str, field: str, words: str
) -> None:
    refused = ada.post("/desk/prefixes/first", {"naan": naan, "letters": letters})
    assert refused.status_code == 422
    assert words in html.unescape(text_of(refused.text))
    assert f'id="{field}-error"' in refused.text
    assert f'value="{naan}"' in refused.text
    assert f'value="{letters}"' in refused.text


@pytest.mark.parametrize(
    ("naan", "words"),
    [
        ("12148", "12148 is the NAAN of the National Library of France"),
        ("54321", "This copy of the registry does not have 54321."),
    ],
)
def test_the_registry_says_whose_a_naan_is(ada: Browser, naan: str, words: str) -> None:
    assert words in text_of(ada.post("/desk/prefixes/first", {"naan": naan, "letters": "x5"}).text)


def test_a_record_without_texts_and_a_shoulder_as_naan_are_explained_at_their_fields(desk: Desk, ada: Browser) -> None:
    empty = ada.post("/desk/prefixes/edit", {"prefix": "ark:12345/q7", "etag": ""})
    assert (empty.status_code, 'id="what-error"' in empty.text, 'value="ark:12345/q7"' in empty.text) == (
        422,
        True,
        True,
    )
    wrong = ada.post("/desk/prefixes/edit", {"prefix": "x5", "what": "Objects of the museum", "etag": ""})
    assert (wrong.status_code, "No registry has x5 as a NAAN." in wrong.text) == (422, True)
    assert desk.bindings.prefixes.list() == []
