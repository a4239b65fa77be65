"""Facts about an identifier from other sources than its text."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from werkzeug.test import Client

from ararat.cli.main import main
from ararat.identifiers import examine
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.report import facts, inspection


def told(text: str) -> dict[str, dict[str, str]]:
    """Return "title: label: text" of facts; of facts without a label the last."""
    return {
        source.title: {fact.label: fact.text for fact in source.facts} for source in facts.collect_facts(examine(text))
    }


def test_the_holder_of_a_naan_and_its_resolver_are_shown():
    known = told("ark:/12148/btv1b8449691v")["NAAN 12148"]
    assert known["Holder"].startswith("National Library of France (")
    assert known["Resolver"] == "https://ark.bnf.fr/ark:/12148/btv1b8449691v"
    assert known["Since"] == "2005-07-17"


@pytest.mark.parametrize(
    ("own", "record", "expected"),
    [
        pytest.param(
            {"persistence": "Kept for good.", "availability": "lifetime"},
            {},
            {
                "Statement": "Kept for good.",
                "Availability": "lifetime: It is available as long as the institution exists.",
            },
            id="own",
        ),
        pytest.param(
            {},
            {"statement": "We keep all names.", "variance": "frozen, all files"},
            {
                "Statement": "We keep all names.",
                "Variance": "frozen, all files: Its data does not change by a single bit.",
            },
            id="inherited",
        ),
        pytest.param(
            {"persistence": "Not guaranteed."}, {"availability": "lifetime"}, None, id="own without a promise"
        ),
        pytest.param({}, {}, None, id="none"),
    ],
)
def test_the_inspector_and_the_command_show_the_persistence_statement_of_a_recorded_name(
    tmp_path, own, record, expected
):
    # ARK-008
    database = f"sqlite:///{tmp_path / 'names.sqlite'}"
    with open_bindings(database, create=True) as bindings:
        if record:
            bindings.prefixes.set("ark:12345/x5", **record)
        bindings.bind("ark:12345/x5a", "https://example.org/", metadata={"what": "A map", **own})
        bindings.bind("ark:12345/x5w", "https://example.org/2", metadata={"what": "A map", **own})
        bindings.withdraw("ark:12345/x5w")
        live, gone = inspection.inspect("ark:12345/x5a ark:12345/x5w", bindings=bindings).findings
        found = {each.title: each.facts for each in facts.collect_facts(live.report, live.site.promises)}
        expected = {"Statement": "Not guaranteed."} if own and expected is None else expected
        assert {fact.label: fact.text for fact in found.get("Persistence", ())} == (expected or {})
        assert not gone.site.promises
        page = Client(create_app(bindings).wsgi_app).get("/?q=ark:12345/x5a").get_data(as_text=True)
    told = " ".join(CliRunner().invoke(main, ["inspect", "ark:12345/x5a", "--database", database]).output.split())
    for text in (expected or {}).values():
        assert text in page
        assert text in told
    assert ("Persistence" in told) == bool(expected)


def test_an_unregistered_naan_is_reported():
    assert told("ark:00001/x")["NAAN 00001"]["Registered"] == "not in this copy of the registry"


@pytest.mark.parametrize(("naan", "words"), [("12345", "example"), ("99999", "invalid")])
def test_the_reserved_naans_are_explained(naan, words):
    assert words in told(f"ark:{naan}/x")[f"NAAN {naan}"]["Meaning"]


def test_a_urn_has_the_facts_of_its_registration_and_name():
    known = told("urn:isbn:0451450523")
    assert known["URN namespace isbn"]["Status"] == "formal"
    assert known["Namespace isbn"]["Canonical"] == "urn:isbn:9780451450524"


def test_a_check_character_is_shown_with_the_text_that_it_covers():
    found = told("ark:/12148/btv1b8449691v")["Check character"]
    assert found["Character"] == "v, which is right for btv1b8449691 (NOID, the Name)"
    assert told("ark:13030/xf93gt2q")["Check character"]["Character"].endswith(
        "13030/xf93gt2 (NOID, the NAAN and the Name)"
    )
    assert "Check character" not in told("ark:12345/xf93tg2q")


def test_a_wrong_check_character_is_shown_if_the_naan_states_that_its_names_have_one():
    found = told("ark:13030/xf93tg2q")["Check character"]
    assert found["Character"] == "q, which is wrong for 13030/xf93tg2 (NOID)"
    assert "may be mistyped" in found[""]
    assert "Check character" not in told("ark:13030/museum")


def test_the_normal_form_of_draft_kunze_is_shown_with_the_different_rule():
    known = told("ark:12345/x.pdf.en")["draft-kunze-ark, revision 43"]
    assert known["Normal form"] == "ark:12345/x.pdf.en"
    assert known["Difference"].startswith("only here: Sort variants")
    none = told("ark:12345/\u00e9")["draft-kunze-ark, revision 43"]["Normal form"]
    assert none.startswith("none, because the text is not an ARK there: U+00E9")
    assert not any("kunze" in title for title in told("ark:/12345/x-1?info#p"))


def test_another_scheme_has_its_status():
    assert told("doi:10.1000/1")["Scheme doi"]["Status"] == "permanent"


@pytest.mark.naughty
def test_hostile_identifiers_have_facts(naughty):
    for source in facts.collect_facts(examine(naughty.input[:20_000])):
        assert source.title
        assert all(fact.text for fact in source.facts)


def test_facts_include_the_verdict_of_a_policy():
    (found,) = [
        each for each in facts.collect_facts(examine("ark:21206/bcd", policies=["17beta"])) if "Policy" in each.title
    ]
    assert found.title == "Policy 17beta"
    assert [fact.label for fact in found.facts] == ["Result", "Error", "Namespace"]
    assert "reserved-name" in found.facts[1].text
