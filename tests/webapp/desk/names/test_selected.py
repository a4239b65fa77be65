"""Changes, exports and labels of the names that a user selected in the list."""

from __future__ import annotations

import csv
import functools
import io
import re
import time
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ararat.webapp.desk.names import labels, selected
from ararat.webapp.report import qr

NAMES = [f"ark:12345/x5{number}" for number in range(4)]
PICKED = NAMES[:2]


@pytest.fixture(scope="module", autouse=True)
def _drawn_once():
    """Draw each QR code once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qr, "draw_svg", functools.cache(qr.draw_svg))
        yield


@pytest.fixture(autouse=True)
def names(desk):
    for number, name in enumerate(NAMES):
        metadata = {"what": f"Map {number}", "who": "Noah"}
        desk.bindings.bind(name, f"https://old.example/{number}", metadata=metadata, resource=f"R{number}")
    desk.bindings.reserve("ark:12345/x5draft", metadata={"what": "Draft"})
    desk.bindings.bind("ark:12345/y1", "https://old.example/y", metadata={"what": "Map of others"})


def finished(browser, answer):
    """Wait for the job of an answer, and return the path and the text of its page."""
    assert answer.status_code == 303, answer.text
    path, deadline = answer.headers["Location"], time.monotonic() + 20
    assert path.startswith("/desk/many/"), path
    while 'hx-trigger="every 1s"' in (text := browser.get(path).text):
        assert time.monotonic() < deadline, text
        time.sleep(0.01)
    return path, " ".join(text.split())


def carried_out(browser, answer):
    path, text = finished(browser, answer)
    assert "button" in text
    return finished(browser, browser.post(path, {"skip": "1"}))[1]


@pytest.mark.parametrize(
    ("form", "changed"),
    [
        ({"do": "edit", "element": "erc.who", "value": "Ham"}, {"metadata"}),
        ({"do": "edit", "element": "erc.who", "value": ""}, {"metadata"}),
        ({"do": "move", "source": "old.example", "to": "https://new.example"}, {"target"}),
        ({"do": "withdraw", "reason": "Gone", "successor": "https://a.example/"}, {"status", "reason", "successor"}),
    ],
    ids=["edit", "empty", "move", "withdraw"],
)
@pytest.mark.parametrize("selection", [{"pick": PICKED}, {"all": "1", "q": "map", "prefix": "ark:12345/x5"}])
def test_selected_names_are_changed_as_one_operation(desk, jane, form, changed, selection):
    before = [desk.bindings.lookup(each) for each in NAMES]
    text = carried_out(jane, jane.post("/desk/names/change", {**form, **selection}))
    number = 2 if "pick" in selection else 4
    assert f"{number} names are changed" in text
    for old, name in zip(before[:number], NAMES, strict=False):
        new = desk.bindings.lookup(name)
        differing = ("target", "metadata", "status", "reason", "successor", "kind", "resource")
        assert {each for each in differing if getattr(old, each) != getattr(new, each)} == changed
    assert [desk.bindings.lookup(each) for each in NAMES[number:]] == before[number:]
    [operation] = desk.bindings.list_operations()
    assert operation.names == number


@pytest.mark.parametrize(("wanted", "after"), [("publish", "live"), ("delete", None)])
def test_reserved_names_are_published_or_deleted(desk, jane, wanted, after):
    text = carried_out(jane, jane.post("/desk/names/selected", {"do": wanted, "all": "1", "state": "reserved"}))
    assert "1 name is changed" in text
    found = desk.bindings.lookup("ark:12345/x5draft")
    assert (found and found.status) == after


def test_a_hold_of_many_ends_with_the_day_of_the_user_and_is_released(desk, jane):
    jane.post("/desk/account/preferences", {"time_zone": "America/Los_Angeles"})
    day = (desk.bindings.now() + timedelta(days=40)).date()
    asked = jane.post("/desk/names/selected", {"do": "hold", "pick": PICKED})
    form = jane.get(asked.headers["Location"]).text
    assert "Put on hold: 2 names" in form
    assert "America/Los_Angeles" in form
    values = {"do": "hold", "until": str(day), "reason": "A claim", "pick": PICKED}
    path, text = finished(jane, jane.post("/desk/names/change", values))
    assert "This changes 2 names" in text
    assert ".000000Z</dd>" not in text
    assert not desk.bindings.lookup(NAMES[0]).hold_until
    finished(jane, jane.post(path))
    end = datetime.combine(day + timedelta(days=1), datetime.min.time(), ZoneInfo("America/Los_Angeles"))
    held = [desk.bindings.lookup(each) for each in NAMES]
    assert [each.hold_until for each in held] == [end, end, None, None]
    assert {each.hold_reason for each in held[:2]} == {"A claim"}
    text = carried_out(jane, jane.post("/desk/names/selected", {"do": "release", "pick": NAMES[1:3]}))
    assert "1 name is changed" in text
    assert [bool(desk.bindings.lookup(each).hold_until) for each in NAMES] == [True, False, False, False]


def test_names_of_others_are_refused(desk, jane):
    _, text = finished(
        jane, jane.post("/desk/names/change", {"do": "edit", "element": "erc.who", "value": "X", "all": "1"})
    )
    assert "1 name cannot be changed" in text
    assert "ark:12345/y1" in text


def test_a_search_of_targets_changes_exactly_its_names(desk, ada):
    desk.bindings.bind("ark:12345/x5longer", "https://old.example.org/1")
    form = {
        "do": "move",
        "source": "https://old.ex",
        "to": "https://n.ex",
        "all": "1",
        "q": "old.example",
        "in": "targets",
    }
    _, text = finished(ada, ada.post("/desk/names/change", {**form, "source": "old.example.org", "to": "new.example"}))
    assert "This changes 1 name" in text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"do": "edit", "element": "erc.who", "value": "\x00"}, "value"),
        ({"do": "move", "source": "", "to": "https://new.example"}, "source"),
        ({"do": "move", "source": "old.example", "to": "nonsense://x y"}, "to"),
        ({"do": "move", "source": "old.example", "to": "old.example"}, "to"),
        ({"do": "withdraw", "successor": "INV 1901"}, "successor"),
        ({"do": "hold", "until": "soon", "reason": "a claim"}, "until"),
        ({"do": "hold", "until": "", "reason": "a claim"}, "until"),
        ({"do": "hold", "until": "2099-01-01", "reason": " "}, "reason"),
    ],
)
def test_wrong_value_is_said_at_its_field(jane, read_page, form, field):
    answer = jane.post("/desk/names/change", {**form, "pick": PICKED})
    assert answer.status_code == 422
    page = read_page(answer.text)
    wrong = [each.attributes["id"] for each in page.walk() if each.attributes.get("aria-invalid")]
    assert wrong == [field]
    assert [each.attributes["value"] for each in page.all("input", name="pick")] == PICKED


def test_page_of_a_change_has_the_titles_and_the_way_back(jane):
    answer = jane.post("/desk/names/selected", {"do": "withdraw", "pick": PICKED, "q": "map"})
    text = jane.get(answer.headers["Location"]).text
    assert "Map 0" in text
    assert "Withdraw: 2 names" in text
    assert "/desk/names?q=map" in text


@pytest.mark.one_setup
@pytest.mark.parametrize("wanted", ["edit", "publish", "export", "labels", "nonsense"])
def test_without_a_selection_the_list_says_so(jane, wanted):
    answer = jane.post("/desk/names/selected", {"do": wanted, "q": "map"})
    assert answer.headers["Location"] == "/desk/names?q=map"
    assert "Select at least one" in jane.get("/desk/names").text


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/desk/names/selected", "/desk/names/change"])
def test_reader_changes_nothing(rita, path):
    assert rita.post(path, {"do": "withdraw", "pick": PICKED}).status_code == 403
    assert "Withdraw</button>" not in rita.get("/desk/names").text


def test_export_has_the_selected_names_in_their_order(rita):
    answer = rita.post("/desk/names/selected", {"do": "export", "pick": PICKED[::-1]})
    rows = [*csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig")))]
    assert [each["identifier"] for each in rows] == PICKED[::-1]


def test_all_names_are_selected_without_scripts(jane, read_page):
    page = read_page(jane.get("/desk/names?q=map&all=1").text)
    assert "All 5 names are selected" in " ".join(page.one("div", "selection").text.split())
    assert {each.attributes["value"] for each in page.all("input", name="all")} == {"1"}


@pytest.mark.one_setup
@pytest.mark.parametrize(("paper", "size", "number"), [("a4", "small", 21), ("letter", "large", 6), ("x", "y", 21)])
def test_labels_have_code_title_name_and_key(desk, rita, read_page, paper, size, number):
    for each in range(20):
        desk.bindings.bind(f"ark:12345/x6{each:02}", "/1", metadata={"what": "\u062e\u0631\u064a\u0637\u0629"})
    answer = rita.get("/desk/labels", query_string={"all": "1", "prefix": "ark:12345/x", "paper": paper, "size": size})
    page = read_page(answer.text)
    sheets = page.all("ul", "label-sheet")
    labels = [len(each.all("li")) for each in sheets]
    assert sum(labels) == 25
    assert max(labels) == number
    first = sheets[0].all("li")[0]
    assert [part in first.text for part in ("Map 0", NAMES[0], "R0")] == [True, True, True]
    assert answer.text.count("<svg xmlns") == 25


def test_the_number_of_a_label_breaks_behind_a_sign_and_not_between_digits(desk, rita, read_page):
    desk.bindings.bind(NAMES[0], "https://example.org/0", numbers={"current": "A.1784/00011-b"}, resource="R0")
    page = read_page(rita.get(f"/desk/labels?pick={NAMES[0]}").text)
    key = page.one("p", "key")
    assert (key.text, len(key.all("wbr"))) == ("A.1784/00011-b", 4)
    assert [each.text for each in key.children if each.tag != "wbr"] == ["A.", "1784/", "00011-", "b"]


@pytest.mark.parametrize(("paper", "size"), [(each.paper, each.size) for each in labels.FORMATS])
def test_a_long_number_leaves_room_for_the_name_on_a_label(desk, rita, read_page, paper, size):
    number, title = "DE-1981 A-REP 250-01, Nr. 17/3, Bl. 12-14, Teil 2", "View of the harbour with boats, plate 17"
    desk.bindings.bind(NAMES[0], "https://old.example/0", numbers={"current": number}, metadata={"what": title})
    format = next(each for each in labels.FORMATS if (each.paper, each.size) == (paper, size))
    page = read_page(rita.get(f"/desk/labels?pick={NAMES[0]}&paper={paper}&size={size}").text)
    texts = [each.text for each in page.one("ul", "label-sheet").all("li")[0].all("p")]
    assert texts[-1] == NAMES[0]
    assert len(texts[0]) <= 3 * format.key
    assert len(texts[1:-1]) <= 1
    assert sum(map(len, texts[1:-1])) <= format.title // 2
    assert texts[0].startswith("DE-1981")
    assert texts[0].endswith(number[-5:])


def test_labels_without_names_are_not_printed(rita):
    assert "button print" not in rita.get("/desk/labels").text


def test_the_size_of_labels_is_in_the_language_of_the_page(rita):
    assert "63.5 \u00d7 38.1 mm" in rita.get("/desk/labels?all=1").text
    assert "63,5 \u00d7 38,1 mm" in rita.get("/desk/labels?all=1&lang=de").text


def test_labels_continue_on_further_pages(rita, read_page, monkeypatch):
    monkeypatch.setattr("ararat.webapp.desk.names.labels.MAX_LABELS", 4)
    page = read_page(rita.get("/desk/labels?all=1").text)
    following = read_page(rita.get(page.one("a", rel="next").attributes["href"]).text)
    assert "Labels 5 to 6" in following.text
    assert following.one("a", rel="prev")


def test_too_many_names_of_a_search_are_refused_with_the_reason(jane, monkeypatch):
    monkeypatch.setattr(selected, "MAX_LISTED_NAMES", 2)
    answer = jane.post("/desk/names/selected", {"do": "publish", "all": "1", "q": "old.example", "in": "targets"})
    assert "more than 2 names" in jane.get(answer.headers["Location"]).text


def test_a_label_has_the_number_first_and_the_name_breaks_after_a_slash(desk, rita, read_page):
    title = f"View of the harbour {'and the boats ' * 10}plate 17"
    desk.bindings.bind("ark:12345/x7long/plate17", "/1", resource="K 1940:19", metadata={"what": title})
    page = rita.get("/desk/labels?pick=ark:12345/x7long/plate17").text
    label = read_page(page).one("ul", "label-sheet").all("li")[0]
    number, shown, name = (each.text for each in label.all("p"))
    assert (number, name) == ("K 1940:19", "ark:12345/x7long/plate17")
    assert shown.startswith("View of the")
    assert "\u2026" in shown
    assert shown.endswith("plate 17")
    assert re.search("ark:12345/.*?<wbr>.*?x7long/.*?<wbr>.*?plate17", page)


@pytest.mark.parametrize(
    ("position", "empty"), [("1", 0), ("5", 4), ("21", 20), ("99", 20), ("0", 0), ("x", 0), ("", 0)]
)
def test_the_labels_begin_at_the_first_free_one_of_a_used_sheet(rita, read_page, position, empty):
    page = read_page(rita.get("/desk/labels", query_string={"all": "1", "position": position}).text)
    labels = [each for sheet in page.all("ul", "label-sheet") for each in sheet.all("li")]
    assert [bool(each.text.strip()) for each in labels] == [*[False] * empty, *[True] * (len(labels) - empty)]
    assert page.one("input", name="position").attributes["value"] == str(empty + 1)
    assert read_page(rita.get("/desk/labels?position=5").text).all("ul", "label-sheet") == []
