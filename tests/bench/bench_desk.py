"""Measure the time of the server for each page of the desk, with many names and a traced target for each."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from runpy import run_path

import pytest
from sqlalchemy import create_engine, make_url

from ararat.bindings.open import database_at
from ararat.bindings.storage.store import create_database
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

FILLING = Path(__file__).with_name("filling.py")
key = run_path(str(FILLING))["key"]

BUDGET = 100
"""The milliseconds that a page should need at most."""

TURNS = 5
TIME = "2026-10-04T12:00:00.000000Z"
# Of a thousand targets, one is dead and one has moved.
_LINKS = f"""
INSERT INTO links (key, target, state, status, url, code, sentence, since, traced) SELECT key, target,
CASE substr(key, 18) WHEN '000' THEN 'dead' WHEN '001' THEN 'moved' ELSE 'works' END,
200, target, 'found', 'The target answered.', '{TIME}', '{TIME}' FROM bindings"""  # noqa: S608 - constants only


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def url(request, tmp_path):
    """The URL of an empty database of each kind."""
    if request.param == "SQLite":
        url = f"sqlite:///{tmp_path / 'bindings.sqlite'}"
        create_database(database_at(url))
        return url
    url = request.getfixturevalue("cluster").new_schema()
    create_database(database_at(url))
    return url


def pages(size: int) -> list[str]:
    """Return the pages. The name is one in the middle."""
    name = key(size // 2)
    cursor = f"0.{name}"
    return [
        *("/desk", "/desk/names", "/desk/names?sort=-changed", "/desk/names?sort=title", "/desk/names?state=reserved"),
        *(
            "/desk/names?q=quarter",
            "/desk/names?q=map+of+quarter+17",
            f"/desk/names?q={name[:-3]}",
            "/desk/names?q=zzzz",
        ),
        *(
            "/desk/names?q=h9.example.org",
            "/desk/names?owner=jane",
            "/desk/names?owner=jane&q=quarter",
            "/desk/names?owner=tom",
            "/desk/names?owner=tom&sort=title",
            "/desk/names?resource=INV",
            f"/desk/names?after={cursor}",
        ),
        *("/desk/names?created_since=2026-10-01", "/desk/names?changed_since=2026-10-05", "/desk/names?all=1"),
        *(f"/desk/name?name={name}", f"/desk/name/metadata?name={name}", f"/desk/name/target?name={name}"),
        *(f"/desk/name/withdraw?name={name}", "/desk/new", "/desk/new?many=1"),
        *(f"/desk/new?text={name}", "/desk/new?text=https://h9.example.org/c0/9", f"/desk/new/check?text={name}z"),
        *("/desk/links", "/desk/links?state=moved", "/desk/links?state=works", f"/desk/links?state=works&after={name}"),
        *("/desk/changes", "/desk/changes/1", "/desk/changes?actor=jane", f"/desk/changes?prefix={name[:-3]}"),
        *("/desk/changes?action=withdrawn", "/desk/audit", "/desk/requests", "/desk/tables", "/desk/moves"),
        *("/desk/prefixes", "/desk/accounts", "/desk/accounts/ada", "/desk/tokens", "/desk/account", "/desk/branding"),
    ]


def bench_pages_of_the_desk(request, tell, url, most):
    """The first request of a page, which can fill a cache, is measured apart."""
    subprocess.run([sys.executable, str(FILLING), url, "0", str(most)], check=True)
    kind = request.node.callspec.params["url"]
    engine = create_engine(make_url(url).set(drivername="sqlite" if kind == "SQLite" else "postgresql+psycopg"))
    with engine.begin() as connection:
        connection.exec_driver_sql(_LINKS)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE")
    engine.dispose()
    rows = {}
    with open_bindings(url) as bindings:
        accounts = Accounts(bindings)
        accounts.add("ada", "administrator")
        bindings.prefixes.set("12345/x", what="Maps", actor="ada")
        app = create_app(bindings, trace_elsewhere=False)
        client = app.test_client()
        account = accounts.get("ada")
        assert account
        client.set_cookie("ararat", accounts.sessions.start(account))
        client.get("/desk/accounts")
        for page in pages(most):
            taken = []
            for _ in range(TURNS + 1):
                begun = time.perf_counter()
                status = client.get(page).status_code
                taken.append((time.perf_counter() - begun) * 1000)
                assert status in (200, 404), (page, status)
            rows[page] = [[taken[0]], taken[1:]]
            print(f"{kind} {page}: {taken[0]:.0f} ms first, {min(taken[1:]):.0f} ms at best", flush=True)
    tell(f"Pages of the desk, {most:,} names, {kind}", ["ms first", "ms"], rows, budget=f"{BUDGET} ms")
