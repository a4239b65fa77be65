"""The table of the identifiers in a text: counted, filtered, sorted, grouped, and as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from ararat.middleware import open_bindings
from ararat.tracing.links.model import State, TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp.report.card import card
from ararat.webapp.report.inspection import inspect
from ararat.webapp.report.table import ORDERS, SHOWN, as_csv, listing

COLUMN = "ark:/12345/b-1\nark:12345/a\nhttps://n2t.net/ark:12345/b1\nark:99999/c\nark:12345/a\nurn:isbn:0451450523\nark:12345"


def table(text, bindings=None):
    return listing(inspect(text, bindings=bindings))


def numbers(text, show="all", order="text"):
    return [row.number for row, among in table(text).arrange(show, order) if among]


def test_rows_with_brief_reports_have_the_same_results():
    text = f"{COLUMN}\nark:12345/\u05d0.\u202e?info\nark:12345/-\nhttps://n2t.net/x-ark:/1/a.b.a"

    def results(found):
        return [
            (row.status, row.verdict.headline, row.alike, row.first, row.rank, row.bound) for row in listing(found).rows
        ]

    assert results(inspect(text, detailed=1)) == results(inspect(text))
    assert inspect(text, detailed=1).findings[0] == inspect(text).findings[0]


def test_equivalents_refer_to_the_first_and_duplicates_are_marked():
    rows = table(COLUMN).rows
    assert [(row.number, row.alike, row.first, row.repeated) for row in rows] == [
        (1, 2, None, False),
        (2, 2, None, False),
        (3, 2, 1, False),
        (4, 1, None, False),
        (5, 2, 2, True),
        (6, 1, None, False),
        (7, 1, None, False),
    ]
    assert (table(COLUMN).groups, table(COLUMN).repeated) == (2, 1)


def test_each_filter_has_a_count():
    counts = table(COLUMN).counts
    assert dict(counts) == {"all": 7, "good": 5, "warn": 1, "bad": 1, "same": 4}
    for show in SHOWN:
        assert len(numbers(COLUMN, show)) == counts[show]


@pytest.mark.parametrize(
    ("show", "order", "expected"),
    [
        pytest.param("all", "text", [1, 2, 3, 4, 5, 6, 7], id="as in the text"),
        pytest.param("all", "verdict", [7, 4, 1, 2, 3, 5, 6], id="the most severe first"),
        pytest.param("all", "name", [2, 5, 1, 3, 4, 6, 7], id="equivalents side by side"),
        pytest.param("same", "name", [2, 5, 1, 3], id="what has an equivalent"),
        pytest.param("warn", "text", [4], id="warnings"),
        pytest.param("nonsense", "nonsense", [1, 2, 3, 4, 5, 6, 7], id="what is not known changes nothing"),
    ],
)
def test_rows_are_filtered_and_sorted(show, order, expected):
    assert numbers(COLUMN, show, order) == expected


def test_only_the_identifier_itself_has_a_binding(bound):
    rows = table(
        "ark:12345/x ark:12345/x/y ark:12345/z", bound({"ark:12345/x": "located", "ark:12345/z": "withdrawn"})
    ).rows
    assert [row.bound for row in rows] == ["located", "", "withdrawn"]
    assert [row.bound for row in table("ark:12345/x urn:foo:a").rows] == [None, None]


def test_the_file_has_a_header_and_a_line_for_each():
    records = list(csv.DictReader(io.StringIO(as_csv(table(COLUMN).rows), newline="")))
    assert [record["number"] for record in records] == ["1", "2", "3", "4", "5", "6", "7"]
    assert records[2] == {
        "number": "3",
        "start": "28",
        "end": "55",
        "identifier": "https://n2t.net/ark:12345/b1",
        "valid": "yes",
        "conformance": "strict",
        "normal_form": "ark:12345/b1",
        "equivalent_to": "1",
        "repeated": "no",
        "bound_here": "",
        "problems": "",
        "suggestion": "",
        "verdict": "A valid ARK for examples",
    }


@pytest.mark.parametrize("formula", ["=1+2", "+cmd|'/C'!A0", "-2", "@sum(A1)"])
def test_no_cell_of_the_csv_is_a_formula(formula):
    [record] = csv.DictReader(io.StringIO(as_csv(table(formula).rows), newline=""))
    assert record["identifier"].startswith(f"'{formula[0]}")


@pytest.mark.naughty
def test_the_csv_is_printable_ascii(naughty):
    rows = table(naughty.input[:20_000]).rows
    for record in csv.reader(io.StringIO(as_csv(rows), newline="")):
        assert len(record) == 13
        assert all(cell.isascii() and (cell.isprintable() or not cell) for cell in record)
        assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in record)


def test_every_order_keeps_every_row():
    for order in ORDERS:
        assert sorted(numbers(COLUMN, "all", order)) == [1, 2, 3, 4, 5, 6, 7]


def test_names_outside_the_specification_are_no_duplicates_of_their_beginning():
    names = [
        "https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ",
        "https://www.familysearch.org/ark:/61903/1:1:6XKG-DP65",
    ]
    found = listing(inspect(f"Mother {names[0]}, father {names[1]}"))
    assert (found.groups, found.repeated, found.counts["warn"]) == (0, 0, 2)
    records = list(csv.DictReader(as_csv(found.rows).splitlines()))
    assert [record["identifier"] for record in records] == names
    assert [(record["valid"], record["conformance"], record["normal_form"]) for record in records] == [
        ("no", "outside", "")
    ] * 2
    assert records[0]["suggestion"] == "https://www.familysearch.org/ark:/61903/1%3A1%3AMW98-MNJ"


@pytest.mark.parametrize(
    ("text", "link"),
    [
        pytest.param("https://gallica.bnf.fr/ark:/12148/btv1b8449691v", "gallica.bnf.fr", id="a pasted link"),
        pytest.param("ark:12148/btv1b8449691v", "n2t.net", id="an ARK"),
        pytest.param("https://www.familysearch.org/ark:/61903/1:1:M", "www.familysearch.org", id="outside the syntax"),
        pytest.param("urn:nbn:de:101:1-201102033592", "nbn-resolving.org", id="a URN"),
        pytest.param("https://m\u00fcnchen.example/ark:12345/x2", "m%C3%BCnchen.example", id="not ASCII"),
        pytest.param("urn:isbn:9783161484100", "none known", id="a URN without a resolver"),
        pytest.param("ark:12345", "", id="not valid"),
    ],
)
def test_the_link_of_an_identifier_of_another_site_is_the_start_of_its_trace(text, link):
    assert listing(inspect(f"{text}\nark:12345/x")).rows[0].link == link
    # The second report is brief.
    assert listing(inspect(f"ark:12345/x\n{text}", detailed=1)).rows[1].link == link
    # The page of one identifier has no column.
    assert table(text).rows[0].link == ""


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "link"),
    [
        pytest.param("x5a", "not traced", id="not traced"),
        pytest.param("x5b", "refused", id="refused"),
        pytest.param("x5c", "unclear", id="unclear"),
        pytest.param("x5d", "description", id="described"),
        pytest.param("x5d/f1", "none here", id="below a described name"),
        pytest.param("x5a/f1", "maps.example", id="a part"),
        pytest.param("x5s/f1", "this site", id="a part of a served name"),
        pytest.param("x5", "description", id="a prefix"),
    ],
)
def test_the_link_of_a_name_of_this_site(names, name, link):
    text = f"ark:12345/{name}\nark:12345/x5a"
    assert listing(inspect(text, bindings=names)).rows[0].link == link


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    with open_bindings(tmp_path_factory.mktemp("table") / "names.sqlite", create=True) as bindings:
        bindings.prefixes.set("ark:12345/x5", who="Museum")
        for letter in "abc":
            bindings.bind(f"ark:12345/x5{letter}", f"https://maps.example/{letter}", passthrough=True)
        bindings.bind("ark:12345/x5d", kind="described", metadata={"what": "A map"})
        bindings.bind("ark:12345/x5s", "/map/", kind="served", scope="subtree")
        states: list[tuple[str, State]] = [("b", "refused"), ("c", "unclear")]
        for letter, state in states:
            key, target = f"ark:12345/x5{letter}", f"https://maps.example/{letter}"
            traced = TracedTarget(
                identifier=key,
                key=key,
                target=target,
                state=state,
                status=403,
                url=target,
                code="declined",
                sentence="As traced.",
                since=bindings.now(),
                traced=bindings.now(),
            )
            Links(bindings).record([traced])
        yield bindings


def test_a_row_suggests_nothing_that_its_page_does_not_suggest():
    first, second = inspect("https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ\nSee ark:12345/x\u3002").findings
    assert (first.meant, card(first).outside) == (None, True)
    assert second.meant == "ark:12345/x"
