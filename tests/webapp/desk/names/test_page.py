"""The page of a name, and its forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from ..conftest import Browser, Desk

NAME = "ark:12345/x5m1"


@pytest.fixture
def bound(desk: Desk) -> Desk:
    desk.bindings.bind(NAME, "https://example.org/1", metadata={"what": "A map", "when": "(:unkn)"}, actor="jane")
    return desk


@pytest.fixture
def jane(bound: Desk) -> Browser:
    return bound.signed_in("jane")


def send(browser: Browser, action: str, **form: Any) -> Any:
    return browser.post(f"/desk/name/{action}", {"name": NAME, "revision": "1", **form})


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_page_shows_response_metadata_and_history(bound: Desk, jane: Browser) -> None:
    bound.bindings.prefixes.set("12345/x5", statement="These names last.")
    bound.bindings.bind(f"{NAME}/1", "/1")
    bound.bindings.bind(f"{NAME}.pdf", "/2")
    page = text_of(jane.get(f"/desk/name?name={NAME}").text)
    for part in ("302: a redirect to the target", "A map", "known to be unknown", "Bound", "by jane", "Names below"):
        assert part in page
    below = text_of(jane.get(f"/desk/name?name={NAME}/1").text)
    assert "Containers" in below
    assert "ark:12345/x5m1" in below


def test_the_parts_of_a_name_are_on_a_page_that_its_page_loads(bound: Desk, jane: Browser, read_page: Any) -> None:
    bound.bindings.bind(f"{NAME}/b.pdf", "/1")
    page = read_page(jane.get(f"/desk/name?name={NAME}/b.pdf").text)
    details = page.one("details", css="parts-of-name")
    assert details.attributes["hx-get"] == details.one("a").attributes["href"]
    parts = read_page(jane.get(details.one("a").attributes["href"]).text)
    card = parts.one("article", css=details.attributes["hx-select"].removeprefix("."))
    assert [each.text.split()[0] for each in card.one("ol", css="segments").all("li")][-2:] == ["/b", ".pdf"]
    assert {"Normal form as given", "Hierarchy 3"} <= {" ".join(each.text.split()) for each in card.all("summary")}
    assert NAME in parts.one("p", css="lead").text


def test_the_containers_of_a_name_are_listed_with_the_nearest_first(bound: Desk, jane: Browser, read_page: Any) -> None:
    bound.bindings.bind(f"{NAME}/a/b.en.pdf", "/1")
    page = read_page(jane.get(f"/desk/name?name={NAME}/a/b.en.pdf").text)
    listed = [each.text.split() for each in page.one("ul", css="relatives").all("li")]
    assert [each[0] for each in listed] == [f"{NAME}/a/b", f"{NAME}/a", NAME]
    assert [each[-1] for each in listed] == ["recorded", "recorded", "live"]


@pytest.mark.one_setup
@pytest.mark.parametrize("spelling", ["ark:/12345/x5-m1", "ARK:12345/x5m1", " ark:12345/x5m1 "])
def test_every_spelling_leads_to_the_page(jane: Browser, spelling: str) -> None:
    assert (
        "<code>ark:12345/x5m1</code>"
        in jane.get("/desk/name", query_string={"name": spelling}).text.replace("<bdi>", "").replace("</bdi>", "")
        or jane.get("/desk/name", query_string={"name": spelling}).status_code == 200
    )


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["ark:12345/x5none", "", "nonsense", "ark:12345/x5\u202e", "ark:99999/x"])
def test_a_name_without_a_record_is_not_found(jane: Browser, name: str) -> None:
    assert jane.get("/desk/name", query_string={"name": name}).status_code in (404, 422)


def test_a_reader_has_no_buttons(bound: Desk) -> None:
    page = bound.signed_in("rita").get(f"/desk/name?name={NAME}").text
    assert "Edit metadata" not in page
    assert "cannot change this name" in page


def test_metadata_is_saved_and_deleted(bound: Desk, jane: Browser) -> None:
    saved = send(jane, "metadata", **{"m.erc.what": "A better map", "m.erc.when": "", "m.erc.who": "A. Cartographer"})
    assert (saved.status_code, saved.location) == (303, f"/desk/name?name={NAME}")
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert dict(found.metadata) == {"erc.who": "A. Cartographer", "erc.what": "A better map"}
    assert "The name is updated." in jane.get(saved.location).text


def test_an_element_of_any_name_can_be_added(bound: Desk, jane: Browser) -> None:
    assert send(jane, "metadata", **{"new-element": "dc.subject", "new-text": "Maps\r\nMountains"}).status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert found.metadata["dc.subject"] == "Maps\nMountains"
    assert "dc.subject" in jane.get(f"/desk/name/metadata?name={NAME}").text


def test_elements_have_labels_and_codes_have_words(bound: Desk, jane: Browser) -> None:
    def lines(language: str) -> str:
        text = jane.get(f"/desk/name?name={NAME}", headers={"Accept-Language": language}).text
        return " ".join(re.sub("</?(?:bdi|span)[^>]*>", "", text).split())

    texts = {"dc.type": "(:mtype image) drawing", "dc.rights": "(:unkn)", "mods.related_item": "A map"}
    bound.bindings.bind(NAME, "https://example.org/1", metadata=texts)
    page = lines("en")
    for label, value in (
        ("Type <code>dc.type</code>", "image: drawing <small><code>(:mtype image) drawing</code></small>"),
        ("Rights <code>dc.rights</code>", "known to be unknown <small><code>(:unkn)</code></small>"),
        ("Related item <code>mods.related_item</code>", "A map"),
        ("What", "A map"),
    ):
        assert f"<dt>{label}</dt> <dd>{value}</dd>" in page
    assert "<dt>Rights</dt>" in page.partition('id="history"')[2]
    assert "<dt>Rechte <code>dc.rights</code></dt>" in lines("de")


def test_an_element_of_the_namespace_m_is_deleted(bound: Desk, jane: Browser) -> None:
    bound.bindings.bind(NAME, "https://example.org/1", metadata={"m.subject": "Maps"})
    # The fields of the form begin with "m.", too.
    assert send(jane, "metadata", revision="2", **{"m.m.subject": ""}).status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert "m.subject" not in found.metadata


def test_a_value_that_is_not_edited_keeps_its_spaces(bound: Desk, jane: Browser) -> None:
    recorded = {"erc.what": " Map ", "dc.subject": "Maps\nMountains\n"}
    bound.bindings.bind(NAME, "https://example.org/1", metadata=recorded)
    form = {"revision": "2", "m.dc.subject": "Maps\r\nMountains\r\n", "m.erc.what": " Map ", "m.erc.who": " A "}
    assert send(jane, "metadata", **form).status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert {**recorded, "erc.who": "A"}.items() <= found.metadata.items()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"m.erc.what": "a\x07b"}, "metadata"),
        ({"m.erc.what": "x" * 65_537}, "65,536"),
        ({"new-element": "no dot", "new-text": "x"}, "does not exist"),
        ({"m.datacite": "<a"}, "datacite"),
    ],
)
def test_a_wrong_value_is_explained_beside_its_field(
    bound: Desk, jane: Browser, form: dict[str, str], words: str
) -> None:
    refused = send(jane, "metadata", **form)
    assert refused.status_code == 422
    assert 'aria-invalid="true"' in refused.text
    assert words in refused.text
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert found.revision == 1


def test_an_inherited_statement_is_in_its_empty_field(bound: Desk, jane: Browser, read_page: Any) -> None:
    bound.bindings.prefixes.set("12345/x5", statement="These names last.")

    def field() -> Any:
        return read_page(jane.get(f"/desk/name/metadata?name={NAME}").text).one("input", name="m.erc.persistence")

    assert (field().attributes["value"], field().attributes["placeholder"]) == ("", "These names last.")
    send(jane, "metadata", **{"m.erc.persistence": "Ours."})
    assert field().attributes["value"] == "Ours."
    assert "placeholder" not in field().attributes


@pytest.mark.parametrize("embargo", [None, "2099-01-01"], ids=["live", "reserved"])
def test_another_kind_must_fit_the_recorded_scope(desk: Desk, jane: Browser, embargo: str | None) -> None:
    name = f"{NAME}/scope{embargo or ''}"
    desk.bindings.bind(name, "/a", kind="served", scope="subtree", resource=name, embargo=embargo)
    form = {"name": name, "revision": "1", "target": "https://example.org/scope", "kind": "located", "resource": name}
    refused = jane.post("/desk/name/target", {**form, "same": "1", "subtree": "1"})
    assert (refused.status_code, "cannot have the scope subtree" in refused.text) == (422, True)
    assert 'id="kind-error"' in refused.text
    assert jane.post("/desk/name/target", {**form, "same": "1"}).status_code == 303
    found = desk.bindings.lookup(name)
    assert found is not None
    assert (found.kind, found.scope, found.target) == ("located", "name", "https://example.org/scope")


def test_a_new_target_needs_a_confirmation(bound: Desk, jane: Browser) -> None:
    form = {"target": "https://example.org/2", "kind": "located", "redirect": "302"}
    refused = send(jane, "target", **form)
    assert refused.status_code == 422
    assert "leads to the same resource" in refused.text
    assert send(jane, "target", **form, same="1").status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert (found.target, found.revision) == ("https://example.org/2", 2)


def alternate_rows(*rows: tuple[str, str, str]) -> dict[str, list[str]]:
    """Return the fields of a form with these rows of a media type, a language and a target."""
    columns = zip(*rows, strict=True)
    return {f"alternate-{name}": list(each) for name, each in zip(("type", "language", "target"), columns, strict=True)}


def test_alternates_and_settings_are_saved(bound: Desk, jane: Browser, read_page: Any) -> None:
    form = {"target": "https://example.org/1", "kind": "located", "redirect": "307", "resource": "map 7", "same": "1"}
    form |= {"passthrough": "1"}
    rows = alternate_rows(
        ("text/html", "EN", "https://example.org/en"), ("", "", ""), ("", "de", "https://example.org/de")
    )
    assert send(jane, "target", **form, **rows).status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert (found.redirect, found.resource, found.passthrough, len(found.alternates)) == (307, "map 7", True, 2)
    page = read_page(jane.get(f"/desk/name/target?name={NAME}").text)
    targets = [each.attributes["value"] for each in page.all("input", name="alternate-target")]
    assert targets == ["https://example.org/de", "https://example.org/en", ""]
    # A row without a target deletes its alternate.
    form |= {"revision": "2"}
    assert send(jane, "target", **form, **alternate_rows(("", "de", "https://example.org/de"))).status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert dict(found.alternates) == {"de": "https://example.org/de"}


def test_rows_of_other_targets_are_added_and_removed_without_a_script(
    bound: Desk, jane: Browser, read_page: Any
) -> None:
    form = {"target": "https://example.org/new", "kind": "located", "redirect": "302"}
    rows = alternate_rows(("text/html", "en", "https://example.org/en"), ("", "de", "https://example.org/de"))

    def sent(**button: str) -> list[tuple[str, ...]]:
        response = send(jane, "target", **form, **rows, **button)
        assert response.status_code == 200
        page = read_page(response.text)
        assert page.one("input", id="target").attributes["value"] == "https://example.org/new"
        columns = (page.all("input", name=f"alternate-{name}") for name in ("type", "language", "target"))
        return [tuple(each.attributes["value"] for each in row) for row in zip(*columns, strict=True)]

    first, second = ("text/html", "en", "https://example.org/en"), ("", "de", "https://example.org/de")
    assert sent(add="1") == [first, second, ("", "", "")]
    assert sent(remove="0") == [second]
    assert sent(remove="7") == sent(remove="x") == [first, second]
    assert len(bound.bindings.history(NAME)) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"target": "javascript:alert(1)"}, "target"),
        (alternate_rows(("", "", "https://example.org/de")), "alternates"),
        (alternate_rows(("html", "", "https://example.org/de")), "alternates"),
        (alternate_rows(("", "de", "a b")), "alternates"),
        (alternate_rows(("", "de", " " * 100_000 + "x")), "alternates"),
        (alternate_rows(("", "d" * 201, "https://example.org/de")), "alternates"),
        (alternate_rows(("", "de", "/a"), ("", "DE", "/b")), "alternates"),
        ({"target": ""}, "target"),
    ],
)
def test_a_wrong_target_is_explained(jane: Browser, change: dict[str, Any], field: str) -> None:
    form = {"target": "https://example.org/1", "kind": "located", "redirect": "302", "same": "1", **change}
    refused = send(jane, "target", **form)
    assert refused.status_code == 422
    assert "<title>Error: Edit target - Ararat desk</title>" in refused.text
    assert f'id="{field}-error"' in refused.text


def test_a_name_is_withdrawn_corrected_and_restored(bound: Desk, jane: Browser) -> None:
    assert send(jane, "withdraw", reason="Replaced", successor="ark:12345/x5m2").status_code == 303
    page = jane.get(f"/desk/name?name={NAME}").text
    assert "410: the name is withdrawn" in page
    assert "Replaced" in page
    assert send(jane, "withdraw", revision="2", reason="Replaced by a scan", successor="").status_code == 303
    assert send(jane, "restore", revision="3").status_code == 303
    assert [event.action for event in bound.bindings.history(NAME)] == ["bound", "withdrawn", "updated", "restored"]


def test_a_wrong_successor_is_explained(jane: Browser) -> None:
    refused = send(jane, "withdraw", reason="x", successor=NAME)
    assert refused.status_code == 422
    assert 'id="successor-error"' in refused.text


def test_the_question_before_publishing_leads_to_the_date(bound: Desk, jane: Browser) -> None:
    bound.bindings.reserve("ark:12345/x5r1")
    question = jane.get("/desk/name/publish?name=ark:12345/x5r1").text
    assert 'href="/desk/name/target?name=ark:12345/x5r1#embargo">Publish it later</a>' in question
    assert 'id="embargo"' in jane.get("/desk/name/target?name=ark:12345/x5r1").text


def test_a_reserved_name_is_published_or_deleted(bound: Desk, jane: Browser) -> None:
    bound.bindings.reserve("ark:12345/x5r1")
    bound.bindings.reserve("ark:12345/x5r2")
    assert "404: the name is reserved" in jane.get("/desk/name?name=ark:12345/x5r1").text
    assert jane.post("/desk/name/publish", {"name": "ark:12345/x5r1", "revision": "1"}).status_code == 303
    assert jane.post("/desk/name/delete", {"name": "ark:12345/x5r2", "revision": "1"}).location == "/desk"
    found = bound.bindings.lookup("ark:12345/x5r1")
    assert found is not None
    assert (found.status, bound.bindings.lookup("ark:12345/x5r2")) == ("live", None)


def test_a_public_name_cannot_be_deleted(jane: Browser) -> None:
    assert send(jane, "delete").status_code == 409


def test_a_concurrent_change_shows_both_versions(bound: Desk, jane: Browser) -> None:
    bound.bindings.bind(NAME, "https://example.org/1", metadata={"what": "The version of ada"}, actor="ada")
    conflict = send(jane, "metadata", **{"m.erc.what": "The version of jane"})
    assert conflict.status_code == 409
    assert "The version of ada" in conflict.text
    assert "The version of jane" in conflict.text
    again = dict(
        re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', conflict.text.partition("</section>")[2])
    )
    assert again["revision"] == "2"
    assert jane.post("/desk/name/metadata", again).status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert found.metadata["erc.what"] == "The version of jane"


@pytest.mark.one_setup
@pytest.mark.parametrize("action", ["metadata", "target", "withdraw", "restore", "publish", "delete"])
@pytest.mark.parametrize("account", ["rita", "jane"])
def test_a_name_outside_the_permission_cannot_be_changed(bound: Desk, action: str, account: str) -> None:
    bound.bindings.bind("ark:12345/y1", "/y")
    form = {"name": "ark:12345/y1", "revision": "1", "m.erc.what": "x", "target": "/z", "kind": "located", "same": "1"}
    assert bound.signed_in(account).post(f"/desk/name/{action}", form).status_code == 403
    assert len(bound.bindings.history("ark:12345/y1")) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("action", ["metadata", "target", "withdraw", "restore", "publish", "delete"])
def test_a_form_needs_its_token(bound: Desk, jane: Browser, action: str) -> None:
    refused = jane.client.post(f"/desk/name/{action}", data={"name": NAME, "revision": "1"})
    assert refused.status_code == 403
    assert len(bound.bindings.history(NAME)) == 1


def test_an_administrator_undoes_the_last_change(bound: Desk, jane: Browser) -> None:
    bound.bindings.relocate(NAME, "https://example.org/2")
    ada = bound.signed_in("ada")
    assert "Undo this change" in ada.get(f"/desk/name?name={NAME}").text
    assert "Undo this change" not in jane.get(f"/desk/name?name={NAME}").text
    assert send(jane, "undo", revision="2").status_code == 403
    assert send(ada, "undo", revision="1").status_code == 303
    assert "Nothing was undone" in ada.get(f"/desk/name?name={NAME}").text
    assert send(ada, "undo", revision="2").status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert (found.target, found.revision) == ("https://example.org/1", 3)


def test_the_person_who_made_the_last_change_undoes_it(bound: Desk, jane: Browser) -> None:
    bound.bindings.relocate(NAME, "https://example.org/2", actor="jane")
    assert "Undo this change" in jane.get(f"/desk/name?name={NAME}").text
    assert send(jane, "undo", revision="2").status_code == 303
    found = bound.bindings.lookup(NAME)
    assert found is not None
    assert found.target == "https://example.org/1"


@pytest.mark.one_setup
@pytest.mark.parametrize("revision", ["", "x", "-1", "9" * 30, "\u0661"])
def test_a_revision_that_is_not_a_number_changes_nothing(bound: Desk, jane: Browser, revision: str) -> None:
    assert send(jane, "metadata", revision=revision, **{"m.erc.what": "x"}).status_code == 409
    assert len(bound.bindings.history(NAME)) == 1


def test_hostile_texts_are_isolated(bound: Desk, make_desk: Callable[..., Desk]) -> None:
    hostile = "<script>alert(1)</script>\u202e\u2066"
    bound.bindings.bind(NAME, "https://example.org/1", metadata={"what": hostile, "dc.title": hostile}, actor="a\u00e9")
    for path in ("", "/metadata"):
        page = bound.signed_in("jane").get(f"/desk/name{path}?name={NAME}").text
        assert "<script>alert" not in page
        assert "\u202e" not in page


def test_a_recorded_successor_is_a_link(desk: Desk, jane: Browser) -> None:
    for name in ("ark:12345/x5a", "ark:12345/x5b", "ark:12345/x5c"):
        desk.bindings.bind(name, "/x")
    desk.bindings.withdraw("ark:12345/x5a", successor="ark:12345/x5c")
    desk.bindings.withdraw("ark:12345/x5b", successor="https://example.org/new")
    assert 'href="/desk/name?name=ark:12345/x5c"' in jane.get("/desk/name?name=ark:12345/x5a").text
    text = jane.get("/desk/name?name=ark:12345/x5b").text
    assert "https://example.org/new" in text
    assert 'href="https://example.org/new"' not in text


def test_a_conflict_keeps_the_fields_that_the_user_did_not_edit(desk: Desk, jane: Browser) -> None:
    lines = {"dc.subject": "Maps\nMountains\n", "dc.coverage": "Ararat\nSevan"}
    desk.bindings.bind("ark:12345/x5a", "/x", metadata={"erc.who": "A", "erc.what": "Map", **lines})
    page = jane.get("/desk/name/metadata?name=ark:12345/x5a")
    assert page.status_code == 200
    desk.bindings.bind("ark:12345/x5a", "/x", metadata={"erc.who": "B", "dc.coverage": "Ararat\nVan"})
    form = {"name": "ark:12345/x5a", "revision": "1", "m.erc.who": "A", "m.erc.what": "Plan"}
    # A browser sends line ends as CRLF.
    form |= {f"m.{element}": text.replace("\n", "\r\n") for element, text in lines.items()}
    conflict = jane.post("/desk/name/metadata", form)
    assert conflict.status_code == 409
    assert 'name="m.erc.who" value="B"' in conflict.text
    assert 'name="m.dc.coverage" value="Ararat\nVan"' in conflict.text
    assert "<dt>" in (yours := conflict.text.partition('id="yours"')[2].partition("</dl>")[0])
    assert "dc." not in yours
    jane.post("/desk/name/metadata", {**form, "m.erc.who": "B", "revision": "2"})
    after = desk.bindings.lookup("ark:12345/x5a")
    assert after
    assert (after.metadata["erc.who"], after.metadata["erc.what"]) == ("B", "Plan")


def test_a_name_that_is_not_recorded_can_be_recorded(jane: Browser, rita: Browser) -> None:
    response = jane.get("/desk/name?name=ark:12345/x5none")
    assert response.status_code == 404
    assert 'href="/desk/new?text=ark:12345/x5none"' in response.text
    assert "/desk/new?" not in rita.get("/desk/name?name=ark:12345/x5none").text


def test_all_elements_of_dublin_core_are_fields_of_its_group(jane: Browser, read_page: Any) -> None:
    page = read_page(jane.get(f"/desk/name/metadata?name={NAME}").text)
    group = next(each for each in page.all("details") if each.all("summary")[0].text == "Dublin Core")
    names = {each.attributes["name"].removeprefix("m.dc.") for each in group.all("input")}
    assert names == {
        *("contributor", "coverage", "creator", "date", "description", "format", "identifier", "language"),
        *("publisher", "relation", "rights", "source", "subject", "title", "type"),
    }
