"""The verdict on an identifier: the most important fact, the same everywhere, and statements that are never made."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ararat.identifiers import examine
from ararat.identifiers.text import characters
from ararat.webapp.report.site_record import UNREAD, SiteRecord
from ararat.webapp.report.verdict import verdict

HIDDEN, MISTYPED, OUTSIDE = "hidden-characters", "mistyped", "outside-the-specification"
HOLDER = "ark:/12148/btv1b8449691v"


@pytest.mark.parametrize(
    ("text", "code", "status", "headline"),
    [
        pytest.param(
            "ark:12345/\u202ex\u200b",
            HIDDEN,
            "warn",
            "Careful: 2 hidden characters, this text",
            id="hidden",
        ),
        pytest.param("ark:12345\u200b", HIDDEN, "bad", "Careful: 1 hidden character, this", id="hidden and wrong"),
        pytest.param(
            "urn:isbn:9783161484101", MISTYPED, "warn", "Probably mistyped: the last digit should be 0", id="isbn"
        ),
        pytest.param(
            "urn:nbn:de:gbv:46:1-162418", MISTYPED, "warn", "Probably mistyped: the last digit should be 7", id="nbn"
        ),
        pytest.param(
            "urn:nbn:de:gbv:46:1-162418?info", MISTYPED, "warn", "Probably mistyped: the last", id="nbn with ?info"
        ),
        pytest.param(
            "urn:nbn:ch:bel-9038", MISTYPED, "warn", "Probably mistyped: the last digit should be 9", id="Swiss nbn"
        ),
        pytest.param(
            "urn:issn:0028-0837", MISTYPED, "warn", "Probably mistyped: the last digit should be 6", id="issn"
        ),
        pytest.param(
            HOLDER[:-1] + "x", MISTYPED, "warn", "Probably mistyped: the check character", id="check character"
        ),
        pytest.param(
            "https://www.familysearch.org/ark:/61903/1:1:MW8X-BQL?lang=de",
            *(
                OUTSIDE,
                "warn",
                "An ARK of Family Search, with colons that the specification does not allow",
            ),
            id="colons",
        ),
        pytest.param(
            "ark:12148/l'x",
            OUTSIDE,
            "warn",
            "with an apostrophe that the specification",
            id="an apostrophe",
        ),
        pytest.param(
            "ark:12148/a//b",
            OUTSIDE,
            "warn",
            "outside the specification: the ARK contains",
            id="two slashes",
        ),
        pytest.param(
            "ark:bbbbb/a!b",
            OUTSIDE,
            "warn",
            "An ARK under NAAN bbbbb, with an exclamation",
            id="no holder",
        ),
        pytest.param("ark:12345", "not-valid", "bad", "Not a valid ARK: a NAAN alone is not an ARK", id="pseudo-ark"),
        pytest.param("urn:foo", "not-valid", "bad", "Not a valid URN: there is no colon", id="no urn"),
        pytest.param("foo", "not-valid", "bad", "Not an ARK or a URN: the text starts with neither", id="none"),
        pytest.param(HOLDER, "holder-known", "good", "A valid ARK of the National Library of France", id="holder"),
        pytest.param(f"https://n2t.net/{HOLDER}", "holder-known", "good", "of the National", id="embedded"),
        pytest.param("ark:/12345/x-1", "valid", "good", "A valid ARK for examples", id="not in normal form"),
        pytest.param("ark:bbbbb/x", "valid", "good", "A valid ARK", id="unknown NAAN"),
        pytest.param("ark:99999/x", "valid", "warn", "An ARK for tests", id="a warning"),
        pytest.param("ark:99999/912148_x", "valid", "warn", "tests of the National Library of France", id="quick test"),
        pytest.param("ark:%2F12148%2Fbtv1/f1", "valid", "warn", "Did you mean ark:/12148/btv1?", id="encoded slashes"),
        pytest.param("urn:isbn:0451450523", "valid", "good", "A valid ISBN", id="a book"),
        pytest.param("urn:foo:a", "valid", "good", "A valid URN of the namespace foo", id="a urn"),
        pytest.param("urn:example:a/b", "valid", "warn", "URN in RFC 8141 but not in the 2011 draft", id="RFC 8141"),
        pytest.param("urn:example:a?meta", "valid", "warn", "URN in the 2011 draft but not in RFC 8141", id="draft"),
    ],
)
def test_the_headline_is_the_most_important_fact(text, code, status, headline):
    found = verdict(examine(text))
    assert (found.code, found.status) == (code, status)
    assert headline in found.headline


METADATA = {"erc.what": "Plan of Grebenau", "erc.who": "Moreau, Elise", "erc.when": "1912"}


@pytest.fixture
def record(binding):
    def make(metadata=METADATA, kind="located", **changes):
        return SiteRecord(
            {}, kind=kind, binding=binding("ark:12345/x", "https://maps.example/x", metadata=metadata, **changes)
        )

    return make


def test_a_recorded_name_has_the_title_of_the_thing(record):
    found = verdict(examine("ark:/12345/x"), record())
    assert (found.code, found.tag, found.headline) == ("recorded", "valid, recorded here", "Plan of Grebenau")
    assert found.sentence == "Moreau, Elise, 1912. The name is recorded here, and leads to maps.example."
    assert verdict(examine("ark:/12345/x"), record(metadata={})).headline == "A valid ARK of this site"


def test_a_withdrawn_name_comes_before_its_title_and_a_hidden_character_before_both(record):
    gone = record(kind="withdrawn", status="withdrawn", reason="Recorded twice", successor="ark:12345/y")
    found = verdict(examine("ark:/12345/x"), gone)
    assert (found.headline, found.sentence) == ("Withdrawn: Plan of Grebenau", "Recorded twice.")
    assert found.correction == "ark:12345/y"
    assert verdict(examine("ark:/12345/x\u200b"), gone).code == "hidden-characters"


def test_a_wrong_digit_is_corrected_in_the_spelling_of_the_text():
    assert verdict(examine("urn:isbn:978-3-16-148410-1")).correction == "urn:isbn:978-3-16-148410-0"


def test_an_ark_outside_the_specification_says_where_software_cuts_it():
    found = verdict(examine("https://www.familysearch.org/ark:/61903/1:1:MW8X-BQL"))
    assert "cut it to ark:/61903/1, which is another name" in found.sentence


@pytest.mark.naughty
def test_texts_hide_and_promise_nothing(naughty):
    found = verdict(examine(naughty.input[:20_000]))
    words = f"{found.tag} {found.kind} {found.headline} {found.sentence}"
    assert not characters.HIDDEN.search(words)
    # ARK-007, and requirements, section 3, item 20
    assert not any(promise in words.lower() for promise in ("persistent", "valid resource", "does not exist"))


@pytest.mark.parametrize(
    ("text", "said", "status", "tag"),
    [
        pytest.param("https://17beta.top/en", ": can be allocated", "good", "allocatable", id="fine"),
        pytest.param("https://17beta.top/en/A", "allocated, but a phrase has", "warn", "allocatable", id="a warning"),
        pytest.param("https://17beta.top/en/", "must not be allocated: a", "bad", "not allocatable", id="an error"),
    ],
)
def test_an_iri_of_a_policy_has_the_verdict_of_the_policy(text, said, status, tag):
    policies: Sequence[str] = ["17beta"]
    found = verdict(examine(text, policies=policies))
    assert said in found.headline
    assert (found.status, found.tag) == (status, tag)


@pytest.mark.parametrize("text", ["ark:12345/zz/", "https://n2t.net/ark:/12148/zz/"])
def test_a_final_slash_is_never_advised_to_be_kept(text: str) -> None:
    found = verdict(examine(text))
    assert found.code == "outside-the-specification"
    assert "Keep it whole" not in found.sentence
    assert found.correction is not None
    assert found.correction.endswith("zz")


def test_a_store_that_cannot_be_read_is_in_the_verdict() -> None:
    found = verdict(examine(HOLDER), UNREAD)
    assert (found.code, found.status, found.tag) == ("unread", "warn", "valid, not looked up")
    assert found.sentence.startswith("The names of this site cannot be read at the moment")
    assert verdict(examine("ark:12345"), UNREAD).code == "not-valid"


@pytest.mark.parametrize(
    ("text", "digit", "correction"),
    [
        ("ISBN 0-451-45052-4", "3", "urn:isbn:0451450523"),
        ("ISBN-13: 978-3-16-148410-1", "0", "urn:isbn:9783161484100"),
        ("ISSN 1234-5670", "9", "urn:issn:1234-5679"),
    ],
)
def test_a_number_without_a_label_and_with_a_wrong_digit_is_mistyped(text: str, digit: str, correction: str) -> None:
    found = verdict(examine(text))
    assert (found.code, found.correction) == ("mistyped", correction)
    assert found.headline == f"Probably mistyped: the last digit should be {digit}"


@pytest.mark.parametrize("text", ["urn:nbn:de:xyz:17-0000000012", "urn:nbn:ch:bel-9038"])
def test_a_check_digit_that_the_record_requires_is_not_called_possible(text: str) -> None:
    hedge = "the check digit of the German National Library does not match"
    assert hedge in verdict(examine(text)).sentence
    assert hedge in verdict(examine(text), SiteRecord(is_own=True)).sentence
    found = verdict(examine(text), SiteRecord(is_own=True, is_mistyped=True))
    assert found.code == "mistyped"
    assert found.sentence == "The other digits need another check digit, so one digit is wrong or two are exchanged."


@pytest.mark.parametrize("text", ["ISBN 0-451-45052-3", "ISSN 1234-5679"])
def test_a_right_number_without_a_label_is_a_question(text: str) -> None:
    assert str(verdict(examine(text)).headline).startswith("Did you mean urn:")
