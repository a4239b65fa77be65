"""The inspector in a real browser: paste, read, follow links, go back and copy."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

PARAGRAPH = (
    "Compare ark:/12345/mp-39n.svg with https://n2t.net/ark:/12345/mp39n.txt, read urn:example:ararat:guide "
    "and leave ark:99999/nothing alone."
)
HEBREW = "ark:12345/\u05e9\u05dc\u05d5\u05dd/ab\u0645\u0631\u062d\u0628\u0627.\u05d0\u05d1.en"


@pytest.fixture
def inspect(page: Page):
    """inspect(text) pastes a text into the box of the page, presses Enter, and returns the result."""
    answer = page.locator("#answer")

    def ask(text: str) -> Locator:
        answer.evaluate("one => one.replaceChildren()")
        page.locator("#q").fill(text)
        page.locator("#q").press("Enter")
        expect(answer.locator(".card, .found").first).to_be_visible()
        return answer

    page.goto("/")
    return ask


def boxes(segments: Locator) -> list[tuple[float, float, float, float]]:
    """Return left, top, right and bottom of each element, rounded."""
    sides = "all => all.map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.right, box.bottom])"
    return [tuple(round(side, 1) for side in box) for box in segments.evaluate_all(sides)]


def overlapping(found: list[tuple[float, float, float, float]]) -> list[tuple[int, int]]:
    """Return the pairs of boxes that overlap."""
    return [
        (first, second)
        for first, one in enumerate(found)
        for second, other in enumerate(found[:first])
        if one[0] < other[2] - 0.5 and other[0] < one[2] - 0.5 and one[1] < other[3] - 0.5 and other[1] < one[3] - 0.5
    ]


# What is read ---------------------------------------------------------------------------------------------------------


def test_paste_an_ark_and_read_its_normal_form(page, inspect):
    answer = inspect("ark:/12345/mp-39n.svg")
    expect(answer.get_by_role("heading", level=1)).to_have_text("A sketch map of Mount Ararat, as SVG")
    expect(answer.locator(".normal code")).to_have_text("ark:12345/mp39n.svg")
    expect(answer.locator(".tag")).to_have_text(re.compile("valid, recorded here"))
    expect(answer.locator(".more summary").filter(has_text="Normal form")).to_contain_text("2 changes")
    expect(answer.locator(".steps del")).to_have_text(["/", "-"])
    expect(page).to_have_title("A sketch map of Mount Ararat, as SVG - Ararat")


def test_the_result_gets_the_focus_and_is_announced(page, inspect):
    answer = inspect("ark:/12345/mp-39n.svg")
    expect(answer.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("status").first).to_have_text("valid, recorded here")


def test_paste_a_urn(inspect):
    answer = inspect("URN:ISBN:0451450523")
    expect(answer.locator(".verdict")).to_have_text("A valid ISBN")
    expect(answer.locator(".normal code")).to_have_text("urn:isbn:0451450523")
    answer.locator("summary").filter(has_text="Results by URN").click()
    expect(answer.get_by_role("row", name="Valid")).to_contain_text("yes")


def test_paste_a_paragraph_with_several_identifiers(page, inspect):
    answer = inspect(PARAGRAPH)
    heading = answer.get_by_role("heading", level=1)
    expect(heading).to_have_text("Four identifiers: three fine, one to check")
    expect(heading).to_be_focused()
    title = page.title()
    row = answer.locator(".list tbody tr").nth(3)
    row.locator("td:nth-child(2) > a").click()
    opened = answer.locator(".list .opened")
    expect(opened.locator("#i4 .normal code")).to_have_text("ark:99999/nothing")
    row.locator("td:nth-child(2) > a").click()
    expect(opened).to_be_hidden()
    expect(page).to_have_title(title)


def test_a_problem_is_shown_at_its_position(inspect):
    answer = inspect("ark:12345/x!y")
    expect(answer.locator(".verdict")).to_contain_text("with an exclamation mark that the specification does")
    expect(answer.locator(".segments .name mark")).to_have_text("!")
    expect(answer.locator(".parts .name .flag")).to_contain_text("cannot contain '!'")


def test_the_page_reports_that_nothing_was_found(inspect):
    expect(inspect("nothing of the kind").get_by_role("heading", level=1)).to_have_text(
        "No identifier in these 19 characters"
    )


# What cannot be disturbed ---------------------------------------------------------------------------------------------


def test_a_bidi_override_does_not_change_its_surroundings(page, inspect):
    spoofed = inspect("ark:12345/a\u202eb/c.en").locator(".segments > li > bdi")
    expect(spoofed.nth(3).locator(".cp")).to_have_text("U+202E RLO")
    with_override = boxes(spoofed)
    plain = boxes(inspect("ark:12345/ab/c.en").locator(".segments > li > bdi"))
    # The text before it is at its usual place, and the text after it follows on the same line.
    assert [box[::2] for box in with_override[:3]] == [box[::2] for box in plain[:3]]
    assert with_override[3][0] == plain[3][0]
    assert with_override == sorted(with_override)
    assert {box[1] for box in with_override} == {with_override[0][1]}
    assert overlapping(with_override) == []
    assert "\u202e" not in page.locator("body").evaluate(
        "body => [...body.querySelectorAll('*')].filter(one => one.id !== 'q').flatMap(one => [...one.childNodes])"
        ".filter(node => node.nodeType === 3).map(node => node.data).join('')"
    )


# The width of the text of the segments in one piece.
PLAIN_WIDTH = """all => {
    const line = document.createElement("li"), text = document.createElement("bdi");
    for (const each of all.querySelectorAll("li > bdi")) text.append(each.textContent);
    line.style.cssText = "position: absolute; white-space: nowrap; max-width: none";
    line.append(text);
    all.append(line);
    const width = line.getBoundingClientRect().width;
    line.remove();
    return width;
}"""
LABELLED = (
    "urn:isbn:0451450523",
    "urn:ab:c",
    "ark:12345/x.a.b",
    "ark:/12345/mp-39n/1.pdf.en?info",
    "https://n2t.net/ark:/12148/btv1b8449691v",
    HEBREW,
)


def test_segments_have_no_gaps_and_the_width_of_plain_text(page, inspect):
    page.set_viewport_size({"width": 1180, "height": 900})
    for text in LABELLED:
        segments = inspect(text).locator(".segments")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = boxes(segments.locator("> li"))
            assert len(found) > 3, text
            gaps = [second[0] - first[2] for first, second in pairwise(found)]
            assert max(map(abs, gaps)) <= 0.1, (text, scheme)
            plain = segments.evaluate(PLAIN_WIDTH)
            assert abs(found[-1][2] - found[0][0] - plain) <= 1, (text, scheme)


def test_right_to_left_segments_are_in_logical_order(inspect):
    segments = inspect(HEBREW).locator(".segments > li > bdi")
    expect(segments).to_have_count(7)
    found = boxes(segments)
    assert found == sorted(found)
    assert overlapping(found) == []


def test_pieces_of_a_line_are_in_logical_order(page, inspect):
    inspect(HEBREW)
    page.locator(".more summary").filter(has_text="Normal form").click()
    step = page.locator(".steps code > bdi").first
    # The start of a piece that is broken over two lines.
    begins = "all => all.map(one => { const r = one.getClientRects()[0]; return [Math.round(r.top), r.left] })"
    found = step.locator("> del, > ins").evaluate_all(begins)
    assert len(found) == 6
    assert found == sorted(found)


# Not parameters, so that one browser opens all pages.
NARROW = (
    "ark:/12345/mp-39n/1.pdf.en?info",
    "ark:12345/" + "x" * 240,
    "ark:12345/" + "x" * 200 + "/" + "y" * 900 + "/" + "component/" * 30 + "z",
    "ark:12345/a\u202eb\u200b\u200b\u200b\u2066\U000e0041c/\u00a0d",
    HEBREW,
    "ark:12345/" + "\u0e3f" + "\u0301" * 60 + "x/y",
    "urn:example:maps/17?+r?=q#f",
    "ark:B5072/" + "x" * 300,
    PARAGRAPH,
)


def test_nothing_overlaps_or_overflows_at_320_pixels(page, inspect):
    page.set_viewport_size({"width": 320, "height": 640})
    for text in NARROW:
        answer = inspect(text)
        for number, row in enumerate(answer.locator("td[id] + td > a").all(), 1):
            row.click()
            expect(answer.locator(f"#i{number}")).to_be_visible()
        for segments in answer.locator(".segments").all():
            assert overlapping(boxes(segments.locator("> li"))) == [], ascii(text)
            assert overlapping(boxes(segments.locator("> li > bdi"))) == [], ascii(text)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), ascii(
            text
        )
        inside = answer.locator(".segments > li, .card > *, .normal, .steps li, .tree li")
        assert all(box[2] <= 320 for box in boxes(inside)), ascii(text)


WIDTHS = (390, 1440)


def test_the_tables_of_an_opened_row_are_those_of_its_page(page, inspect):
    texts = {"ark:12345/a\u202eb": "#i1 table", "urn:example:maps/17": "#i2 table"}

    def shown(table: Locator) -> list[str]:
        found = []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found.append(table.last.inner_text())
        return found

    alone = []
    for text in texts:
        answer = inspect(text)
        answer.locator(".more > details:has(table) > summary").last.click()
        alone.append(shown(answer.locator(".more table")))
    answer = inspect("\n".join(texts))
    fonts = "all => [...new Set(all.map(one => getComputedStyle(one).fontFamily.includes('monospace')))]"
    assert answer.locator("td[id] + td > a").evaluate_all(fonts) == [True]
    assert answer.locator("td:nth-child(3), td:nth-child(3) > *").evaluate_all(fonts) == [False]
    for number, table in enumerate(texts.values(), 1):
        answer.locator(f"#n{number} + td > a").click()
        card = answer.locator(f"#i{number}")
        card.locator(".depth > summary").click()
        # The heading of a closed line and its number are in one line.
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for line in card.locator(".depth > details > summary:has(span)").all():
                heading, count = (boxes(line.locator(part))[0] for part in ("h3", "span"))
                assert count[1] < heading[3]
        card.locator(".depth > details:has(table) > summary").last.click()
        assert shown(answer.locator(table)) == alone[number - 1]


def test_a_long_identifier_leaves_room_for_the_result_and_the_link(page, inspect):
    texts = ("ark:12345/" + "x" * 90, "ark:12345/" + "\u0645\u062e\u0637-" * 22, "https://n2t.net/ark:12148/bpt6k1")
    answer = inspect("\n".join(texts))
    first_line = """all => all.map(one => {
      const text = document.createRange();
      text.selectNodeContents(one);
      return text.getClientRects()[0].top - one.getBoundingClientRect().top;
    })"""
    # The identifier begins beside the marker of the row.
    links = answer.locator("td[id] + td > a")
    expect(links).to_have_count(len(texts))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert all(box[2] <= width for box in boxes(answer.locator("tbody td")))
        assert all(offset < 8 for offset in links.evaluate_all(first_line))


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    'ark:12345/x"><script>alert(1)</script>',
    "</textarea><svg onload=alert(1)> ark:12345/x",
    "ark:12345/x' hx-get='/api/nowhere' hx-trigger='load' y='",
    "<div hx-swap-oob='innerHTML:body'>ark:12345/x</div>",
    "https://n2t.net/ark:12345/x#{{7*7}}${7*7}",
    "ark:12345/\u202e\u2066\x00\x1b[2J\ufeff\ud7ff",
)


def test_pasted_text_creates_no_elements(page, inspect):
    for text in HOSTILE:
        inspect(text)
        assert page.locator("#q").input_value() == text, ascii(text)
        assert page.locator("img:not(.qr img), iframe, object, [onerror], [onload], [style]").count() == 0, ascii(text)
        assert page.locator("script").count() == 3, ascii(text)
        assert page.locator("[hx-trigger]").count() == 0, ascii(text)
        assert page.locator("form.box").count() == 1, ascii(text)


# Going about ----------------------------------------------------------------------------------------------------------


def test_follow_the_hierarchy_and_go_back(page, inspect):
    answer = inspect("ark:12345/mp39n/1.txt")
    first = page.url
    expect(answer.locator(".tree small").first).to_have_text("container, recorded here")
    answer.locator("summary").filter(has_text="Hierarchy").click()
    answer.locator(".tree a").first.click()
    expect(page).to_have_url(re.compile(r"\?q=ark:12345/mp39n$"))
    expect(answer.locator(".normal code")).to_have_text("ark:12345/mp39n")
    expect(page.locator("#q")).to_have_value("ark:12345/mp39n")
    page.go_back()
    expect(page).to_have_url(first)
    expect(page.locator(".normal code")).to_have_text("ark:12345/mp39n/1.txt")
    expect(page.locator("#q")).to_have_value("ark:12345/mp39n/1.txt")
    expect(page.locator(".top")).to_have_count(1)
    page.go_forward()
    expect(page.locator(".normal code")).to_have_text("ark:12345/mp39n")
    expect(page).to_have_title("A sketch map of Mount Ararat in two sheets - Ararat")
    page.locator("#q").fill("ark:12345/m5137")
    page.locator("#q").press("Enter")
    expect(page.locator(".normal code")).to_have_text("ark:12345/m5137")


def test_the_permalink_shows_the_same_result(page, inspect):
    answer = inspect("ark:/12345/mp-39n.svg?info#f & more")
    shown = answer.inner_text()
    page.goto(page.url)
    assert page.locator("#answer").inner_text() == shown


def test_each_example_of_the_home_page_works(page):
    page.goto("/")
    expect(page.locator("#q")).to_be_focused()
    for number in range(page.locator(".tries a").count()):
        page.goto("/")
        page.locator(".tries a").nth(number).click()
        expect(page.locator("#answer").locator(".card, .list tbody tr").first).to_be_visible()
        expect(page.locator("#q")).not_to_have_value("")


def test_use_a_suggestion(page, inspect):
    answer = inspect("ark:12345/x8rd9/")
    answer.get_by_role("link", name="Use ark:12345/x8rd9").click()
    expect(answer.locator(".normal code")).to_have_text("ark:12345/x8rd9")
    expect(answer.locator(".tag")).to_have_text(re.compile("not known here"))
    expect(answer.get_by_role("link", name="Use ark:12345/x8rd9")).to_have_count(0)
    expect(page.locator("#q")).to_have_value("ark:12345/x8rd9")


def test_a_reading_that_is_recorded_is_taken(inspect):
    answer = inspect("ark:12345/x8rd4/")
    expect(answer.locator(".tag")).to_have_text(re.compile("valid, recorded here"))
    expect(answer).to_contain_text("Only this part of it is recorded here.")


def test_a_slash_goes_to_the_box_and_escape_empties_it(page, inspect):
    answer = inspect(COLUMN)
    # In a field the key keeps its meaning.
    answer.get_by_label("Show").focus()
    page.keyboard.press("/")
    expect(answer.get_by_label("Show")).to_be_focused()
    answer.get_by_role("button", name="Download as CSV").focus()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#q")).to_have_value(COLUMN)
    page.keyboard.press("Escape")
    expect(page.locator("#q")).to_have_value("")
    expect(page.locator("#q")).to_be_focused()


COMPARED = ("/compare", "ark:12345/x8rd4", "ark:12345/x8-rd4", ".compared h2")


@pytest.mark.parametrize(
    ("address", "first", "second", "shown", "chord"),
    [
        pytest.param(*COMPARED, "Control+Enter", id="compare"),
        pytest.param(*COMPARED, "Meta+Enter", id="compare, Cmd"),
        pytest.param(
            "/policy", "https://17beta.top/en/", "https://17beta.top/de/", "#judged", "Control+Enter", id="policy"
        ),
        pytest.param("/traces", "nonsense", "more nonsense", ".round .ended", "Control+Enter", id="traces"),
    ],
)
def test_ctrl_enter_or_cmd_enter_submits_a_textarea(page, address, first, second, shown, chord):
    page.goto(address)
    page.locator("#q").press_sequentially(first)
    page.keyboard.press("Enter")
    page.keyboard.type(second)
    expect(page.locator("#q")).to_have_value(f"{first}\n{second}")
    assert page.locator(shown).count() == 0
    page.keyboard.press(chord)
    expect(page.locator(shown)).to_be_visible()


@pytest.mark.parametrize("chord", ["Enter", "Control+Enter"])
def test_enter_submits_the_text_box_of_the_home_page(page, chord):
    page.goto("/")
    page.locator("#q").press_sequentially("ark:12345/x8rd4")
    page.keyboard.press(chord)
    expect(page.locator(".card")).to_be_visible()


# URN-003
def test_the_copy_button_copies_ascii(page, context, inspect):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = inspect("ark:/12345/a\u202eb")
    answer.locator("summary").filter(has_text="Other spellings").click()
    answer.locator(".spellings .copy").first.click()
    expect(page.get_by_role("status").first).to_have_text("Copied ark:/12345/a%E2%80%AEb")
    assert page.evaluate("navigator.clipboard.readText()") == "ark:/12345/a%E2%80%AEb"


def test_shift_enter_inserts_a_line_break(page):
    page.goto("/")
    page.locator("#q").press_sequentially("ark:12345/x8rd4")
    page.keyboard.press("Shift+Enter")
    page.keyboard.insert_text("ark:12345/m5137")
    page.keyboard.press("Enter")
    expect(page.locator(".found h1")).to_have_text("Two identifiers: two fine")


def test_a_text_that_is_too_long_is_refused_with_a_reason(page, page_watch):
    page_watch.expect("413")
    page.goto("/")
    page.locator("#q").evaluate("box => { box.value = 'x'.repeat(1200000) }")
    page.get_by_role("button", name="Inspect").click()
    expect(page.locator("#answer")).to_contain_text("longer than 1,048,576 bytes")


def test_the_page_stores_nothing_and_requests_no_other_host(page, context, inspect):
    inspect(PARAGRAPH)
    assert context.cookies() == []
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]


# Many, and compared ---------------------------------------------------------------------------------------------------

COLUMN = "\n".join(
    ["ark:12345/c", "ark:/12345/a-", "ark:99999/x", "ark:12345/a", "urn:foo:a", "ark:12345/b", "ark:12345/c"]
)


def numbers(answer: Locator) -> Locator:
    return answer.locator(".lines > tbody > tr:not([hidden], .opened) > td:first-child")


def test_a_table_is_filtered_and_sorted_in_place(page, inspect):
    answer = inspect(COLUMN)
    expect(numbers(answer)).to_have_text(["1", "2", "3", "4", "5", "6", "7"])
    answer.get_by_role("checkbox", name="Select 4").check()
    answer.locator("#n4 + td > a").click()
    expect(answer.locator("#i4 .normal code")).to_have_text("ark:12345/a")
    answer.locator("#found").evaluate("heading => heading.dataset.same = 'yes'")
    page.get_by_label("Show").focus()
    page.get_by_label("Show").select_option("same")
    expect(numbers(answer)).to_have_text(["1", "2", "4", "7"])
    expect(page.locator("#said")).to_have_text("4 of 7 shown")
    expect(page.get_by_label("Show")).to_be_focused()
    expect(page).to_have_url(re.compile("show=same"))
    page.get_by_label("Sort").select_option("name")
    expect(numbers(answer)).to_have_text(["2", "4", "1", "7"])
    page.get_by_label("Show").select_option("all")
    expect(numbers(answer)).to_have_count(7)
    page.get_by_label("Sort").select_option("verdict")
    # The names of the own NAAN that are not known come before the URN, which is fine.
    expect(numbers(answer)).to_have_text(["1", "2", "3", "4", "6", "7", "5"])
    # Only the table is replaced. Selected rows stay selected, and open rows stay open.
    expect(answer.get_by_role("checkbox", name="Select 4")).to_be_checked()
    assert answer.locator("#found").get_attribute("data-same") == "yes"
    expect(answer.locator("tr:has(#n4) + .opened #i4 .normal code")).to_have_text("ark:12345/a")
    page.get_by_label("Show").select_option("good")
    expect(numbers(answer)).to_have_text(["5"])
    expect(answer.locator("#n4 + td > a")).to_have_attribute("aria-expanded", "true")
    expect(answer.locator("#i4")).to_be_hidden()
    # Another text resets the selection.
    page.locator("#q").fill(COLUMN + "\nark:12345/d")
    page.locator("#q").press("Enter")
    expect(answer.locator(".list tbody tr:not([hidden])")).to_have_count(8)


def test_selected_rows_are_compared_and_shown_rows_are_downloaded(page, inspect):
    answer = inspect(COLUMN)
    page.get_by_label("Show").select_option("same")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    lines = download.value.path().read_text("ascii").splitlines()
    assert download.value.suggested_filename == "identifiers.csv"
    assert [line.split(",")[0] for line in lines] == ["number", "1", "2", "4", "7"]
    answer.get_by_role("checkbox", name="Select 2").check()
    answer.get_by_role("checkbox", name="Select 4").check()
    page.get_by_role("button", name="Compare the two selected").click()
    expect(page).to_have_url(re.compile(r"/compare\?a=ark:/12345/a-&b=ark:12345/a$"))
    expect(page.get_by_role("heading", level=2)).to_contain_text("Equivalent")
    expect(page.get_by_role("heading", level=2)).to_be_focused()


def test_a_part_is_highlighted_with_its_row_problem_and_steps(page, inspect):
    answer = inspect("ark:/12345/mp-39n/a\u202e")
    for line in ("Problems", "Normal form"):
        answer.locator("summary").filter(has_text=line).click()
    answer.locator(".segments .component").hover()
    expect(answer.locator(".parts .lit")).to_contain_text("component")
    expect(answer.locator(".problems .lit").first).to_contain_text("not allowed in an IRI")
    expect(answer.locator(".steps .lit")).to_contain_text("non-ASCII")
    # An element that scrolls under the pointer would be highlighted.
    page.mouse.move(1, 1)
    answer.locator("#i1-step-2 a").focus()
    expect(answer.locator(".parts .lit")).to_contain_text("mp-39n")
    page.keyboard.press("Enter")
    expect(page.locator("#i1-p4:target")).to_be_in_viewport()


def test_the_qr_code_is_loaded_on_demand(page, inspect):
    answer = inspect("ark:12345/x8rd4")
    answer.locator(".qr summary").click()
    picture = answer.get_by_role("img", name="QR code of")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("one => one.naturalWidth") > 0
