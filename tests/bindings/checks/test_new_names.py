"""Test the warnings about probable mistakes before a name becomes permanent."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ararat.bindings.checks.name_findings import check
from ararat.bindings.checks.new_names import ComparedName, successor_warnings, warnings_before
from ararat.bindings.collection import Bindings
from ararat.bindings.minting import mint
from ararat.identifiers.ark.check_character import check_character
from ararat.identifiers.ark.grammar import BETANUMERIC
from ararat.middleware import import_table


def codes(bindings: Bindings, key: str, target: str | None = None, resource: str | None = None) -> list[str]:
    return [found.code for found in warnings_before(bindings, [ComparedName(key, target, resource)])[0]]


def exchanged(name: str) -> str:
    """Return a minted name with two neighbouring characters exchanged, so that its check character is wrong."""
    for place in range(len("ark:12345/k1"), len(name) - 1):
        found = f"{name[:place]}{name[place + 1]}{name[place]}{name[place + 2 :]}"
        if found != name and check_character(found[4:-1]) != found[-1]:
            return found
    raise AssertionError(name)


def test_a_wrong_check_character_is_a_warning_if_the_right_name_is_recorded(bindings: Bindings) -> None:
    bindings.prefixes.set("ark:12345/k1", pattern="29^7+check")
    (minted,) = mint(bindings, "12345/k1", length=7, check="noid")
    mistyped = exchanged(minted)
    (found,) = warnings_before(bindings, [ComparedName(mistyped, None, None)])[0]
    assert (found.code, minted in found.message) == ("check-character", True)
    rows = f"identifier,target\n{mistyped},https://example.org/1\n".encode()
    summary = import_table(bindings, io.BytesIO(rows), dry_run=True)
    assert [line.code for line in summary.warned] == ["check-character"]
    # A name of another pattern is right.
    assert codes(bindings, "ark:12345/k1museum") == []


@pytest.mark.parametrize(
    ("prefix", "pattern", "typed", "expected"),
    [
        pytest.param("ark:12345/k1", "29^4+check", "ark:12345/k1bcdf9", True, id="a pattern with +check"),
        pytest.param("ark:12345/k1", "29^4", "ark:12345/k1bcdf9", False, id="a pattern without"),
        pytest.param(
            "urn:nbn:de:gbv:089-", "10^9+nbn", "urn:nbn:de:gbv:089-0000000008", True, id="a pattern with +nbn"
        ),
        pytest.param("urn:nbn:de:gbv:089-", "10^9+nbn", "urn:nbn:de:gbv:089-0000000009", False, id="its right digit"),
        pytest.param(None, None, "urn:nbn:de:gbv:46:1-162418", True, id="the rule of Germany"),
        pytest.param(None, None, "urn:nbn:ch:bel-162413", True, id="and of Switzerland"),
        pytest.param(None, None, "urn:nbn:de:gbv:46:1-162417", False, id="a right digit"),
        pytest.param(None, None, "urn:nbn:fi:lb-162418", False, id="a country without the rule"),
        pytest.param(None, None, "urn:nbn:de:gbv:46:1-map", False, id="a letter at the end"),
    ],
)
def test_a_wrong_check_character_is_a_warning_at_each_door(
    bindings: Bindings, prefix: str | None, pattern: str | None, typed: str, expected: bool
) -> None:
    if prefix is not None:
        bindings.prefixes.set(prefix, pattern=pattern)
    assert ("check-character" in codes(bindings, typed)) == expected
    rows = f"identifier,target\n{typed},https://example.org/1\n".encode()
    summary = import_table(bindings, io.BytesIO(rows))
    assert ("check-character" in [line.code for line in summary.warned]) == expected
    assert ((typed, "check-character") in [(each.identifier, each.code) for each in check(bindings)]) == expected


def test_a_naan_or_shoulder_without_a_record_is_a_warning_if_there_are_records(bindings: Bindings) -> None:
    assert codes(bindings, "ark:12354/k1abc") == []
    bindings.prefixes.set("ark:12345/k1", what="Maps")
    assert codes(bindings, "ark:12354/k1abc") == ["naan-unrecorded"]
    assert codes(bindings, "ark:12345/q9abc") == ["shoulder-unrecorded"]
    assert codes(bindings, "ark:12345/k1abc") == codes(bindings, "urn:example:a") == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param(
            "urn:isan:0000-0000-9e59", "URN namespace isan here: check that it is the right one", id="registered"
        ),
        pytest.param(
            "urn:isann:0000-0000-9e59", "URN namespace isann here: check it for typing errors", id="not registered"
        ),
        pytest.param("ark:12148/x1", "NAAN 12148 here: check that it is the right one", id="a registered NAAN"),
        pytest.param("ark:12355/x1", "NAAN 12355 here: check it for typing errors", id="another NAAN"),
    ],
)
def test_a_missing_record_is_missing_here(bindings: Bindings, name: str, words: str) -> None:
    for prefix in ("ark:12345/k1", "urn:example:a"):
        bindings.prefixes.set(prefix, what="Maps")
    (found,) = warnings_before(bindings, [ComparedName(name, None, None)])[0]
    assert words in found.message


@pytest.mark.parametrize(
    ("recorded", "typed", "unknown"),
    [
        pytest.param("urn:meta:Abc-D", "urn:meta:aBc-d", True, id="a namespace whose rule is not known"),
        pytest.param("urn:urn-5:ABC", "urn:urn-5:abc", True, id="an informal one"),
        pytest.param("urn:example:A", "urn:example:a", False, id="a case-sensitive one"),
        pytest.param("urn:smpte:x:A", "urn:smpte:x:a", False, id="another part"),
        pytest.param("urn:foo:A", "urn:foo:a", False, id="not registered"),
    ],
)
def test_urns_that_differ_in_case_only_are_a_warning(
    bindings: Bindings, recorded: str, typed: str, unknown: bool
) -> None:
    bindings.bind(recorded, "https://example.org/1")
    (found,) = warnings_before(bindings, [ComparedName(typed, "https://example.org/2", None)])[0]
    assert found.code == "name-case"
    assert recorded in found.message
    assert ("is not known to Ararat" in found.message) is unknown
    assert codes(bindings, recorded) == []
    summary = import_table(bindings, io.BytesIO(f"identifier,target\n{typed},https://example.org/2\n".encode()))
    assert [line.code for line in summary.warned] == ["name-case"]


def test_two_rows_that_differ_in_case_only_are_warned(bindings: Bindings) -> None:
    rows = "identifier,target\nurn:meta:A,https://example.org/1\nurn:meta:a,https://example.org/2\n"
    for dry_run in (True, False):
        summary = import_table(bindings, io.BytesIO(rows.encode()), dry_run=dry_run)
        assert "name-case" in [line.code for line in summary.warned]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("typed", "is_similar"),
    [
        pytest.param("ark:12345/maps7b", True, id="two exchanged"),
        pytest.param("ark:12345/masb7p/p1", False, id="another name"),
        pytest.param("ark:12345/mapb7", True, id="one missing"),
        pytest.param("ark:12345/maapsb7", True, id="one twice"),
        pytest.param("ark:12345/mapzb7", True, id="another letter"),
        pytest.param("ark:12345/mapsb8", False, id="another number"),
    ],
)
def test_one_typing_error_from_a_recorded_name_is_a_warning(bindings: Bindings, typed: str, is_similar: bool) -> None:
    bindings.reserve("ark:12345/mapsb7")
    assert codes(bindings, typed) == (["name-similar"] if is_similar else [])


_NAANS = count(10000)
_CHARS = "".join(dict.fromkeys(f"{BETANUMERIC}abcdefghijklmnopqrstuvwxyz"))
_NAMES = st.text(alphabet="aabB019z", min_size=3, max_size=7).flatmap(
    lambda name: st.sampled_from([name, f"{name}/p1", f"{name}.v2", f"{name}-a"])
)


def every_typing_error(name: str) -> Iterator[str]:
    """Yield each name that differs from one by one typing error, in the order in which they are preferred."""
    for place in range(len(name) - 1):
        pair = name[place : place + 2]
        if pair[0] != pair[1] and any(map(str.isalpha, pair)):
            yield f"{name[:place]}{pair[::-1]}{name[place + 2 :]}"
    for place, char in enumerate(name):
        if not char.isdigit():
            yield f"{name[:place]}{name[place + 1 :]}"
        for other in _CHARS:
            if other != char and not (other.isdigit() and char.isdigit()):
                yield f"{name[:place]}{other}{name[place + 1 :]}"
            if not other.isdigit():
                yield f"{name[:place]}{other}{name[place:]}"


def similar_of(typed: str, recorded: Sequence[str]) -> str | None:
    """Return the recorded name that a new one is a typing error of, from all names that it could be."""
    component = typed.partition("/")[0].partition(".")[0]
    if not (component.isalnum() and len(component) >= 4):
        return None
    end = typed[len(component) :]
    return next((each for other in every_typing_error(component) if (each := f"{other}{end}") in recorded), None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(known=st.lists(_NAMES, max_size=12), typed=st.lists(_NAMES, min_size=1, max_size=3, unique=True))
@example(known=["mapsb7"], typed=["mapb7"])
@example(known=["mapsb7"], typed=["mapssb7"])
@example(known=["mapsb"], typed=["mapsbb"])
@example(known=["mapsbb"], typed=["mapsb"])
@example(known=["mapsb"], typed=["mapsbq"])
@example(known=["aaab/p1"], typed=["aab/p1"])
@example(known=["x1000", "x1001", "x1002"], typed=["x10o1"])
@example(known=["xmaps", "ymaps"], typed=["maps"])
@example(known=[], typed=["maps", "mapz"])
def test_the_index_finds_the_similar_names_that_a_lookup_of_all_finds(
    bindings: Bindings, known: list[str], typed: list[str]
) -> None:
    beginning = f"ark:{next(_NAANS)}/"  # the examples share a database
    for name in known:
        bindings.reserve(f"{beginning}{name}")
    names = [f"{beginning}{name}" for name in typed]
    found = warnings_before(bindings, [ComparedName(name, None, None) for name in names])
    for name, warnings in zip(typed, found, strict=True):
        wanted = similar_of(name, [*known, *(each for each in typed if each != name)])
        said = [each.message for each in warnings if each.code == "name-similar"]
        assert [each.split()[-1] for each in said] == ([f"{beginning}{wanted}"] if wanted else [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    letters=st.lists(st.text(alphabet="aabB", min_size=1, max_size=4), min_size=1, max_size=3),
    known=st.lists(st.text(alphabet="aabB019", min_size=4, max_size=7), max_size=6),
    number=st.integers(min_value=0, max_value=9999),
)
@example(letters=["x"], known=["1x01"], number=101)
@example(letters=["ab"], known=["ba105"], number=105)
@example(letters=["ab"], known=["a1b05"], number=105)
@example(letters=["ab", "ba"], known=[], number=1000)
@example(letters=["xm"], known=["xm17"], number=1)
def test_numbered_names_are_warned_of_exchanged_neighbours_as_others(
    bindings: Bindings, letters: list[str], known: list[str], number: int
) -> None:
    beginning = f"ark:{next(_NAANS)}/"
    for name in known:
        bindings.reserve(f"{beginning}{name}")
    typed = [f"{begin}{number + more}" for begin in dict.fromkeys(letters) for more in range(25)]
    found = warnings_before(bindings, [ComparedName(f"{beginning}{name}", None, None) for name in typed])
    for name, warnings in zip(typed, found, strict=True):
        others = {*known, *typed} - {name}
        pairs = ((name[:place], name[place : place + 2], name[place + 2 :]) for place in range(len(name) - 1))
        exchanged = [f"{first}{pair[::-1]}{last}" for first, pair, last in pairs if not pair.isdigit()]
        said = [each.message.split()[-1] for each in warnings if each.code == "name-similar"]
        wanted = [each for each in exchanged if each in others and len(name) >= 4]
        assert said == [f"{beginning}{each}" for each in wanted[:1]]


def test_a_minted_name_is_compared_with_no_similar_name(bindings: Bindings) -> None:
    bindings.reserve("ark:12345/mapsb7")
    for is_typed in (True, False):
        new = ComparedName("ark:12345/mapzb7", None, None, is_typed=is_typed)
        assert bool(warnings_before(bindings, [new])[0]) is is_typed


def test_a_shared_resource_or_target_is_a_warning(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x1", "https://example.org/1", resource="INV 1")
    assert codes(bindings, "ark:12345/y2", "https://example.org/1", "INV 1") == ["resource-shared", "target-shared"]
    assert codes(bindings, "ark:12345/x1", "https://example.org/1", "INV 1") == []
    assert codes(bindings, "", "https://example.org/2", "INV 2") == []
    two = warnings_before(
        bindings, [ComparedName(f"ark:12345/z{number}", None, "Slg. Wei\u00df 1") for number in (1, 2)]
    )
    assert [[found.code for found in each] for each in two] == [["resource-shared"], ["resource-shared"]]


def test_an_import_warns_of_rows_with_one_resource_and_of_targets(bindings: Bindings) -> None:
    rows = (
        "identifier,target,resource\n"
        "ark:12345/x1,https://example.org/1?a&amp;b,INV 1\n"
        "ark:12345/x2,http://localhost/,INV 1\n"
    )
    summary = import_table(bindings, io.BytesIO(rows.encode()))
    assert sorted((line.line, line.code) for line in summary.warned) == [
        (2, "resource-shared"),
        (2, "target-entity"),
        (3, "resource-shared"),
        (3, "target-local"),
    ]
    moved = rows.replace("/1?a&amp;b", "/1?a&lt;b").replace("http://localhost", "http://127.0.0.1")
    again = import_table(bindings, io.BytesIO(moved.encode()))
    assert sorted((line.line, line.code) for line in again.warned) == [(2, "target-entity"), (3, "target-local")]


def test_a_successor_that_is_unknown_or_leads_back_is_a_warning(bindings: Bindings) -> None:
    for name in ("a", "b", "c"):
        bindings.bind(f"ark:12345/{name}", f"/{name}")
    found = successor_warnings(bindings, "ark:12345/a", "ark:12345/nope")
    assert [each.code for each in found] == ["successor-unknown"]
    assert successor_warnings(bindings, "ark:12345/a", "ark:67890/elsewhere") == []
    assert successor_warnings(bindings, "ark:12345/a", "https://example.org/") == []
    bindings.withdraw("ark:12345/a", successor="ark:12345/b")
    assert successor_warnings(bindings, "ark:12345/a", "ark:12345/b") == []
    bindings.withdraw("ark:12345/b", successor="ark:12345/c")
    found = successor_warnings(bindings, "ark:12345/c", "ark:12345/a")
    assert [each.code for each in found] == ["successor-circle"]


def test_an_import_warns_of_the_successors_of_its_lines_at_its_end(bindings: Bindings) -> None:
    table = (
        "identifier,target,status,successor\nark:12345/a,,withdrawn,ark:12345/later\nark:12345/later,/1,,\n"
        "ark:12345/b,,withdrawn,ark:12345/typo\nark:12345/c,,withdrawn,ark:12345/d\nark:12345/d,,withdrawn,ark:12345/c\n"
        "ark:12345/e,,withdrawn,https://example.org/\n"
    )
    expected = [(4, "successor-unknown"), (5, "successor-circle"), (6, "successor-circle")]
    for dry_run in (True, False):
        summary = import_table(bindings, io.BytesIO(table.encode()), dry_run=dry_run)
        assert sorted((line.line, line.code) for line in summary.warned) == expected
    again = import_table(bindings, io.BytesIO(table.encode()))
    assert (again.unchanged, again.warnings) == (6, 0)
