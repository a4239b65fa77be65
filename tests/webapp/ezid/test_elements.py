"""The elements of a binding, and the statements of a request."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ararat.bindings.holding import PublicAnswer
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.fields import Fields
from ararat.webapp.ezid import elements
from ararat.webapp.ezid.answers import Failed
from ararat.webapp.ezid.elements import mapped_citation

PREFIX = "https://names.example"
KEY = "ark:12345/x5"


def binding(**fields: object) -> Binding:
    made = Fields(**fields).for_name("ark:/12345/x-5")  # type: ignore[arg-type]
    return made.create_binding(datetime(2026, 11, 23, 12, 0, 0, 999_999, tzinfo=UTC))


def test_times_are_whole_seconds() -> None:
    found = elements.describe_identifier(PublicAnswer(binding(kind="described"), None), PREFIX)
    assert (found["_created"], found["_updated"]) == ("1795435200", "1795435200")


@pytest.mark.parametrize(
    ("fields", "target"),
    [
        ({"kind": "described"}, f"{PREFIX}/ark:/12345/x5?info"),
        ({"target": "https://example.org/"}, "https://example.org/"),
        ({"target": "/maps/1"}, f"{PREFIX}/maps/1"),
        ({"target": "/maps/1", "kind": "served"}, f"{PREFIX}/maps/1"),
        ({"target": "https://example.org/", "status": "withdrawn"}, "https://example.org/"),
    ],
)
def test_the_target_is_a_url(fields: dict[str, object], target: str) -> None:
    assert elements.describe_identifier(PublicAnswer(binding(**fields), None), PREFIX)["_target"] == target


def test_a_document_without_a_name_of_ezid_is_left_out() -> None:
    found = elements.describe_identifier(
        PublicAnswer(binding(kind="described", metadata={"schema": "{}", "who": "Noah"}), None), PREFIX
    )
    assert "schema" not in found
    assert found["erc.who"] == "Noah"


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        (None, {}),
        ("jane", {"_owner": "jane"}),
        ("jane (library)", {"_owner": "jane", "_ownergroup": "library"}),
        ("jane (", {"_owner": "jane ("}),
    ],
)
def test_the_owner_of_a_dump_has_a_group(owner: str | None, expected: dict[str, str]) -> None:
    found = elements.describe_identifier(PublicAnswer(binding(kind="described"), None), PREFIX, owner)
    assert {name: value for name, value in found.items() if name.startswith("_owner")} == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (f"{PREFIX}/ark:/12345/x5?info", None),
        (f"{PREFIX}/ark:12345/x-5", None),
        (f"{PREFIX}/ark:/12345/x5/a", f"{PREFIX}/ark:/12345/x5/a"),
        (f"{PREFIX}/maps", f"{PREFIX}/maps"),
        (f"{PREFIX}.evil.example/ark:/12345/x5", f"{PREFIX}.evil.example/ark:/12345/x5"),
        ("", None),
    ],
)
def test_the_own_page_is_no_target(target: str, expected: str | None) -> None:
    fields = elements.read_statement({"_target": target}).fields(KEY, PREFIX)
    assert (fields.target, fields.kind) == (expected, None if expected else "described")


def test_a_request_without_a_target_states_none() -> None:
    fields = elements.read_statement({}).fields(KEY, PREFIX)
    assert (fields.target, fields.kind, fields.status, fields.metadata) == (None, None, None, {})


def test_a_block_and_the_same_element_keep_all_values() -> None:
    found = elements.read_statement(
        {"erc": "who: Ng, T\nWho: Diaz, M\nwhat: Ferns", "erc.who": "Roy, A", "erc.when": "1999"}
    )
    assert {name: value for name, value in found.metadata.items() if value} == {
        "erc.who": "Ng, T; Diaz, M; Roy, A",
        "erc.what": "Ferns",
        "erc.when": "1999",
    }


def test_the_identifier_replaces_the_placeholder() -> None:
    statement = elements.read_statement({"_target": "https://e.org/${identifier}"})
    assert statement.fields(KEY, PREFIX).target == "https://e.org/ark:/12345/x5"
    own = elements.read_statement({"_target": PREFIX + "/${identifier}"})
    assert own.fields(KEY, PREFIX).kind == "described"


@pytest.mark.parametrize("status", ["", "Public", "gone", "reserved | why", "public |x", "| x"])
def test_an_unknown_status_is_refused(status: str) -> None:
    with pytest.raises(Failed, match="is not a status; expected public, reserved or unavailable"):
        elements.read_statement({"_status": status})


def test_a_reason_can_have_any_text_on_one_line() -> None:
    statement = elements.read_statement({"_status": "unavailable|court\norder | 17"})
    assert (statement.state, statement.reason) == ("withdrawn", "court order | 17")


DATACITE = """<?xml version="1.0"?>
<resource xmlns="http://datacite.org/schema/kernel-4">
  <creators><creator><creatorName>Noah</creatorName></creator><creator><creatorName>Sem</creatorName></creator></creators>
  <titles><title xml:lang="en">The
    <i>Ark</i></title></titles>
  <publisher>Ark &amp; Sons</publisher>
  <publicationYear>2026</publicationYear>
  <resourceType resourceTypeGeneral="Image">Drawing</resourceType>
  <contributors><contributor><contributorName>Ham</contributorName></contributor></contributors>
</resource>"""


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(
            {"erc.who": "A", "erc.what": "B", "erc.when": "C", "dc.publisher": "D"},
            {"_mappedCreator": "A", "_mappedTitle": "B", "_mappedDate": "C"},
            id="erc",
        ),
        pytest.param(
            {"_profile": "dc", **{f"dc.{name}": name for name in ("creator", "title", "publisher", "date", "type")}},
            {
                "_mappedCreator": "creator",
                "_mappedTitle": "title",
                "_mappedPublisher": "publisher",
                "_mappedDate": "date",
                "_mappedType": "type",
            },
            id="dc",
        ),
        pytest.param(
            {"_profile": "datacite", "datacite.creator": "A", "datacite.publicationyear": "2026"},
            {"_mappedCreator": "A", "_mappedDate": "2026"},
            id="elements of datacite",
        ),
        pytest.param(
            {"_profile": "datacite", "datacite": DATACITE},
            {
                "_mappedCreator": "Noah; Sem",
                "_mappedTitle": "The Ark",
                "_mappedPublisher": "Ark & Sons",
                "_mappedDate": "2026",
                "_mappedType": "Image/Drawing",
            },
            id="a document",
        ),
        pytest.param(
            {"_profile": "datacite", "datacite": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}, {}, id="entities"
        ),
        pytest.param({"_profile": "mine", "erc.who": "A"}, {}, id="another profile"),
    ],
)
def test_the_profile_decides_which_elements_are_the_citation(
    elements: dict[str, str], expected: dict[str, str]
) -> None:
    assert mapped_citation(elements) == expected


def test_an_element_replaces_the_part_of_a_document() -> None:
    found = mapped_citation({"_profile": "datacite", "datacite": DATACITE, "datacite.title": "Mine"})
    assert (found["_mappedTitle"], found["_mappedPublisher"]) == ("Mine", "Ark & Sons")
