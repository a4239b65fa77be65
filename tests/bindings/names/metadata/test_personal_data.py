"""Test the warnings about data of persons in new names and their values."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from io import BytesIO

import pytest

from ararat.bindings.names.fields import Fields
from ararat.bindings.names.metadata.personal_data import CODE, of_binding, of_bindings, warnings_about
from ararat.middleware import import_table

PERSONAL = {
    "jane.doe@example.org": "an e-mail address",
    "jane.doe%40example.org": "an e-mail address",
    "0000-0002-1825-0097": "an ORCID iD or ISNI",
    "0009-0003-2192-1234/orcid:0000000218250097": "an ORCID iD or ISNI",
    "isni/000000012146438X": "an ORCID iD or ISNI",
    "tel:4930123456": "a telephone number",
    "+49-30-12345-67": "a telephone number",
    "jane-born-1984-03-12": "a date of birth",
    "geb.12.3.1984": "a date of birth",
    "123-45-6789": "a national number",
    "RSSMRA85T10A562S": "a national number",
    "185057800608491": "a national number",
    "756.9217.0769.85": "a national number",
}

OTHERS = [
    "x6np1",
    "13030/kt3n39r6fv",
    "newspaper/1984-03-12/ed-1",
    "0000000218250097",  # a padded number
    "0000-0002-1825-0098",
    "icon@2x.png",
    "2024;137@data.evento;leitura",
    "born2024-13-40",
    "stubborn1984",
    "978-3-16-148410-0",
    "1234-5678",
    "185057800608490",
    "756.9217.0769.86",
    "550e8400-e29b-41d4-a716-446655440000",
    "+02:00",
    "%",
    "%F0%9F",
    "@",
    "a@b",
    "https://[",
]


@pytest.mark.parametrize(("text", "kind"), PERSONAL.items())
def test_personal_data_in_a_name_a_target_and_a_resource_is_found(text, kind):
    name = warnings_about(f"ark:12345/{text}")
    assert [(each.code, each.message) for each in name] == [
        (CODE, f"the name contains {kind}; a name enters the public log and can never be removed")
    ]
    (resource,) = warnings_about("ark:12345/x", None, f"papers of {text}")
    assert resource.message.startswith(f"the resource contains {kind}; it never changes")
    if "+" not in text:  # in a query, it is a space
        (target,) = warnings_about("ark:12345/x", f"https://example.org/?q={text}")
        assert target.message.startswith(f"the target contains {kind}; the history keeps it permanently")


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_are_not_found(text):
    assert warnings_about(f"ark:12345/{text}", f"https://example.org/{text}", text, {"erc.what": text}) == []


def test_an_author_can_have_an_orcid_and_a_site_can_have_an_account():
    metadata = {"erc.who": "Carberry, Josiah (0000-0002-1825-0097)", "erc.what": "Maps\x1b[2J"}
    assert warnings_about("ark:12345/x", "https://user@host.example.org/x", None, metadata) == []
    (found,) = warnings_about("ark:12345/x", None, None, {"x\x1b\u202e": "ask jane@example.org"})
    assert found.message.startswith(r"the element x\u{1b}\u{202e} contains an e-mail address")
    assert "jane" not in found.message


def test_many_names_have_the_warnings_of_each():
    stated = [
        Fields(target="https://example.org/?q=1")._replace(**{field: value})
        for text in (*PERSONAL, *OTHERS)
        for field, value in (
            ("resource", text.upper()),
            ("resource", f"{'x ' * 900}{text}"),
            ("metadata", {"erc.who": text, "erc.what": "Map"}),
        )
    ]
    now = datetime(2026, 11, 26, tzinfo=UTC)
    bindings = [each.for_name(f"ark:12345/x{place}").create_binding(now) for place, each in enumerate(stated)]
    plain = [text for text in PERSONAL if ":" not in text]
    bindings += [Fields(target=f"/{text}").for_name(f"ark:12345/{text}").create_binding(now) for text in plain]
    found = of_bindings(bindings)
    assert found == [of_binding(each) for each in bindings]
    assert all(found[-len(plain) :])
    assert of_bindings([]) == []


def test_few_random_names_are_found():
    chosen = random.Random(1)  # noqa: S311 - no secret
    names = ["".join(chosen.choices("0123456789bcdfghjkmnpqrstvwxz-", k=chosen.randint(6, 24))) for _ in range(5000)]
    names += [str(chosen.randrange(10 ** chosen.randint(6, 16))) for _ in range(5000)]
    assert sum(bool(warnings_about(f"ark:12345/{name}")) for name in names) <= 5


@pytest.mark.parametrize("part", ["a", "1", "@a.", "a@", "+1", "1-", "0000-", "born", "%40", "tel:"])
def test_a_hostile_text_is_searched_in_linear_time(part):
    """Regular expressions can take quadratic time. This one would take minutes."""
    assert warnings_about("ark:12345/x", None, part * 200_000) == []


def test_an_import_and_its_dry_run_warn_and_refuse_nothing(bindings):
    table = b"identifier,target,resource,who\nark:12345/a@example.org,/a,,\nark:12345/b,/b,,mail b@example.org\n"
    for is_dry in (True, False):
        summary = import_table(bindings, BytesIO(table), dry_run=is_dry)
        assert (summary.added, summary.refusals, summary.warnings) == (2, 0, 2)
        assert [(each.line, each.code) for each in summary.warned] == [(2, CODE), (3, CODE)]
    found = bindings.lookup("ark:12345/b")
    assert [each.message for each in of_binding(found)] == [
        "the element erc.who contains an e-mail address; the history keeps it until ararat redact removes it"
    ]
