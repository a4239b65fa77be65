"""Prefix records: merging, inheritance, character sets (ARK-138), minting, tables and public answers."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

from ararat.bindings.checks.name_findings import check
from ararat.bindings.checks.verification import verify
from ararat.bindings.copying import copy_store
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_table
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import Collision
from ararat.bindings.names.prefixes import character_sets
from ararat.bindings.names.prefixes.prefixes import PrefixRecords, record
from ararat.bindings.names.selection import Selection
from ararat.bindings.operations.selected import change_selected
from ararat.bindings.operations.undo import undo_change
from ararat.bindings.storage.writing.transaction import Transaction
from ararat.middleware import BindingError, BindingsUnavailable, ReadOnlyBindings, ResolverMiddleware

NAAN, SHOULDER = "ark:12345/", "ark:12345/x5"
STATEMENT = "We keep these names permanently."
# Control characters other than line ends are refused; these texts are stored and shown.
HOSTILE = ("<script>alert(1)</script>", "\u202egnp.exe", "\u0645\u0643\u062a\u0628\u0629", "x" * 4000, "a\\u{202e}")


def client(bindings):
    return Client(ResolverMiddleware(lambda environ, start_response: [], bindings, prefix="https://r.example"))


def answer(bindings, path, form="application/json"):
    return client(bindings).get(path, headers={"Accept": form})


def document(found: TestResponse) -> dict[str, Any]:
    assert found.json is not None
    return found.json


def refused(action, *arguments, **options):
    with pytest.raises(BindingError) as raised:
        action(*arguments, **options)
    return raised.value


# Records --------------------------------------------------------------------------------------------------------------


def test_a_record_keeps_what_is_not_given_and_deletes_empty_texts(bindings):
    assert bindings.prefixes.set("12345/x-5", who="Library", what="Maps", actor="ada") == "set"
    assert bindings.prefixes.set(SHOULDER, what="Maps") == "unchanged"
    assert bindings.prefixes.set(SHOULDER, what=" Old maps ", who="", actor="bob") == "changed"
    found = bindings.prefixes.get("ark:/12345/x5")
    assert (found.texts, found.actor, found.revision) == ({"what": "Old maps"}, "bob", 2)
    assert bindings.prefixes.remove(SHOULDER, actor="eve") == "removed"
    assert (bindings.prefixes.get(SHOULDER), bindings.prefixes.list()) == (None, [])
    assert bindings.prefixes.set(SHOULDER, who="Archive") == "set"
    history = [(each.action, each.record.texts, each.record.actor) for each in bindings.prefixes.history(SHOULDER)]
    assert history == [
        ("set", {"who": "Library", "what": "Maps"}, "ada"),
        ("set", {"what": "Old maps"}, "bob"),
        ("removed", {}, "eve"),
        ("set", {"who": "Archive"}, None),
    ]
    assert [each.record.revision for each in bindings.prefixes.history(SHOULDER)] == [1, 2, 3, 4]


def test_a_record_shows_the_rule_of_the_same_prefix(bindings):
    bindings.prefixes.set(SHOULDER, what="Maps")
    bindings.rules.set(NAAN, "/all/${value}")
    assert bindings.prefixes.get(SHOULDER).as_dict()["rule"] is None
    bindings.rules.set(SHOULDER, "/maps/${suffix}")
    assert bindings.prefixes.get(SHOULDER).as_dict()["rule"] == {"template": "/maps/${suffix}", "redirect": 302}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("prefix", "texts", "code"),
    [
        pytest.param("12345/x.a", {"who": "A"}, "rule-prefix", id="variant"),
        pytest.param("99999", {"who": "A"}, "naan-reserved-invalid", id="reserved NAAN"),
        pytest.param("12345", {}, "prefix-empty", id="no text"),
        pytest.param("12345", {"who": "  "}, "prefix-empty", id="only white space"),
        pytest.param("12345", {"who": "a\x00b"}, "prefix-text", id="control character"),
        pytest.param("12345", {"statement": "x" * 4001}, "prefix-text", id="too long"),
        pytest.param("12345", {"pattern": "8 digits"}, "prefix-pattern", id="other pattern"),
        pytest.param("12345", {"pattern": "29^300"}, "prefix-pattern", id="long pattern"),
        pytest.param("12345/Abc", {"pattern": "29^8"}, "prefix-pattern", id="no shoulder for minting"),
        pytest.param("12345", {"characters": "9-0"}, "prefix-characters", id="wrong order"),
        pytest.param("12345", {"characters": "a-"}, "prefix-characters", id="hyphen at the end"),
        pytest.param("12345", {"hosts": "https://museum.example"}, "prefix-hosts", id="URL as host"),
        pytest.param("12345", {"hosts": "museum..example"}, "prefix-hosts", id="empty label"),
        pytest.param("12345", {"characters": "a\u2028b"}, "prefix-characters", id="line separator"),
    ],
)
def test_a_record_that_is_not_valid_is_refused(prefix, texts, code, bindings):
    assert refused(bindings.prefixes.set, prefix, **texts).code == code
    assert (bindings.prefixes.list(), refused(bindings.prefixes.remove, "12345").code) == ([], "prefix-unknown")


def test_the_history_of_records_is_never_changed_and_ordered(database, open_store):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = iter([start, start - timedelta(hours=1), start - timedelta(hours=1)])
    bindings = open_store(database, clock=lambda: next(times))
    bindings.prefixes.set(NAAN, who="A")
    bindings.prefixes.set(NAAN, who="B")
    bindings.prefixes.remove(NAAN)
    moments = [event.record.changed for event in bindings.prefixes.history(NAAN)]
    assert moments == sorted(set(moments))
    with pytest.raises(BindingsUnavailable, match="history is never"), bindings.store.transaction() as transaction:
        transaction.connection.exec_driver_sql("DELETE FROM prefix_events")


def test_verify_finds_nothing_after_changes_of_records(bindings):
    bindings.prefixes.set(NAAN, who="A")
    bindings.prefixes.remove(NAAN)
    bindings.prefixes.set(NAAN, who="B")
    bindings.prefixes.set(SHOULDER, who="C")
    bindings.prefixes.remove(SHOULDER)
    assert list(verify(bindings)) == []


@pytest.mark.parametrize("times", [1, 100])
def test_a_collision_with_another_writer_is_retried(bindings, monkeypatch, times):
    get_prefix, left = Transaction.get_prefix, [times]

    def collide(transaction, prefix):
        left[0] -= 1
        if left[0] >= 0:
            raise Collision("could not serialize access")
        return get_prefix(transaction, prefix)

    monkeypatch.setattr(Transaction, "get_prefix", collide)
    if times == 1:
        assert bindings.prefixes.set(NAAN, who="A") == "set"
    else:
        with pytest.raises(BindingsUnavailable, match="5 times"):
            bindings.prefixes.set(NAAN, who="A")


def test_the_longest_prefix_with_a_text_is_inherited():
    records = PrefixRecords([record(NAAN, {"who": "A", "statement": "N"}), record(SHOULDER, {"who": "B"})])
    assert records.inherited_text("ark:12345/x5a", "who") == ("B", SHOULDER)
    assert records.inherited_text("ark:12345/x5", "statement") == ("N", NAAN)
    assert records.inherited_text("ark:12346/x5", "statement") is None
    assert records.inherited_text("urn:isbn:9780451450524", "who") is None


# Character sets (ARK-138) ---------------------------------------------------------------------------------------------


# ARK-138
@pytest.mark.parametrize(
    ("name", "characters", "wrong"),
    [
        pytest.param("0123/45.67", "digits", None, id="delimiters"),
        pytest.param("1a", "0-9", "a", id="range"),
        pytest.param("a", "betanumeric", "a", id="vowel"),
        pytest.param("%D0%B0", "a-z", "\u0430", id="homoglyph"),
        pytest.param("%D0%B0", "\u0430", None, id="other script"),
        pytest.param("1%2F2", "0-9", "/", id="encoded slash"),
        pytest.param("1%2F2", "0-9/", None, id="permitted slash"),
        pytest.param("%FF", "a-\U0010ffff", "\udcff", id="byte"),
        pytest.param("]^[", "]^[", None, id="regular expression"),
        pytest.param("\\", "]^[", "\\", id="backslash"),
    ],
)
def test_first_character_outside_the_set(name, characters, wrong):
    assert character_sets.first_wrong(name, character_sets.check(characters)) == wrong


# ARK-138
def test_new_names_with_other_characters_are_refused(bindings):
    bindings.bind("ark:12345/x5old", "/old")
    bindings.prefixes.set(SHOULDER, characters="0-9")
    for action, arguments in (
        (bindings.bind, ("ark:12345/x51%D0%B0", "/1")),
        (bindings.reserve, ("ark:12345/x51%D0%B0",)),
    ):
        error = refused(action, *arguments)
        assert (error.code, error.identifier) == ("name-characters", "ark:12345/x51%D0%B0")
        assert "U+0430 CYRILLIC SMALL LETTER A" in error.message
        assert "ark:12345/x5 can have only these characters: 0-9" in error.message
        assert "a larger character set in the record of the prefix" in str(error)
    assert bindings.bind("ark:12345/x5-17/2.3", "/17") == "bound"
    assert bindings.bind("ark:12345/other", "/other") == "bound"
    # A record can be newer than a name.
    assert bindings.relocate("ark:12345/x5old", "/new") == "relocated"
    assert [(found.identifier, found.code) for found in check(bindings) if found.code == "name-characters"] == [
        ("ark:12345/x5old", "name-characters")
    ]


def test_a_reserved_name_with_another_character_is_not_published(bindings):
    bindings.reserve("ark:12345/x5old")
    bindings.prefixes.set(SHOULDER, characters="digits")
    assert refused(bindings.bind, "ark:12345/x5old", "/1").code == "name-characters"
    published = change_selected(bindings, "publish", {}, Selection())
    assert [(each.identifier, each.code) for each in published.refused] == [("ark:12345/x5old", "name-characters")]
    assert bindings.delete("ark:12345/x5old") == "deleted"
    assert undo_change(bindings, "ark:12345/x5old").counts == {"reserved": 1}


# ARK-138
def test_the_longest_prefix_with_characters_decides(bindings):
    bindings.prefixes.set(NAAN, characters="digits")
    bindings.prefixes.set(SHOULDER, characters="a-z")
    bindings.prefixes.set("12345/x5a", what="no characters")
    assert bindings.bind("ark:12345/x5abc", "/1") == "bound"
    assert refused(bindings.bind, "ark:12345/x51", "/1").code == "name-characters"
    assert refused(bindings.bind, "ark:12345/a", "/1").code == "name-characters"


# ARK-138
def test_import_refuses_a_new_name_with_another_character(bindings):
    bindings.bind("ark:12345/x5old", "/old", resource="1")
    bindings.prefixes.set(SHOULDER, characters="digits")
    table = (
        b"identifier,target,resource,status\nark:12345/x5old,/new,1,\nark:12345/x5b,/b,,\nark:12345/x5c,,,reserved\n"
    )
    summary = import_table(bindings, io.BytesIO(table))
    assert [(line.line, line.code) for line in summary.refused] == [(3, "name-characters"), (4, "name-characters")]
    assert "'b'" in summary.refused[0].message


# ARK-138
def test_mint_makes_only_permitted_names(bindings):
    bindings.prefixes.set(SHOULDER, characters="digits")
    assert refused(mint, bindings, "12345/x5").code == "name-characters"
    assert all(name[12:].isdigit() for name in mint(bindings, "12345/x5", digits=True, count=5))
    bindings.prefixes.set("12345/t", characters="a")
    bindings.prefixes.set(NAAN, characters="betanumeric")
    assert not any(name.startswith("ark:12345/t") for name in mint(bindings, "12345", length=2, count=812))


# Minting --------------------------------------------------------------------------------------------------------------


def test_mint_uses_the_pattern_of_the_record(bindings):
    bindings.prefixes.set(NAAN, pattern="29^5")
    bindings.prefixes.set(SHOULDER, pattern="10^6+check")
    assert [len(name) for name in mint(bindings, "12345/t1")] == [17]
    (name,) = mint(bindings, "12345/x5")
    assert (len(name), name[12:].isdigit()) == (19, True)
    assert [len(name) for name in mint(bindings, "12345/x5", length=3, check=False)] == [15]
    assert len(mint(bindings, "12345/x5", digits=False, count=5)) == 5


# Tables ---------------------------------------------------------------------------------------------------------------


def fill(bindings):
    bindings.bind("ark:12345/x5old", "/old")
    bindings.prefixes.set(NAAN, who="Library", what="=1+1", contact="arks@example.org", statement=STATEMENT)
    bindings.prefixes.set(SHOULDER, what="Maps, \u0645\u0643\u062a\u0628\u0629", pattern="10^6+check", characters="0-9")


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_records_are_exported_and_imported(form, bindings, open_store, tmp_path):
    other = open_store(tmp_path / "other.sqlite")
    fill(other)
    out = io.BytesIO()
    assert export_table(other, out, format=form).prefixes == 2
    # The name is older than its character set.
    summary = import_table(bindings, io.BytesIO(out.getvalue()), format=form)
    assert (summary.refused, summary.prefixes, summary.added) == ([], 2, 1)
    assert [each.texts for each in bindings.prefixes.list()] == [each.texts for each in other.prefixes.list()]
    assert import_table(bindings, io.BytesIO(out.getvalue()), format=form).unchanged == 3
    again = io.BytesIO()
    export_table(bindings, again, format=form)
    assert again.getvalue() == out.getvalue()
    bindings.prefixes.set(NAAN, who="Archive")
    (line,) = import_table(bindings, io.BytesIO(out.getvalue()), format=form).refused
    assert (line.code, line.message) == (
        "prefix-otherwise",
        "the record of ark:12345/ has another text in the field who",
    )


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("ark:12345/x5,prefix,,,", "prefix-empty"),
        ("ark:12345/x5,prefix,A,/a,", "row-columns"),
        ("ark:12345/x5,prefix,,,9-0", "prefix-characters"),
        ("ark:12345/x.a,prefix,A,,", "rule-prefix"),
    ],
)
def test_import_refuses_a_row_that_is_no_record(row, code, bindings):
    table = f"identifier,kind,who,target,prefix.characters\n{row}\n".encode()
    assert [line.code for line in import_table(bindings, io.BytesIO(table)).refused] == [code]


def test_a_file_has_records(tmp_path, open_store):
    other = open_store(tmp_path / "other.sqlite")
    fill(other)
    path = tmp_path / "names.csv"
    with path.open("wb") as stream:
        export_table(other, stream)
    bindings = open_store(path)
    assert [each.texts for each in bindings.prefixes.list()] == [each.texts for each in other.prefixes.list()]
    assert bindings.prefixes.history(NAAN) == []
    assert document(answer(bindings, "/ark:12345/x5"))["persistence_source"] == NAAN
    with pytest.raises(ReadOnlyBindings):
        bindings.prefixes.set(NAAN, who="A")
    assert [found.identifier for found in check(bindings) if found.code == "name-characters"] == ["ark:12345/x5old"]


def test_a_copy_has_the_records_with_their_history(bindings, open_store, tmp_path):
    other = open_store(tmp_path / "other.sqlite")
    fill(other)
    other.prefixes.set(NAAN, who="Archive", actor="ada")
    copy_store(other, bindings)
    assert bindings.prefixes.list() == other.prefixes.list()
    assert bindings.prefixes.history(NAAN) == other.prefixes.history(NAAN)
    assert list(verify(bindings)) == []


def test_a_copy_of_a_file_has_its_records(bindings, open_store, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("identifier,kind,who,prefix.characters\nark:12345/x5,prefix,Library,0-9\n", "utf-8")
    copy_store(open_store(path), bindings)
    assert [each.texts for each in bindings.prefixes.list()] == [{"who": "Library", "characters": "0-9"}]
    assert [each.action for each in bindings.prefixes.history(SHOULDER)] == ["set"]
    assert bindings.prefixes.set(SHOULDER, what="Maps") == "changed"
    assert list(verify(bindings)) == []


def test_a_file_with_two_records_of_a_prefix_is_refused(tmp_path, open_store):
    path = tmp_path / "names.csv"
    path.write_text("identifier,kind,who\nark:12345/x5,prefix,A\nark:/12345/x-5,prefix,B\n", "utf-8")
    bindings = open_store(path)
    assert "lines 2 and 3 both have a record for ark:12345/x5" in bindings.source.refusal


# Public answers -------------------------------------------------------------------------------------------------------


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path", ["/ark:12345/", "/ark:/12345/", "/ARK:12-345/", "/ark:12345/?info", "/ark:12345/?", "/ark:12345/??"]
)
def test_a_naan_alone_answers_with_its_record(path, bindings):
    bindings.prefixes.set(NAAN, who="Library", statement=STATEMENT)
    found = answer(bindings, path)
    assert found.status_code == 200
    assert document(found)["prefix"] == NAAN
    assert document(found)["persistence"] == STATEMENT
    assert '<https://r.example/ark:12345/?info>; rel="describedby"' in found.headers["Link"]


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/ark:12345/x5", "/ark:/12345/x-5", "/ark:12345/x5/", "/ark:12345/x5?info"])
def test_a_shoulder_alone_answers_with_its_record(path, bindings):
    bindings.rules.set(SHOULDER, "/maps/${suffix}")
    bindings.prefixes.set(NAAN, statement=STATEMENT)
    bindings.prefixes.set(SHOULDER, what="Maps", actor="secret")
    found = answer(bindings, path)
    assert found.status_code == 200
    assert (document(found)["what"], document(found)["persistence_source"], document(found)["rule"]) == (
        "Maps",
        NAAN,
        "/maps/${suffix}",
    )
    assert "secret" not in found.text
    assert answer(bindings, "/ark:12345/x57").status_code == 302


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ark:12345/", 400),
        ("/ark:12345/?info", 400),
        ("/ark:12345", 400),
        ("/ark:12345?info", 400),
        ("/ark:12345/x5", 404),
        ("/ark:12345/x5?info", 404),
    ],
)
def test_a_prefix_without_a_record_is_not_found(path, status, bindings):
    bindings.prefixes.set("12346", who="Library")
    assert answer(bindings, path).status_code == status


# I-04: "A string with no Name part like ark:12345 is not an ARK."
@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/ark:12345", "/ark:/12345", "/ark:12345?info", "/ark:12-345?", "/ark:12345/?info"])
def test_a_naan_without_a_slash_leads_to_its_record(path, bindings):
    bindings.prefixes.set(NAAN, who="Library")
    assert answer(bindings, path).status_code == 200
    assert "Library" in answer(bindings, path).text
    assert answer(bindings, path.replace("345", "346")).status_code == 400


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/ark:12345?cite", "/ark:12345/?cite", "/ark:12345//", "/ark:99999/"])
def test_other_texts_are_no_prefix(path, bindings):
    bindings.prefixes.set(NAAN, who="Library")
    assert answer(bindings, path).status_code in (400, 404)


def test_a_bound_name_wins_over_a_record(bindings):
    bindings.prefixes.set(SHOULDER, what="Maps")
    bindings.reserve(SHOULDER)
    assert document(answer(bindings, "/ark:12345/x5"))["what"] == "Maps"
    bindings.bind(SHOULDER, "https://example.org/x5")
    assert answer(bindings, "/ark:12345/x5").location == "https://example.org/x5"
    assert document(answer(bindings, "/ark:12345/x5?info"))["kind"] == "located"
    bindings.withdraw(SHOULDER)
    assert answer(bindings, "/ark:12345/x5").status_code == 410


def test_a_record_below_a_withdrawn_name_is_not_shown(bindings):
    bindings.bind("ark:12345/a", "/a")
    bindings.withdraw("ark:12345/a")
    bindings.prefixes.set("12345/a/b", what="Maps")
    assert answer(bindings, "/ark:12345/a/b").status_code == 410


@pytest.mark.parametrize("form", ["text/html", "application/json", "text/plain"])
@pytest.mark.parametrize("path", ["/ark:12345/x5a?info", "/ark:12345/x5b?info", "/ark:12345/x5c?info"])
def test_a_description_has_the_inherited_statement_with_its_source(path, form, bindings):
    bindings.prefixes.set(NAAN, statement=STATEMENT)
    bindings.rules.set(SHOULDER, "/things/${suffix}")
    bindings.bind("ark:12345/x5a", "/a", metadata={"what": "A"})
    bindings.bind("ark:12345/x5c", "/c")
    bindings.withdraw("ark:12345/x5c")
    found = answer(bindings, path, form)
    assert found.status_code == 200
    assert STATEMENT in found.text
    assert "no statement known" not in found.text
    assert "Last-Modified" not in found.headers
    if form == "application/json":
        assert (document(found)["metadata"]["persistence"], document(found)["persistence_source"]) == (STATEMENT, NAAN)
    elif form == "text/plain":
        assert "persistence_source: ark:12345/\n" in found.text
    else:
        assert 'href="https://r.example/ark:12345/"' in found.text


def test_the_own_statement_of_a_name_wins(bindings):
    bindings.prefixes.set(NAAN, statement=STATEMENT)
    bindings.bind("ark:12345/x5a", "/a", metadata={"persistence": "One year."})
    found = document(answer(bindings, "/ark:12345/x5a?info"))
    assert found["metadata"]["persistence"] == "One year."
    assert "persistence_source" not in found


@pytest.mark.one_setup
@pytest.mark.parametrize("text", HOSTILE, ids=["html", "override", "right to left", "long", "escape"])
@pytest.mark.parametrize("form", ["text/html", "application/json", "text/plain"])
def test_hostile_texts_are_shown_safely(text, form, bindings):
    bindings.prefixes.set(SHOULDER, who=text, what=text, contact=text, statement=text, characters=text[:20] + "x")
    bindings.bind("ark:12345/x5x", "/x")
    for path in ("/ark:12345/x5", "/ark:12345/x5x?info"):
        shown = answer(bindings, path, form).text
        assert "<script>" not in shown or form != "text/html"
        assert "\u202e" not in shown
        assert "javascript:" not in shown


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("arks@example.org", 'href="mailto:arks@example.org"'),
        ("https://example.org/contact", 'href="https://example.org/contact"'),
        ("javascript:alert(1)", None),
        ("a@b.example?bcc=c@d.example", None),
        ("Desk 3", None),
    ],
)
def test_a_contact_is_a_link_only_if_it_is_an_address(contact, link, bindings):
    bindings.prefixes.set(NAAN, contact=contact)
    page = answer(bindings, "/ark:12345/", "text/html").text
    if link:
        assert link in page
    else:
        assert {target.partition("?")[0] for target in re.findall('href="(.*?)"', page)} == {
            "https://r.example/ark:12345/"
        }


def test_an_unchanged_record_is_not_sent_again(bindings):
    bindings.prefixes.set(NAAN, who="Library")
    tag = answer(bindings, "/ark:12345/").headers["ETag"]
    fields = {"Accept": "application/json", "If-None-Match": tag}
    assert client(bindings).get("/ark:12345/", headers=fields).status_code == 304
    assert client(bindings).head("/ark:12345/").status_code == 200


def test_services_describe_a_prefix(bindings):
    bindings.prefixes.set(SHOULDER, who="Library")
    site = ResolverMiddleware(lambda environ, start_response: [], bindings, prefix="https://r.example", services="/uri")
    for service in ("N2L", "N2C"):
        found = Client(site).get(f"/uri/{service}?ark:12345/x5")
        assert (found.status_code, found.location) == (303, "https://r.example/ark:12345/x5")
    assert Client(site).get("/uri/N2Ls?ark:12345/x5").status_code == 303


# A redirect must not become slower: no statement for records.
def test_redirects_read_no_records(bindings, monkeypatch):
    bindings.bind("ark:12345/x5a", "/a")
    bindings.prefixes.set(NAAN, statement=STATEMENT)
    site = client(bindings)
    assert site.get("/ark:12345/x5a?info").status_code == 200
    asked = []
    store, version = bindings.store, bindings.store.rules_version()
    monkeypatch.setattr(type(store), "prefixes", lambda self: asked.append(1) or [])
    monkeypatch.setattr(type(store), "rules_version", lambda self: version)
    assert site.get("/ark:12345/x5a").status_code == 302
    assert site.get("/ark:12345/x5a?info").status_code == 200
    assert asked == []


def test_the_record_is_json(bindings):
    bindings.prefixes.set(NAAN, who="Library")
    assert json.loads(json.dumps(bindings.prefixes.get(NAAN).as_dict()))["who"] == "Library"
