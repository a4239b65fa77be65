"""The page for new names."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from ..conftest import Browser, Desk


def checked(browser: Browser, text: str) -> str:
    page = browser.get("/desk/new/check", query_string={"text": text})
    assert page.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", "", page.text).split())


def mint(browser: Browser, **form: str) -> tuple[str, list[str]]:
    """Mint names below the shoulder of jane, and return the address of their list, and the names."""
    minted = browser.post("/desk/new/mint", {"shoulder": "ark:12345/x5", "state": "reserved", **form})
    assert minted.status_code == 303
    return minted.location, re.findall(r"/desk/name\?name=(ark:[^\"]+)", browser.get(minted.location).text)


def test_names_are_minted_below_a_granted_prefix(desk: Desk, jane: Browser) -> None:
    address, names = mint(jane, count="10")
    assert "10 new names" in jane.get(address).text
    assert (len(set(names)), {name[:12] for name in names}) == (10, {"ark:12345/x5"})
    assert {binding.status for binding in desk.bindings.store.fetch(names).values()} == {"reserved"}


def test_minted_names_are_one_operation_that_their_account_undoes(desk: Desk, jane: Browser) -> None:
    address, names = mint(jane, count="20")
    _, (public,) = mint(jane, count="1", state="live")
    operation = desk.bindings.history(names[0])[0].operation
    assert f'href="/desk/changes/{operation}/undo"' in jane.get(address).text
    assert "20 names" in jane.get("/desk/changes?action=operations").text
    assert desk.bindings.history(public)[0].operation is None
    undone = jane.post(f"/desk/changes/{operation}/undo")
    assert undone.status_code == 303
    assert [each.identifier for each in desk.bindings.list_names().names] == [public]


def test_the_last_used_shoulder_is_chosen(desk: Desk, jane: Browser, read_page: Any) -> None:
    for prefix in ("ark:12345/x7", "ark:54321/"):
        desk.accounts.grant("jane", prefix)

    def chosen(path: str) -> list[str]:
        page = read_page(jane.get(path).text)
        return [each.attributes["value"] for each in page.all("option") if "selected" in each.attributes]

    assert chosen("/desk/new?many=1") == []
    mint(jane, shoulder="ark:12345/x7")
    assert chosen("/desk/new?many=1") == ["ark:12345/x7"]
    assert chosen("/desk/new?text=https://maps.example/7") == ["ark:12345/x7"]
    jane.post("/desk/new/name", {"text": "https://maps.example/7", "below": "ark:12345/x5"})
    assert chosen("/desk/new?many=1") == ["ark:12345/x5"]
    jane.post("/desk/account/preferences", {"time_zone": "Europe/Berlin"})
    assert chosen("/desk/new?many=1") == ["ark:12345/x5"]


def test_a_naan_without_a_shoulder_is_last_and_has_a_hint(desk: Desk, jane: Browser) -> None:
    said = "Names straight below a NAAN have no shoulder."
    assert said not in jane.get("/desk/new?many=1").text
    desk.accounts.grant("jane", "ark:12000/")
    page = jane.get("/desk/new?many=1").text
    assert f"{said} Ask an administrator for a shoulder" in page
    assert page.index('value="ark:12345/x5"') < page.index('value="ark:12000/"')
    assert said in jane.get("/desk/new?text=https://maps.example/7").text


def test_an_administrator_is_told_to_record_a_shoulder(desk: Desk, ada: Browser) -> None:
    desk.bindings.prefixes.set("12000", who="Library")
    page = ada.get("/desk/new?many=1").text
    assert "Record a shoulder in Prefixes" in page
    assert "Ask an administrator" not in page


def test_a_button_inserts_the_name_without_a_script(desk: Desk, jane: Browser, read_page: Any) -> None:
    form = {"shoulder": "ark:12345/x5", "count": "2", "template": "https://e.example/", "state": "live"}
    page = read_page(jane.post("/desk/new/mint", {**form, "insert": "1"}).text)
    filled = page.one("input", name="template").attributes["value"]
    assert desk.bindings.count().number == 0
    _, names = mint(jane, **{**form, "template": filled})
    assert {each.target for each in desk.bindings.store.fetch(names).values()} == {
        f"https://e.example/{n}" for n in names
    }


def test_a_reload_of_the_minted_names_mints_no_more(desk: Desk, jane: Browser) -> None:
    address, names = mint(jane, count="2")
    mint(jane, count="3")
    assert "2 new names" in jane.get(address).text
    assert desk.bindings.count().number == 5
    table = jane.get(address.replace("/minted?", "/minted.csv?")).text.splitlines()
    assert table == ["\ufeffidentifier,target,status", *(f"{name},,reserved" for name in names)]


@pytest.mark.one_setup
@pytest.mark.parametrize("created", ["", "soon", "2026-11-24", "9999-12-31T23:59:59.999999Z"])
def test_a_time_without_minted_names_has_an_empty_list(jane: Browser, created: str) -> None:
    page = jane.get("/desk/new/minted", query_string={"created": created})
    assert page.status_code == 200
    assert "Your account minted no names at this time." in page.text


def test_minted_names_of_another_account_are_not_shown(desk: Desk, jane: Browser) -> None:
    address, _ = mint(jane, count="1")
    assert "minted no names" in desk.signed_in("ada").get(address).text


def test_minted_names_can_have_a_target_with_the_name(desk: Desk, jane: Browser) -> None:
    _, names = mint(jane, count="2", state="live", template="https://e.example/${identifier}")
    assert len(names) == 2
    for name, binding in desk.bindings.store.fetch(names).items():
        assert binding.target == f"https://e.example/{name}"


def test_a_name_that_looks_personal_has_a_warning_before_and_after_it_is_recorded(desk: Desk, jane: Browser) -> None:
    text = "ark:12345/x5/jane@example.org"
    assert "The name contains an e-mail address; a name enters the public log and can never be removed." in checked(
        jane, text
    )
    jane.post("/desk/new/name", {"text": text, "target": "https://e.example/1", "status": "live"})
    page = jane.get("/desk/name", query_string={"name": text})
    assert "The name is live. The name contains an e-mail address" in page.text
    form = {"name": text, "revision": "1", "m.erc.who": "ask joe@example.org"}
    jane.post("/desk/name/metadata", form)
    page = jane.get("/desk/name", query_string={"name": text})
    assert "The name is updated. The element erc.who contains an e-mail address" in page.text
    assert "The name contains" not in page.text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ark:12345/x5/jane@example.org", "Der Identifikator enthält eine E-Mail-Adresse; ein Identifikator kommt in"),
        ("ark:12345/x5a\u2013b", "Der Identifikator enthält U+2013 EN DASH; das ist kein Bindestrich:"),
        ("ark:12345/x5é\u2013ü", "Der Identifikator enthält U+2013 EN DASH und 2 weitere Zeichen; das ist kein"),
        ("ark:12345/x5a%E2%80%8Bb", "das ist unsichtbar, gehört aber zum Identifikator."),
        ("ark:12345/x5a.", "Der Identifikator endet mit einem Punkt:"),
        ("ark:12345/x5n1$zView", "Der Identifikator endet mit $zView, was ein anderer Wert"),
    ],
)
def test_a_warning_about_a_name_is_in_the_language_of_the_reader(jane: Browser, text: str, says: str) -> None:
    given = {"query_string": {"text": text}, "headers": {"Accept-Language": "de"}}
    page = jane.get("/desk/new/check", **given).text
    assert says in " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"count": "0"}, "count"),
        ({"count": "1001"}, "count"),
        ({"count": "\u0661"}, "count"),
        ({"count": "1e9"}, "count"),
        ({"template": "javascript:alert(1)", "state": "live"}, "template"),
        ({"shoulder": "nonsense"}, "shoulder"),
    ],
)
def test_a_wrong_field_is_explained(desk: Desk, jane: Browser, change: dict[str, str], field: str) -> None:
    form = {"shoulder": "ark:12345/x5", "count": "1", "state": "reserved", "template": "", **change}
    refused = jane.post("/desk/new/mint", form)
    assert refused.status_code == 422
    assert f'id="{field}-error"' in refused.text
    assert desk.bindings.count().number == 0


@pytest.mark.one_setup
@pytest.mark.parametrize("account", ["jane", "rita"])
def test_names_outside_the_permission_are_forbidden(desk: Desk, account: str) -> None:
    form = {"shoulder": "ark:12345/y1", "count": "1"}
    assert desk.signed_in(account).post("/desk/new/mint", form).status_code == 403
    assert desk.signed_in(account).post("/desk/new/name", {"text": "ark:12345/y1a"}).status_code == 403


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("ark:/12345/x5-np1", "Normal form: ark:12345/x5np1"),
        ("https://n2t.net/ark:/12345/x5np1", "The name is free."),
        ("see ark:12345/x5a and ark:12345/x5b", "2 identifiers"),
        ("https://example.org/page", "the target of a new name"),
        ("nonsense", "Expected an identifier that starts with ark: or urn:."),
        ("ark:12345/y1", "Your account cannot change names with this beginning. It has ark:12345/x5."),
        ("ark:99999/x", "99999"),
        ("ark:12345/x5\u2013b", "EN DASH"),
    ],
)
def test_a_typed_text_is_checked(jane: Browser, text: str, words: str) -> None:
    assert words in checked(jane, text)


def test_the_check_explains_why_two_accession_numbers_are_one_name(desk: Desk, jane: Browser) -> None:
    desk.bindings.bind("ark:12345/x5-1940-41", "/1")
    said = checked(jane, "ark:12345/x51940-41")
    assert "It was recorded as ark:12345/x5-1940-41. Both spellings have the same normal form" in said
    assert "hyphen" in said.lower()


def test_the_check_warns_of_similar_names(desk: Desk, jane: Browser) -> None:
    desk.bindings.bind("ark:12345/x5ABC", "/1")
    assert "People can confuse the two names" in checked(jane, "ark:12345/x5abc")


def record(browser: Browser, **form: Any) -> Any:
    return browser.post("/desk/new/name", form)


def test_a_pasted_name_is_recorded(desk: Desk, jane: Browser) -> None:
    saved = record(
        jane,
        text="https://n2t.net/ark:/12345/x5-np1",
        target="https://example.org/1",
        status="live",
        **{"erc.what": "A map"},
    )
    assert saved.location == "/desk/name?name=ark:12345/x5np1"
    found = desk.bindings.lookup("ark:12345/x5np1")
    assert found is not None
    assert (found.target, found.metadata["erc.what"], found.status) == ("https://example.org/1", "A map", "live")


def test_a_pasted_address_becomes_the_target_of_a_minted_name(desk: Desk, jane: Browser) -> None:
    saved = record(jane, text="https://example.org/page", below="ark:12345/x5", status="live")
    assert saved.status_code == 303
    assert [each.target for each in desk.bindings.list_names().names] == ["https://example.org/page"]


def test_a_recorded_name_is_refused_with_the_reason(desk: Desk, jane: Browser) -> None:
    desk.bindings.bind("ark:12345/x5a", "/1")
    refused = record(jane, text="ark:12345/x5-a", target="/2")
    assert refused.status_code == 422
    assert 'id="text-error"' in refused.text
    assert len(desk.bindings.history("ark:12345/x5a")) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("text", ["", "nonsense", "ark:99999/x", "x" * 5000, "ark:12345/\x00"])
def test_a_text_without_a_name_is_refused(jane: Browser, text: str) -> None:
    assert record(jane, text=text).status_code == 422


def test_the_page_works_without_shoulders(desk: Desk) -> None:
    desk.accounts.add("joan", "curator")
    page = desk.signed_in("joan").get("/desk/new")
    assert page.status_code == 200
    assert "No prefix is granted" in page.text
    assert desk.signed_in("rita").get("/desk/new").status_code == 403


def test_the_check_of_an_address_offers_the_shoulders(desk: Desk, jane: Browser) -> None:
    desk.bindings.prefixes.set("ark:12345/x5", what="Maps")
    address = "https://maps.example/item?id=7"
    assert 'name="below"' in jane.fragment(f"/desk/new/check?text={address}").text
    assert 'name="below"' not in jane.fragment("/desk/new/check?text=ark:12345/x5a").text
    response = jane.post("/desk/new/name", {"text": address, "below": "ark:12345/x5"})
    assert response.status_code == 303
    made = desk.bindings.lookup(response.location.partition("name=")[2])
    assert made
    assert made.target == address


def test_the_check_of_an_address_names_the_names_with_this_target(desk: Desk, jane: Browser) -> None:
    desk.bindings.bind("ark:12345/x5b", "https://maps.example/longer/7")
    desk.bindings.bind("ark:12345/x5a", "https://maps.example/longer", metadata={"what": "Old map"})
    desk.bindings.withdraw("ark:12345/x5a", reason="lost")
    known = checked(jane, "https://MAPS.example/longer")
    assert "This address is already the target of another name." in known
    assert "Old map ark:12345/x5a" in known
    assert "withdrawn" in known
    assert "ark:12345/x5b" not in known
    for other in ("https://maps.example/long", "https://maps.example/" + "x" * 3000, "https://[", "http://a\0b/"):
        assert "already the target" not in checked(jane, other)


def test_the_form_repeats_only_the_beginning_of_an_endless_value(jane: Browser) -> None:
    for path in ("/desk/new/name", "/desk/new/mint"):
        field = "target" if path.endswith("name") else "template"
        form = {"text": "ark:12345/x5a", "shoulder": "ark:12345/x5", "count": "1", field: "z" * 900_000}
        response = jane.post(path, form)
        assert response.status_code == 422
        assert len(response.text) < 300_000
        assert "Only the first 120,000 of 900,000 characters are shown." in response.text


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/desk/new/name", "/desk/new/mint"])
@pytest.mark.parametrize("shoulder", ["", "ark:", "\0"])
def test_a_missing_shoulder_is_an_error_of_the_form(desk: Desk, jane: Browser, path: str, shoulder: str) -> None:
    form = {"text": "https://maps.example/7", "below": shoulder, "shoulder": shoulder, "count": "1"}
    response = jane.post(path, form)
    assert response.status_code == 422
    assert 'aria-invalid="true"' in response.text


def test_an_address_without_a_selected_shoulder_is_minted_below_the_only_one(desk: Desk, jane: Browser) -> None:
    response = jane.post("/desk/new/name", {"text": "https://maps.example/7"})
    assert response.status_code == 303
    assert response.headers["Location"].startswith("/desk/name?name=ark:12345/x5")


def test_a_shoulder_must_be_selected_if_there_are_several(desk: Desk, jane: Browser) -> None:
    desk.accounts.grant("jane", "ark:12345/x7")
    response = jane.post("/desk/new/name", {"text": "https://maps.example/7"})
    assert response.status_code == 422
    assert "No shoulder is selected." in response.text
    assert 'name="below"' in response.text


def test_an_accession_number_with_a_space_has_the_error_of_its_check(desk: Desk, jane: Browser) -> None:
    response = jane.post("/desk/new/name", {"text": "ark:12345/x5 1940-0041"})
    assert response.status_code == 422
    assert response.text.count("cannot contain a space") == 2  # in the summary and at the field
    assert "Identifier or address</a>:" in response.text
    assert "has no identifier" not in response.text


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/desk/new/mint", {"shoulder": "ark:12345/x5", "count": "3", "state": "live"}),
        ("/desk/new/name", {"text": "https://example.org/a", "below": "ark:12345/x5", "status": "live"}),
    ],
    ids=["many", "one"],
)
def test_a_second_click_creates_no_more_names(desk, jane, path, form):
    found = re.search(r'name="once" value="([^"]+)"', jane.get("/desk/new").text)
    assert found is not None
    once = found[1]
    first, second = (jane.post(path, {**form, "once": once}) for _ in range(2))
    assert (first.status_code, first.location) == (303, second.location)
    number = int(form.get("count", 1))
    assert desk.bindings.count().number == number
    # The form again is another request, and so is one with other values. They ask about the same target first.
    for again in ({"once": "another"}, {"once": once, "erc.what": "Map"}):
        asked = re.findall(r'name="confirm" value="(\w+)"', jane.post(path, {**form, **again}).text)
        if asked:
            jane.post(path, {**form, **again, "confirm": asked})
    assert desk.bindings.count().number == 3 * number
