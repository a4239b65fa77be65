"""Each pair of seven features: rule, passthrough, subtree, alternates, withdrawal, import and file of bindings.

A row binds names, in a database by bind or by import, or in a file, and states what the resolver answers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.middleware import ResolverMiddleware, import_table

FEATURES = ("rule", "passthrough", "subtree", "alternates", "withdrawal", "import", "file")
BOOK = {"identifier": "ark:12345/book", "target": "https://a.example/book"}
THROUGH = BOOK | {"passthrough": "true"}
TREE = {"identifier": "ark:12345/book", "target": "/book", "kind": "served", "scope": "subtree"}
VARIED = BOOK | {"target[text/plain]": "https://a.example/book.txt"}
GONE = {"status": "withdrawn", "reason": "a hoax"}
RULE = {"identifier": "ark:12345/b", "target": "https://rule.example/${value}", "kind": "rule"}
BELOW = "ark:12345/book/2"
TEXT = {"Accept": "text/plain"}

# The names, whether a rule is set, and how they are stored; then each request, its status, and the Location or body.
Rows = list[dict[str, str]]
Asked = list[tuple[str, dict[str, str], int, str | None]]
BY_RULE: Asked = [
    ("ark:12345/book", {}, 302, "https://a.example/book"),
    (BELOW, {}, 302, "https://rule.example/book/2"),
]
PAIRS: dict[tuple[str, str], tuple[Rows, bool, str, Asked]] = {
    ("rule", "passthrough"): (
        [THROUGH],
        True,
        "bind",
        [(BELOW, {}, 302, "https://a.example/book/2"), ("ark:12345/bird", {}, 302, "https://rule.example/bird")],
    ),
    ("rule", "subtree"): ([TREE], True, "bind", [(BELOW, {}, 200, "/book/2"), (f"{BELOW},x", {}, 200, "/book/2,x")]),
    ("rule", "alternates"): (
        [VARIED],
        True,
        "bind",
        [
            ("ark:12345/book", TEXT, 302, "https://a.example/book.txt"),
            (BELOW, TEXT, 302, "https://rule.example/book/2"),
        ],
    ),
    ("rule", "withdrawal"): (
        [BOOK | GONE],
        True,
        "bind",
        [("ark:12345/book", {}, 410, None), (BELOW, {}, 410, None), ("ark:12345/book.pdf", {}, 410, None)],
    ),
    ("rule", "import"): ([RULE, BOOK], False, "import", BY_RULE),
    ("rule", "file"): ([RULE, BOOK], False, "file", BY_RULE),
    ("passthrough", "subtree"): (
        [THROUGH, TREE | {"identifier": BELOW, "target": "/two"}],
        False,
        "bind",
        [("ark:12345/book/1/x", {}, 302, "https://a.example/book/1/x"), (f"{BELOW}/x,y", {}, 200, "/two/x,y")],
    ),
    ("passthrough", "alternates"): (
        [VARIED | {"passthrough": "true"}],
        False,
        "bind",
        [("ark:12345/book", TEXT, 302, "https://a.example/book.txt"), (BELOW, TEXT, 302, "https://a.example/book/2")],
    ),
    ("passthrough", "withdrawal"): (
        [THROUGH, {"identifier": BELOW, "target": "https://a.example/two", "passthrough": "true"} | GONE],
        False,
        "bind",
        [("ark:12345/book/1", {}, 302, "https://a.example/book/1"), (f"{BELOW}/x", {}, 410, None)],
    ),
    ("passthrough", "import"): ([THROUGH], False, "import", [(BELOW, {}, 302, "https://a.example/book/2")]),
    ("passthrough", "file"): ([THROUGH], False, "file", [(BELOW, {}, 302, "https://a.example/book/2")]),
    ("subtree", "alternates"): (
        [TREE, {"identifier": BELOW, "target": "/two", "target[text/plain]": "https://a.example/two.txt"}],
        False,
        "bind",
        [(BELOW, TEXT, 302, "https://a.example/two.txt"), (f"{BELOW}/x", TEXT, 200, "/book/2/x")],
    ),
    ("subtree", "withdrawal"): (
        [TREE, {"identifier": BELOW, "target": "/two", "kind": "served", "scope": "subtree"} | GONE],
        False,
        "bind",
        [("ark:12345/book/1,x", {}, 200, "/book/1,x"), (f"{BELOW}/x", {}, 410, None), (f"{BELOW}/x,y", {}, 400, None)],
    ),
    ("subtree", "import"): ([TREE], False, "import", [(f"{BELOW},x", {}, 200, "/book/2,x")]),
    ("subtree", "file"): ([TREE], False, "file", [(f"{BELOW},x", {}, 200, "/book/2,x")]),
    ("alternates", "withdrawal"): (
        [VARIED | GONE],
        False,
        "bind",
        [("ark:12345/book", TEXT, 410, None), ("ark:12345/book.txt", TEXT, 410, None)],
    ),
    ("alternates", "import"): (
        [VARIED],
        False,
        "import",
        [("ark:12345/book", TEXT, 302, "https://a.example/book.txt")],
    ),
    ("alternates", "file"): ([VARIED], False, "file", [("ark:12345/book", TEXT, 302, "https://a.example/book.txt")]),
    ("withdrawal", "import"): (
        [BOOK | GONE],
        False,
        "import",
        [("ark:12345/book", {}, 410, None), ("ark:12345/book?info", {}, 200, None), (BELOW, {}, 410, None)],
    ),
    ("withdrawal", "file"): ([BOOK | GONE], False, "file", [("ark:12345/book", {}, 410, None), (BELOW, {}, 410, None)]),
    ("import", "file"): (
        [THROUGH, {"identifier": BELOW, "target": "https://a.example/two"}],
        False,
        "both",
        [("ark:12345/book/1", {}, 302, "https://a.example/book/1"), (BELOW, {}, 302, "https://a.example/two")],
    ),
}


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


def table(folder: Path, rows: Rows) -> Path:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [columns, *([row.get(column, "") for column in columns] for row in rows)]
    file = folder / "names.csv"
    file.write_text("".join(",".join(line) + "\n" for line in lines))
    return file


def bind(bindings: Bindings, rows: Rows) -> None:
    for row in rows:
        named: dict[str, Any] = {name: row[name] for name in ("kind", "scope") if name in row}
        alternates = {name[7:-1]: target for name, target in row.items() if name.startswith("target[")}
        through = "passthrough" in row
        bindings.bind(row["identifier"], row["target"], passthrough=through, alternates=alternates or None, **named)
        if "status" in row:
            bindings.withdraw(row["identifier"], reason=row["reason"])


@pytest.fixture
def made(tmp_path: Path, open_store: Callable[..., Bindings], database: str) -> Callable[..., Any]:
    """made(rows, ruled, how) returns the bindings of every store with these names."""

    def make(rows: Rows, ruled: bool, how: str) -> list[Bindings]:
        file = table(tmp_path, rows)
        stores = [open_store(file)] if how in ("file", "both") else []
        if how != "file":
            bindings = open_store(database)
            if how == "bind":
                bind(bindings, rows)
            else:
                assert import_table(bindings, file).written
            if ruled:
                bindings.rules.set("ark:12345/b", "https://rule.example/${value}")
            stores.append(bindings)
        return stores

    return make


def test_every_pair_of_features_has_a_row() -> None:
    assert set(PAIRS) == set(combinations(FEATURES, 2))


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_each_pair_of_features_works(pair: tuple[str, str], made: Callable[..., Any]) -> None:
    rows, ruled, how, requests = PAIRS[pair]
    for bindings in made(rows, ruled, how):
        client = Client(ResolverMiddleware(site, bindings))
        for identifier, headers, status, where in requests:
            answer = client.get(f"/{identifier}", headers=headers)
            found = answer.text if status == 200 else answer.headers.get("Location")
            assert answer.status_code == status, (bindings, identifier)
            assert where is None or found == where, (bindings, identifier)
            assert status in (200, 302) or "Location" not in answer.headers
