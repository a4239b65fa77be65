"""Read the main pages out as a screen reader does: role, accessible name and order, from the accessibility tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import findings

from .conftest import Server

NAME, WITHDRAWN, UNKNOWN = "ark:12345/x5n01", "ark:12345/x5n03", "ark:12345/x5nothing"
_NODE = re.compile(r"""\s*- '?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?([^:]*)""")
_CONTROLS = frozenset(
    {"button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox"}
)
"""The roles that a person uses, so that each needs a name."""


class Node(NamedTuple):
    """A node of the accessibility tree: its role, its name, and the level of a heading or 0."""

    role: str
    name: str
    level: int = 0


def read(page: Page, root: str = "body") -> list[Node]:
    """Return the nodes of a page in the order of a screen reader."""
    found: list[Node] = []
    for line in page.locator(root).aria_snapshot().splitlines():
        if node := _NODE.match(line):
            level = re.search(r"level=(\d)", node[3])
            found.append(Node(node[1], node[2] or "", int(level[1]) if level else 0))
    return found


def require_order(nodes: list[Node], expected: list[tuple[str, str]]) -> None:
    """Assert that the expected roles, with names that match a pattern, follow each other."""
    remaining = iter(nodes)
    for role, name in expected:
        is_there = any(each.role == role and re.search(name, each.name) for each in remaining)
        assert is_there, f"no {role} {name!r} here:\n" + "\n".join(f"{each.role} {each.name}" for each in nodes)


def require_readable(page: Page) -> list[Node]:
    """Assert what holds for each page: landmarks, one title, levels without gaps, and a name for each control."""
    nodes = read(page)
    roles = [each.role for each in nodes]
    assert roles.count("main") == 1
    assert not [each for each in nodes if each.role in _CONTROLS and not each.name.strip()]
    headings = [each for each in nodes if each.role == "heading"]
    assert all(each.name.strip() for each in headings)
    assert [each.level for each in headings].count(1) == 1
    # The title can follow the field of the inspector, but no other heading.
    levels = [each.level for each in headings]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    return nodes


def at(path: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.goto(path)

    return go


def checked_table(page: Page) -> None:
    page.goto("/desk/tables")
    table = b"ARK,Titel,Link\nark:12345/x5q1,Vase,https://a.example/1\nark:12345/y1,Cup,https://a.example/2\nx,,\n"
    page.get_by_label("File").set_input_files({"name": "objects.csv", "mimeType": "text/csv", "buffer": table})
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("navigation", name="Rows by outcome")).to_be_visible(timeout=20_000)


HEADER = [("link", "Skip to"), ("banner", ""), ("main", "")]
DESK = [("link", "Skip to"), ("banner", ""), ("navigation", "Desk"), ("main", "")]
FIELD = ("textbox", "Identifier, or a text that contains identifiers")
PAGES: dict[str, tuple[str | None, Callable[[Page], None], list[tuple[str, str]]]] = {
    "home": (
        None,
        at("/"),
        [*HEADER, ("heading", "What is this identifier"), FIELD, ("button", "Inspect"), ("link", "A link is dead")],
    ),
    "result": (
        None,
        at(f"/?q={NAME}"),
        [*HEADER, FIELD, ("button", "Inspect"), ("heading", "\u05de\u05e4\u05d4"), ("heading", "Where does it lead")],
    ),
    "trace": (
        None,
        at("/trace"),
        [*HEADER, ("heading", "Which link is dead"), ("textbox", "Link, ARK or URN"), ("button", "Run the trace")],
    ),
    "compare": (
        None,
        at(f"/compare?a={NAME}&b=ark:12345/X5N01"),
        [*HEADER, ("textbox", "Compare two identifiers"), ("button", "Compare"), ("heading", "^Not ")],
    ),
    "description": (None, at(f"/{NAME}?info"), [("main", ""), ("heading", "\u05de\u05e4\u05d4"), ("heading", "Cite")]),
    "404": (None, at(f"/{UNKNOWN}"), [("main", ""), ("heading", "This identifier is not known here")]),
    "410": (None, at(f"/{WITHDRAWN}"), [("main", ""), ("heading", "")]),
    "overview": (
        "jane",
        at("/desk"),
        [*DESK, ("heading", "Overview"), ("searchbox", "Search names"), ("heading", "Recent changes"), ("table", "")],
    ),
    "names": (
        "jane",
        at("/desk/names"),
        [
            *DESK,
            ("heading", "^Names$"),
            ("searchbox", "Search"),
            ("combobox", "Begins with"),
            ("button", "Search"),
            ("navigation", "State"),
            ("table", ""),
            ("checkbox", "Select this page"),
            ("columnheader", "Title"),
            ("columnheader", "Name"),
            ("checkbox", "Select ark:12345/"),
            ("group", "Selected names"),
        ],
    ),
    "name": (
        "jane",
        at(f"/desk/name?name={NAME}"),
        [
            *DESK,
            ("heading", "\u05de\u05e4\u05d4"),
            ("link", "Edit metadata"),
            ("link", "Withdraw"),
            ("heading", "Public response"),
            ("button", "^Copy ?: the address$"),
            ("heading", "Metadata"),
            ("heading", "History"),
        ],
    ),
    "new names": (
        "jane",
        at("/desk/new"),
        [
            *DESK,
            ("heading", "New names"),
            ("navigation", "Number of new names"),
            ("textbox", "Identifier or address"),
            ("textbox", "Target"),
            ("textbox", "What: title"),
            ("group", "State"),
            ("radio", "Reserved.*404"),
            ("radio", "Live.*never be deleted"),
            ("textbox", "Live from"),
            ("button", "^Record and reserve$"),
        ],
    ),
    "check of a table": (
        "jane",
        checked_table,
        [
            *DESK,
            ("list", "Import of a table"),
            ("heading", "1 of 3 rows is ready, 2 are refused"),
            ("heading", "2 refused rows"),
            ("button", "Check again"),
            ("navigation", "Rows by outcome"),
            ("table", ""),
            ("button", "Import 1 row"),
        ],
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_in_order(served: Server, page_watch: Any, name: str) -> None:
    page_watch.expect("404")
    page_watch.expect("410")
    account, go, expected = PAGES[name]
    page = served.open_page(account or "rita")
    go(page)
    require_order(require_readable(page), expected)


def test_the_button_of_new_names_states_what_happens(served: Server) -> None:
    page = served.open_page("jane", java_script_enabled=False)
    page.goto("/desk/new")
    page.get_by_role("radio", name=re.compile("^Live")).check()
    expect(page.get_by_role("button", name="Record and publish permanently", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Record and reserve")).to_have_count(0)


STATES = {
    "empty": ("rita", "/desk/names?q=zzzzzz"),
    "one": ("rita", f"/desk/names?q={NAME}"),
    "second page": ("rita", "/desk/names?sort=-changed"),
    "wrong filter": ("rita", "/desk/names?created_since=soon"),
    "no identifier": (None, "/?q=nothing+in+here"),
    "several": (None, f"/?q={NAME}%0A{WITHDRAWN}%0Anot+an+id%0A{UNKNOWN}"),
    "nothing to compare": (None, "/compare"),
    "publish": ("jane", "/desk/name/publish?name=ark:12345/x5draft"),
    "many new names": ("jane", "/desk/new?many=1"),
    "undo": ("ada", "/desk/changes/1/undo"),
    "dead targets": ("rita", "/desk/links?state=dead"),
    "no refused targets": ("rita", "/desk/links?state=unclear"),
    "an operation": ("rita", "/desk/changes/1"),
    "holds": ("rita", "/desk/holds"),
    "tables": ("jane", "/desk/tables"),
    "no such page": ("rita", "/desk/nowhere"),
}


@pytest.mark.long
@pytest.mark.timeout(180)
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_each_state_of_a_page_is_readable(served: Server, page_watch: Any, script: bool) -> None:
    for message in ("404", "410", "422", "does not conform to the required format"):
        page_watch.expect(message)
    served.bindings.reserve("ark:12345/x5draft", "https://e.example/draft", metadata={"what": "Draft"}, actor="jane")
    pages = {name: served.open_page(name, java_script_enabled=script) for name in ("ada", "jane", "rita")}
    for name, (account, path) in STATES.items():
        page = pages[account or "rita"]
        page.goto(path)
        require_readable(page)
        if script:
            assert findings(page) == [], name
