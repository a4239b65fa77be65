"""The pages of tables, changes and links have no English text in another language."""

from __future__ import annotations

import html
import io
import re
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from openpyxl import Workbook
from sqlalchemy import update
from werkzeug.test import TestResponse

from ararat.bindings.names.actor import Actor
from ararat.bindings.storage.tables.account_tables import jobs as jobs_table
from ararat.identifiers.text.translatable import Translatable
from ararat.middleware.statistics.counts import DailyCount
from ararat.tracing.links.model import TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp.config import site
from ararat.webapp.jobs.worker import Worker
from ararat.webapp.management import bulk
from tests.pseudo import BEGIN, pseudo_language, untranslated
from tests.webapp.desk.conftest import Desk, open_desk
from tests.webapp.desk.tables.conftest import fields

pytestmark = pytest.mark.usefixtures("workbooks_here")

GERMAN = {"Accept-Language": "de"}
_ISOLATED = re.compile(r'<bdi dir="ltr" translate="no">(.*?)</bdi>', re.DOTALL)
_PROPER = re.compile(
    r"(?:title=)?[\d., :]+ UTC|\([\w.]+\)|label=Dublin Core|titel|ark:12345/x5|CSV|JSON Lines|UTF-\d+|"
    r"Mac Roman|Windows-1252|dc\.\w+|mods\.\w+|erc\.\w+|datacite\.\w+|"
    r"placeholder=mods\.genre|"
    r"placeholder=ark:12345/x5"
)
_SENTENCE = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("pages")
    desk = open_desk(folder, statistics=str(folder / "counts.sqlite"))
    with pseudo_language():
        yield desk
    desk.bindings.close()


class Pages:
    """Requests pages in the language for tests, and collects their texts in English."""

    def __init__(self, desk: Desk, name: str) -> None:
        self.desk, self.browser, self.left = desk, desk.signed_in(name), list[str]()

    def get(self, path: str, status: int = 200) -> str:
        return self._look(self.browser.get(path, headers=GERMAN), status, path)

    def post(self, path: str, form: dict[str, Any] | None = None, status: int | None = 303) -> str:
        """Send a form, and return the page, or the address to which it redirects."""
        sent = self.browser.post(path, form, headers=GERMAN)
        if sent.status_code == 303:
            assert status == 303, sent.location
            return sent.location
        return self._look(sent, status, path)

    def upload(self, content: bytes | str, name: str = "names.csv") -> str:
        data = content.encode() if isinstance(content, str) else content
        path = self.post("/desk/tables", {"file": (io.BytesIO(data), name)})
        return path.removesuffix("/columns")

    def preview(self, content: bytes | str, name: str = "names.csv", **form: str) -> tuple[str, str]:
        path = self.upload(content, name)
        columns = self.get(f"{path}/columns")
        assert self.post(f"{path}/columns", {**fields(columns), **form}) == path
        return path, self.ended(path)

    def ended(self, path: str) -> str:
        deadline = time.monotonic() + 20
        while self.desk.app.extensions["ararat_imports"].jobs.list_unfinished():
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return self.get(path)

    def import_all(self, path: str, page: str) -> str:
        job = re.search(r'name="job" value="(\d+)"', page)
        assert job
        form: dict[str, Any] = {"job": job[1], "skip": "1"}
        # Rows with a value of another name are imported only after a question.
        sent = self.browser.post(f"{path}/import", form, headers=GERMAN)
        if sent.status_code == 422:
            form["confirm"] = re.findall(r'name="confirm" value="(\w+)"', self._look(sent, 422, path))
            self.post(f"{path}/import", form)
        return self.ended(path)

    def _look(self, response: TestResponse, status: int | None, path: str) -> str:
        text = response.text
        assert status in (None, response.status_code), (path, text)
        if response.mimetype == "text/html" and status not in (400, 404):
            assert '<html lang="de"' in text, path
            main = text[text.index("<main") : text.index("</main>")]
            isolated = (re.sub("<[^>]*>", "", html.unescape(each)) for each in _ISOLATED.findall(main))
            sentences = [each for each in isolated if BEGIN not in each and _SENTENCE.search(each)]
            found = [each for each in untranslated(main) if not _PROPER.fullmatch(each)]
            self.left += [f"{path}: {each}" for each in (*found, *sentences)]
        return text


@pytest.fixture
def ada(desk: Desk) -> Iterator[Pages]:
    pages = Pages(desk, "ada")
    yield pages
    assert "\n".join(sorted(set(pages.left))) == ""


@pytest.fixture
def jane(desk: Desk) -> Iterator[Pages]:
    pages = Pages(desk, "jane")
    yield pages
    assert "\n".join(sorted(set(pages.left))) == ""


def bind(desk: Desk, name: str, target: str, **fields: Any) -> None:
    desk.bindings.bind(name, target, actor=Actor(name="jane"), **fields)


def workbook() -> bytes:
    book = Workbook()
    sheet: Any = book.active
    for row in (["Inventory number", "Title", "URL"], ["A1", "Map", "https://example.org/1"], ["A2", "#REF!", None]):
        sheet.append(row)
    sheet["B4"] = 0.5
    sheet["B4"].number_format = "0%"
    sheet["A4"], sheet["C4"] = "A3", "https://example.org/3"
    sheet.merge_cells("B5:B6")
    sheet["A5"], sheet["A6"], sheet["B5"] = "A4", "A5", "Both"
    sheet.row_dimensions[6].hidden = True
    book.create_sheet("Other").append(["x"])
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def test_tables(desk: Desk, jane: Pages, ada: Pages) -> None:
    jane.get("/desk/tables")
    for form in ({}, {"file": (io.BytesIO(b"%PDF-1.7\n"), "a.pdf")}, {"file": (io.BytesIO(b"PK\x03\x04"), "a.xlsx")}):
        jane.post("/desk/tables", form, 422)
    path = jane.upload("ark,titel,x\nark:12345/x5a,A,B\n")
    jane.get(f"{path}/columns")
    same = {"column-0": "what", "column-1": "what", "column-2": "other", "other-2": "nothing"}
    jane.post(f"{path}/columns", same, 422)
    jane.post(f"{path}/columns", {"column-0": "identifier"}, 422)
    jane.post(f"{path}/columns", {"column-0": "what", "names": "mint", "shoulder": "ark:12345/x5"}, 422)
    broken = jane.upload("ark,titel\nark:12345/x5a,A\nark:12345/x5b,A,B\n")
    jane.get(f"{broken}/columns")
    assert jane.post(f"{path}/delete") == "/desk/tables"
    jane.get("/desk/tables")
    book = jane.upload(workbook(), "things.xlsx")
    columns = jane.get(f"{book}/columns")
    jane.post(f"{book}/columns", {**fields(columns), "names": "mint", "shoulder": "ark:12345/x5", "state": "live"})
    page = jane.ended(book)
    jane.get(f"{book}?part=warning")
    jane.import_all(book, page)
    jane.get("/desk/tables")
    ada.get("/desk/tables")
    ada.get("/desk/tables/99", 404)


def test_refused_rows_and_their_files(desk: Desk, jane: Pages, ada: Pages) -> None:
    for each in "abcd":
        bind(desk, f"ark:12345/x5r{each}", f"https://old.example/{each}", metadata={"what": "Old"})
    desk.bindings.withdraw("ark:12345/x5rc")
    bind(desk, "ark:12345/x5rr", "https://old.example/r", status="reserved")
    rows = (
        "identifier,target,what,status\nark:12345/x5ra,https://new.example/a,New,\nark:12345/x5rb,https://old.example/b,New,\n"
        "ark:12345/x5rc,https://old.example/c,New,\nark:12345/y1,https://old.example/y,New,\n"
        "ark:12345/x5rd,https://old.example/d,Old,\nark:12345/x5rd,https://old.example/d,Other,\n"
        "x5,https://old.example/d,Old,\nark:12345/x5re,javascript:x,Old,\nark:12345/x5rf,https://e.example/?a=1&amp;b=2,Old,\n"
        "ark:12345/x5rg,https://new.example/g,New,lost\nark:12345/x5rr,https://old.example/r,New,live\n"
        "ark:12345/x5rh,https://new.example/h,New,\n,https://new.example/i,New,\n"
    )
    path, page = jane.preview(rows)
    for part in ("added", "changed", "moved", "published", "unchanged", "refused", "warning"):
        jane.get(f"{path}?part={part}")
    jane.get(f"{path}?part=refused&text=nothing-has-this")
    report = jane.get(f"{path}/report.csv")
    refused = jane.get(f"{path}/refused.csv")
    for text in (report, refused):
        assert BEGIN in text.splitlines()[0]
    assert not [each for each in report.splitlines()[1:] if _SENTENCE.search(each) and BEGIN not in each]
    page = jane.import_all(path, page)
    [undo] = re.findall(r'href="(/desk/changes/\d+)/undo"', page)[:1]
    jane.get(undo)
    jane.get(f"{undo}/undo")
    jane.get(jane.post(f"{undo}/undo"))
    jane.get(path)
    ada.get(undo)
    jane.get("/desk/tables")
    numbers, _ = jane.preview(
        "inventory,url\n1,https://example.org/1\n2,https://example.org/2\n", **{"column-0": "identifier"}
    )
    jane.get(numbers)
    same, _ = jane.preview("identifier,target\nark:12345/x5ra,https://old.example/a\n")
    jane.get(same)


def test_jobs(desk: Desk, jane: Pages, ada: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    bind(desk, "ark:12345/x5ja", "https://job.example/a")
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "wake", lambda self: None)
        path = jane.upload("identifier,target\nark:12345/x5jb,https://job.example/b\n")
        jane.post(f"{path}/columns", {"column-0": "identifier", "column-1": "target"})
        assert 'id="progress"' in jane.get(path)
        many = jane.post(
            "/desk/names/change", {"do": "move", "all": "1", "source": "job.example", "to": "https://x.example"}
        )
        jane.get(many)
        jane.post("/desk/exports", {"form": "csv"})
        jane.get("/desk/exports")
        jane.get(jane.post(f"{path}/delete"))
    desk.app.extensions["ararat_imports"].worker.wake()
    ada.ended(many)
    jane.get("/desk/exports")
    failed = {
        "problem": {
            "code": "attempts",
            "detail": Translatable("The process of the job ended %(number)s times without progress.", number=3),
        }
    }
    jobs = desk.app.extensions["ararat_imports"].jobs
    number = int(many.rpartition("/")[2])
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "wake", lambda self: None)
        desk.accounts.run_in_transaction(
            lambda connection: connection.execute(
                update(jobs_table).where(jobs_table.c.id >= number).values(state="waiting", result="eJwDAAAAAAE=")
            )
        )
        while claim := jobs.claim():
            jobs.end(claim, "failed", failed)
    jane.get(many)
    jane.get(path)
    jane.get("/desk/exports")


def test_changes_and_undo(desk: Desk, jane: Pages, ada: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in "abc":
        bind(desk, f"ark:12345/x5u{each}", f"https://undo.example/{each}", metadata={"what": "Old"})
    for path in ("", "?action=withdrawn", "?since=tomorrow&prefix=x&action=y", "?actor=nobody", "?after=x"):
        jane.get(f"/desk/changes{path}", 400 if "after" in path else 200)
    jane.get("/desk/changes.csv?since=x", 400)
    jane.get("/desk")
    move = {"source": "undo.example", "destination": "https://moved.example", "below": ""}
    preview = jane.post("/desk/moves", move, 200)
    fingerprint = re.search(r'name="preview" value="(\w+)"', preview)
    assert fingerprint
    jane.get(jane.post("/desk/moves", {**move, "apply": "1", "preview": fingerprint[1]}))
    operation = max(map(int, re.findall(r"/desk/changes/(\d+)", jane.get("/desk/changes"))))
    desk.bindings.bind(
        "ark:12345/x5ua", "https://moved.example/a", metadata={"what": "Changed"}, actor=Actor(name="ada")
    )
    for pages in (jane, ada):
        pages.get(f"/desk/changes/{operation}")
        pages.get(f"/desk/changes/{operation}/undo")
    ada.get(f"/desk/changes/{operation}/undo?skip=1")
    jane.post(f"/desk/changes/{operation}/undo", status=None)
    jane.get(jane.post(f"/desk/changes/{operation}/resume"))
    monkeypatch.setattr(bulk, "MAX_NAMES", 1)
    ada.get(f"/desk/changes/{operation}/undo")
    check = ada.post(f"/desk/changes/{operation}/undo-many")
    ada.ended(check)
    ada.ended(ada.post(check, {"skip": "1"}))
    ada.get(ada.post(check, {"skip": "1"}))
    ada.get(f"/desk/changes/{operation}/undo", 409)


def test_the_conflict_of_two_changes(desk: Desk, jane: Pages) -> None:
    bind(desk, "ark:12345/x5c", "https://example.org/c", metadata={"what": "Old"})
    page = jane.browser.get("/desk/name/metadata?name=ark:12345/x5c").text
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    desk.bindings.bind(
        "ark:12345/x5c", "https://example.org/c", metadata={"what": "New", "who": "Ada"}, actor=Actor(name="ada")
    )
    action = re.search(r'<form method="post" action="(/desk/name/metadata[^"]*)"', page)
    assert action
    del form["csrf_token"]
    text = jane.post(html.unescape(action[1]), {**form, "erc.what": "Mine"}, 409)
    assert "Mine" in text


def test_moves_and_selected_names(desk: Desk, jane: Pages, ada: Pages) -> None:
    for each in "ab":
        bind(desk, f"ark:12345/x5m{each}", f"https://move.example/{each}?x=1&amp;y")
    bind(desk, "ark:12345/m1", "https://move.example/other")
    bind(desk, "ark:12345/x5mw", "https://move.example/w")
    desk.bindings.withdraw("ark:12345/x5mw")
    jane.get("/desk/moves")
    jane.post("/desk/moves", {}, 422)
    jane.post("/desk/moves", {"source": "http:", "destination": "https://x.example", "below": "x"}, 422)
    jane.post("/desk/moves", {"source": "none.example", "destination": "https://x.example"}, 200)
    jane.post(
        "/desk/moves", {"source": "none.example", "destination": "https://x.example", "below": "ark:12345/x5"}, 200
    )
    jane.post("/desk/moves", {"source": "move.example", "destination": "https://x.example"}, 422)
    ada.post("/desk/moves", {"source": "move.example", "destination": "https://x.example"}, 200)
    failed = {"source": "move.example", "destination": "https://x.example", "failed": "1", "apply": "1"}
    ada.post("/desk/moves", failed, 422)
    for do in ("edit", "move", "withdraw"):
        jane.get(f"/desk/names/selected?do={do}&pick=ark:12345/x5ma")
        jane.get(f"/desk/names/selected?do={do}&pick=ark:12345/x5ma&pick=ark:12345/x5mb")
        jane.get(f"/desk/names/selected?do={do}&all=1")
    jane.post("/desk/names/change", {"do": "move", "pick": "ark:12345/x5ma", "source": "", "to": ""}, 422)
    names = ["ark:12345/x5ma", "ark:12345/x5mw", "ark:12345/m1"]
    for form in (
        {"do": "edit", "element": "erc.what", "value": "New"},
        {"do": "withdraw", "reason": "Sold", "successor": "ark:12345/x5mb"},
        {"do": "move", "source": "nothing.example", "to": "https://x.example"},
    ):
        check = jane.post("/desk/names/change", {**form, "pick": names})
        jane.ended(check)
    jane.get("/desk/many/9999", 404)


def test_links_and_promises(desk: Desk, jane: Pages, ada: Pages) -> None:
    jane.get("/desk/links")
    ada.get("/desk/links")
    ada.get("/desk/links/promises")
    jane.get("/desk/links/promises")
    now = desk.bindings.now()
    for place, state in enumerate(("works", "moved", "refused", "dead", "dead", "unclear")):
        name, target = f"ark:12345/x5l{place}", f"https://links.example/{place}"
        bind(desk, name, target, metadata={"erc.availability": "lifetime"})
        sentence = Translatable("the host %(host)s does not answer", host="links.example")
        link = TracedTarget(
            identifier=name,
            key=name,
            target=target,
            state=state,
            status=404,
            code="dns",
            url="https://new.example/",
            sentence=sentence,
            since=now - timedelta(9),
            traced=now,
        )
        Links(desk.bindings).record([link])
    bind(desk, "ark:12345/x5lw", "https://links.example/w", metadata={"erc.availability": "lifetime"})
    desk.bindings.withdraw("ark:12345/x5lw")
    for state in ("works", "moved", "refused", "dead", "unclear"):
        jane.get(f"/desk/links?state={state}")
    page = jane.get("/desk/links?state=dead")
    assert f"{BEGIN}thêe høst links.example" in page
    jane.get(jane.post("/desk/links/relocate", {"pick": "ark:12345/x5l0"}))
    jane.get(jane.post("/desk/links/relocate", {"pick": "ark:12345/x5l1"}))
    jane.get(jane.post("/desk/links/relocate", {"name": "ark:12345/x5l1", "key": "ark:12345/x5l1"}))
    desk.bindings.prefixes.set("12345", availability="lifetime", hosts="museum.example")
    ada.get("/desk/links/promises")


def test_requests(desk: Desk, jane: Pages) -> None:
    jane.get("/desk/requests")
    bind(desk, "ark:12345/x5q", "https://example.org/q")
    with desk.app.app_context():
        kept = site().statistics
    assert kept is not None
    kept.prepare()
    kept.add([DailyCount("ark:12345/x5q", desk.bindings.now().date(), 1000, 1)])
    jane.get("/desk/requests")
    jane.get("/desk/requests?period=months")
    jane.get("/desk/answers/unknown", 404)
