"""The rows that are converted at once, compared with the general conversion of a row."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.imports.plain_rows import PlainRows
from ararat.bindings.names.assignment import bind
from ararat.bindings.names.errors import BindingError
from ararat.bindings.storage.rows import SEARCH, binding_of, row_of, search_of
from ararat.bindings.tables import columns
from ararat.bindings.tables.columns import Row

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 28, 12, 30, tzinfo=UTC)


def require_equal(*several: dict[str, str]) -> list[bool]:
    """Compare the two conversions of the rows of a block. Return whether each is converted at once."""
    rows = PlainRows(NOW)
    names = rows.read([Row(line, cells) for line, cells in enumerate(several, 2)])
    new = rows.new(names, [f"line {row.line}" for row in names.rows])
    for number, (place, row) in enumerate(zip(names.places, names.rows, strict=True)):
        change = names.change(number)
        general = bind(None, columns.fields(several[place]), NOW)
        assert row.cells is several[place]
        assert change == general
        assert change.after.__dict__ == general.after.__dict__
        assert new.row(number) == row_of(general.after)
        searched = tuple(new.columns[name][number] if name in new.columns else None for name in SEARCH)
        assert searched == search_of(general.after)
    counted = Counter(json.dumps([*names.metadata(number)]) for number in range(len(names)) if names.metadata(number))
    assert {json.dumps(json.loads(text)): number for text, number in new.elements.items()} == counted
    return [place in names.places for place in range(len(several))]


@pytest.mark.parametrize(
    ("cells", "is_plain"),
    [
        pytest.param({"target": "https://example.org/1"}, True, id="a target"),
        pytest.param({"target": "HTTPS://EXAMPLE.org/Köln?a#b"}, True, id="a target in another form"),
        pytest.param({"target": "/objects/1"}, True, id="a path"),
        pytest.param({"target": "/1", "identifier": "ark:/12345/x-5/p.b.a"}, True, id="a spelling"),
        pytest.param({"target": "/1", "resource": "INV 7", "who": "Müller", "when": ""}, True, id="values"),
        pytest.param({"target": "/1", "policy": "p", "what": " ", "who": "w"}, True, id="the order of the elements"),
        pytest.param({"target": "/1", "status": "", "redirect": ""}, True, id="empty columns"),
        pytest.param({"target": "/1", "resource": " "}, False, id="white space"),
        pytest.param({"target": "/1", "what": "a\nb"}, False, id="a line break"),
        pytest.param({"target": "/1", "what": "a\u200bb"}, False, id="a hidden character"),
        pytest.param({"target": "/1", "what": "a" * 3000}, False, id="a long text"),
        pytest.param({"target": "/1", "redirect": "307"}, False, id="a redirect status"),
        pytest.param({"target": "/1", "kind": "rule"}, False, id="a rule"),
        pytest.param({"target": "/1", "dc.title": "T"}, False, id="a further element"),
        pytest.param({"target": "/ark:12345/x5"}, False, id="its own path"),
        pytest.param({"target": "ftp://example.org/"}, False, id="a wrong target"),
        pytest.param({"target": ""}, False, id="no target"),
        pytest.param({"target": "/1", "identifier": "ark:99999/x5"}, False, id="a test"),
        pytest.param({"target": "/1", "identifier": "ARK:12345/x5"}, False, id="an upper case label"),
        pytest.param({"target": "/1", "identifier": "urn:isbn:9780451450524"}, False, id="a URN"),
        pytest.param({"target": "/1", "identifier": "ark:12345/x?info"}, False, id="an inflection"),
    ],
)
def test_a_row_of_the_usual_columns_is_converted_at_once(cells: dict[str, str], is_plain: bool) -> None:
    assert require_equal({"identifier": "ark:12345/x5", **cells}) == [is_plain]


texts = st.one_of(st.sampled_from(["", " ", "INV 7", "Köln", "a\tb", "\xa0", "(:unkn)"]), st.text(max_size=8))
rows_of_cells = st.fixed_dictionaries(
    {
        "identifier": st.one_of(
            st.from_regex(r"\A(?:ark:/?)[0-9b-z]{1,5}/[a-z0-9./%-]{1,9}\Z"), st.sampled_from(["ark:12345/x", "x", ""])
        ),
        "target": st.one_of(
            st.from_regex(r"\A(?:https?://[a-zA-Z.]{1,9}|)/[ -~]{0,9}\Z"), st.sampled_from(["", "/", "/x", "//y"])
        ),
    },
    optional=dict.fromkeys(("resource", "who", "what", "when", "erc.what", "reason", "test"), texts),
)


@given(st.lists(rows_of_cells, max_size=4))
def test_each_row_that_is_converted_at_once_is_as_in_general(several: list[dict[str, str]]) -> None:
    usual = {"identifier": "ark:12345/x5", "target": "https://example.org/1"}
    try:
        require_equal(*several)
        require_equal(usual, *({**usual, **cells} for cells in several), usual)
    except BindingError as error:
        raise AssertionError("a row is refused in general") from error


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize(
    "other", ["", "ark:12345/gone,,,withdrawn", "ark:12345/x7b,https://example.org/7b,Seven,reserved"]
)
@pytest.mark.parametrize("recorded", ["nothing", "characters", "a deleted name"])
def test_an_import_writes_the_same_without_it(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, atomic: bool, other: str, recorded: str
) -> None:
    monkeypatch.setattr(bindings, "now", lambda: NOW)
    if recorded == "characters":
        bindings.prefixes.set("ark:12345/", characters="bcdefghjkmnpqxygo0123456789")
    elif recorded == "a deleted name":
        for prefix in "pq":
            bindings.reserve(f"ark:12345/{prefix}x5")
            bindings.delete(f"ark:12345/{prefix}x5")
    lines = [f"ark:12345/x{number},https://example.org/{number},Map {number}," for number in range(120)]
    lines.insert(60, other)
    # A name of an earlier line, and one with another spelling, in later blocks.
    lines += [lines[3], "ark:/12345/x-4,https://example.org/4,Map 4,", "ark:12345/y,https://example.org/y,Map \u200bb,"]

    def imported(prefix: str) -> list[object]:
        text = "\n".join(["identifier,target,what,status", *lines]).replace("12345/", f"12345/{prefix}")
        text = text.replace("example.org", f"{prefix}.example").replace(",Map ", f",Map {prefix}")
        summary = import_table(bindings, BytesIO(f"{text}\n".encode()), atomic=atomic, actor="jane")
        assert summary.written
        with bindings.store.snapshot() as snapshot:
            names = [each for each in snapshot.bindings() if each.identifier.startswith(f"ark:12345/{prefix}")]
        events = [event.as_dict() for each in names for event in bindings.history(each.identifier)]
        found = repr([summary.added, summary.withdrawn, summary.unchanged, summary.warned, names, events])
        found = (
            found.replace(f"12345/{prefix}", "12345/")
            .replace(f"{prefix}.example", "example")
            .replace(f"Map {prefix}", "Map")
        )
        return [found.replace(f"'operation': {summary.operation}", "")]

    with_it = imported("p")
    read = PlainRows.read
    monkeypatch.setattr(PlainRows, "read", lambda self, rows: read(self, []))
    assert imported("q") == with_it


NOTED = (
    "ark:12345/x1b,https://example.org/1,,Seven,,",  # the target and the title of an earlier row
    "ark:12345/q1,https://example.org/q;jsessionid=ABC123DEF456,,Q,,",
    "ark:12345/q2,http://localhost/q2,INV 7,Grüße,,",
    "ark:12345/q3,https://example.org/q3,INV 7,GroÃŸe,,",
    "ark:12345/q4.pdf,https://example.org/q4,,jane@example.org,,",
    "ark:12345/abcd,https://example.org/abcd,,A,banana,",
    "ark:12345/abdc,https://example.org/abdc,,,,reserved",
    "ark:12345/acbd,https://example.org/q3,,grusse,,",
    "ark:12345/x3,https://example.org/other,,,,",  # another target for an earlier name
    "ark:12345/x4,https://example.org/4,,Map 4,,",
    "ark:12345/w1,,,,,withdrawn",
    "ark:12345/bad,ftp://example.org/,,,,",
    "ark:12345/known,https://example.org/known,,,,",
    "ark:12345/q5,https://example.org/known,,(:unkn),,",
)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("record", ["", "ark:12345/x"])
def test_the_same_is_noted_in_the_same_order_without_it(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, atomic: bool, record: str
) -> None:
    monkeypatch.setattr(bindings, "now", lambda: NOW)
    bindings.bind("ark:12345/known", "https://example.org/known")
    bindings.bind("ark:12345/bacd", "https://example.org/9")
    if record:
        bindings.prefixes.set(record, who="A museum")
    lines = [f"ark:12345/x{number},https://example.org/{number},,Map {number},," for number in range(150)]
    lines[7] = "ark:12345/x7,https://example.org/7,,Seven,,"
    for number, line in enumerate(NOTED):
        lines.insert(20 + 9 * number, line)
    table = "\n".join(["identifier,target,resource,what,availability,status", *lines, ""]).encode()

    def noted() -> tuple[object, ...]:
        reported: list[object] = []
        summary = import_table(
            bindings, BytesIO(table), atomic=atomic, dry_run=True, report=lambda *each: reported.append(each)
        )
        return reported, summary.warned, summary.refused, summary.listed, summary.added

    with_it = noted()
    codes = {noted[1].code for noted in with_it[0]}  # type: ignore[attr-defined]
    assert {"target-shared", "title-shared", "resource-shared", "name-similar", "text-misread"} <= codes
    assert {"personal-data", "target-local", "target-session", "persistence-term", "duplicate-line"} <= codes
    read = PlainRows.read
    monkeypatch.setattr(PlainRows, "read", lambda self, rows: read(self, []))
    assert noted() == with_it


def test_the_times_of_rows_are_set_again() -> None:
    rows = PlainRows(NOW)
    names = rows.read([Row(2, {"identifier": "ark:12345/x", "target": "/x"})])
    new = rows.new(names, ["line 2"]).dated_again(NOW, LATER)
    found = binding_of(new.row(0))
    assert (found.created, found.changed, found.recorded_at) == (LATER, LATER, LATER)
