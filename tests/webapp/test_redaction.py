"""Each door writes a text about a name. After a redaction of the name, no table and no file has any of these texts."""

from __future__ import annotations

import base64
import io
import json
import re
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ararat.bindings import holding
from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.log.kept_copies import delete_all_old
from ararat.bindings.log.redaction import redact
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.operations.withdrawal import restore_withdrawn, withdraw_below
from ararat.bindings.storage.tables import schema
from ararat.bindings.storage.tables.retention import COPIES_KEPT, of_table
from ararat.cli.main import main
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

NAME, OTHER = "ark:12345/x5p1", "ark:12345/x5p2"
JSON, PATCH, FORM = "application/json", "application/merge-patch+json", "application/x-www-form-urlencoded"
PAGE = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


PAGE_ONLY = "form of an ended session"  # in the answer to the form, and in no other place


OPERATION = {"operations.parameters"}


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 23, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@dataclass
class Site:
    """A site with a database, and the texts that its doors have written."""

    bindings: Bindings
    database: str
    folder: Path
    clock: Clock
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.app = create_app(self.bindings, ezid="/ezid", prefix="http://localhost", trace_elsewhere=False)
        self.accounts = Accounts(self.bindings)
        self.accounts.add("ada", "administrator")
        self.secret = self.accounts.tokens.create("ada", "test")[1]
        self.browser: FlaskClient | None = None

    def text(self, door: str) -> str:
        """Return the text of a door, which occurs nowhere else."""
        return self.texts.setdefault(door, f"Zebulon{len(self.texts):02}q Quatermass")

    def api(self, method: str, path: str, body: Any = None, kind: str = JSON, status: int = 0, **headers: str) -> Any:
        data = json.dumps(body) if kind in (JSON, PATCH) and body is not None else body
        fields = {"Authorization": f"Bearer {self.secret}", "Content-Type": kind if data is not None else ""}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.app.test_client().open(f"/api/v1{path}", method=method, data=data, headers=fields)
        assert answer.status_code == status or (not status and answer.status_code < 300), answer.text
        return answer.json

    def ended(self, path: str) -> Any:
        """Return a job of the API when it has ended."""
        deadline = time.monotonic() + 20
        while (job := self.api("GET", path))["state"] in ("waiting", "running"):
            assert time.monotonic() < deadline, job
            time.sleep(0.01)
        return job

    def change(self, operation: dict[str, Any], *, apply: bool = True) -> int:
        """Check a change of the name, carry it out, and return the number of the operation."""
        names = {} if operation["action"] == "undo" else {"names": [NAME]}
        checked = self.api("POST", "/changes", {"operation": operation, **names})
        assert self.ended(f"/changes/{checked['number']}")["state"] == "done"
        if not apply:
            return 0
        started = self.api("POST", f"/changes/{checked['number']}/apply")
        done = self.ended(f"/changes/{started['number']}")
        assert done["result"]["written"], done
        return done["result"]["operation"]

    def import_table(self, rows: str, **query: str) -> Any:
        added = self.api("POST", f"/imports?{'&'.join(map('='.join, query.items()))}", rows, "text/csv")
        return self.ended(f"/imports/{added['number']}")

    def sign_in(self) -> FlaskClient:
        account = self.accounts.get("ada")
        assert account
        client = self.app.test_client()
        client.set_cookie("ararat", self.accounts.sessions.start(account))
        return client

    def desk(self) -> FlaskClient:
        if self.browser is None:
            self.browser = self.sign_in()
        return self.browser

    def post(self, path: str, form: dict[str, Any], status: int = 303) -> TestResponse:
        found = re.search(r'name="csrf_token" value="([0-9a-f]+)"', self.desk().get("/sign-out").text)
        assert found
        answer = self.desk().post(path, data={"csrf_token": found[1], **form}, headers=PAGE)
        assert answer.status_code == status, answer.text
        return answer

    def run(self, *arguments: str) -> str:
        done = CliRunner().invoke(main, [*arguments, "--database", self.database])
        assert done.exit_code == 0, done.output
        return done.output


def library(site: Site) -> None:
    text = site.text("library")
    site.bindings.bind(NAME, "/1", metadata={"erc.who": text}, actor=site.text("actor of the library"))
    site.bindings.bind(NAME, "/1", metadata={"erc.who": "N. N."})
    site.bindings.bind(OTHER, "/2", metadata={"erc.who": "N. N."})


def operation_of_library(site: Site) -> None:
    actor = site.text("actor of an operation")
    done = withdraw_below(site.bindings, NAME, reason=site.text("withdrawal below"), actor=actor)
    assert done.operation
    restore_withdrawn(site.bindings, done.operation, actor=actor)


def command(site: Site) -> None:
    text, actor = site.text("command"), site.text("actor of the command")
    site.run("withdraw", NAME, "--reason", text, "--actor", actor)
    site.run("restore", NAME, "--actor", actor)


def table_of_command(site: Site) -> None:
    file = site.folder / f"{site.text('file of a table')}.csv"
    file.write_text(f"identifier,who\n{NAME},{site.text('table of the command')}\n", "utf-8")
    site.run("import", str(file), "--relocate")
    file.unlink()


def hold(site: Site) -> None:
    until = site.clock() + timedelta(days=30)
    holding.hold(site.bindings, NAME, until, site.text("hold"), actor=site.text("actor of a hold"))
    holding.release(site.bindings, NAME)
    site.api("POST", "/holds", {"name": NAME, "until": until.isoformat(), "reason": site.text("hold by the API")})
    holding.release(site.bindings, NAME)


def names_of_api(site: Site) -> None:
    site.api("POST", "/names", with_key(site), Idempotency_Key="a")
    site.api("PATCH", f"/names/{NAME}", {"metadata": {"erc.who": site.text("changed value")}}, PATCH)
    site.api("PATCH", f"/names/{NAME}", {"metadata": {"erc.who": "N. N."}}, PATCH)


def with_key(site: Site) -> dict[str, Any]:
    return {"names": [{"name": NAME, "target": "/1", "metadata": {"erc.who": site.text("idempotency")}}]}


def check_with_key(site: Site) -> None:
    operation = {"action": "edit", "fields": {"metadata": {"erc.who": site.text("idempotency of a check")}}}
    added = site.api("POST", "/changes", {"operation": operation, "names": [OTHER]}, Idempotency_Key="c")
    site.ended(f"/changes/{added['number']}")


def bulk_edit(site: Site) -> None:
    for value in (site.text("bulk edit"), "N. N."):
        site.change({"action": "edit", "fields": {"metadata": {"erc.who": value}}})


def preview(site: Site) -> None:
    site.change({"action": "edit", "fields": {"metadata": {"erc.what": site.text("preview")}}}, apply=False)


def bulk_withdrawal(site: Site) -> None:
    number = site.change({"action": "withdraw", "reason": site.text("bulk withdrawal")})
    site.change({"action": "undo", "operation": number})


def undo(site: Site) -> None:
    number = site.change({"action": "edit", "fields": {"metadata": {"erc.who": site.text("undo")}}})
    undo_operation(site.bindings, number, actor=site.text("actor of an undo"))


def table_of_api(site: Site) -> None:
    done = site.import_table(f"identifier,who\n{NAME},{site.text('table')}\n", relocate="1")
    assert done["state"] == "done", done
    site.import_table(f"identifier,who\n{NAME},N. N.\n", relocate="1")


def refused_row(site: Site) -> None:
    done = site.import_table(f"identifier,target\n{NAME},https://{site.text('refused row')}/\n", relocate="1")
    assert done["result"]["refused"], done
    done = site.import_table(f"identifier,embargo\n{NAME},{site.text('refused date')}\n", dry_run="1")
    assert done["result"]["refused"], done


def uploaded(site: Site) -> None:
    name = f"{site.text('name of an upload')}.csv"
    content = f"ARK;Urheber;Weblink\n{NAME};{site.text('upload')};/1\n{OTHER};x;https://a b/\n".encode()
    path = site.post("/desk/tables", {"file": (io.BytesIO(content), name)}).location.removesuffix("/columns")
    page = site.desk().get(f"{path}/columns").text
    chosen = {}
    for select, options in re.findall(r'<select id="([^"]+)".*?>(.*?)</select>', page, re.DOTALL):
        selected = re.search(r'value="([^"]*)" selected', options)
        chosen[select] = selected[1] if selected else ""
    site.post(f"{path}/columns", chosen)
    jobs = site.app.extensions["ararat_imports"].jobs
    while jobs.list_unfinished():
        time.sleep(0.01)
    # The table has no headings, so that the first row is taken for them.
    content = f"{NAME};{site.text('headings of an upload')};/1\n{NAME};x;/1\n".encode()
    path = site.post("/desk/tables", {"file": (io.BytesIO(content), "b.csv")}).location.removesuffix("/columns")
    site.post(f"{path}/columns", {"column-0": "identifier", "column-1": "who", "column-2": "target"})
    while jobs.list_unfinished():
        time.sleep(0.01)


def export(site: Site) -> None:
    site.bindings.bind(NAME, "/1", metadata={"erc.who": site.text("export")})
    word = site.text("export").partition(" ")[0]
    added = site.api("POST", "/exports", {"format": "csv", "selection": {"q": word}})
    assert site.ended(f"/exports/{added['number']}")["state"] == "done"


def ezid(site: Site) -> None:
    def ask(method: str, path: str, body: str, kind: str) -> str:
        headers = {"Authorization": f"Bearer {site.secret}", "Content-Type": kind}
        answer = site.app.test_client().open(f"/ezid{path}", method=method, data=body, headers=headers)
        assert answer.text.startswith("success"), answer.text
        return answer.text

    ask("POST", f"/id/{NAME}", f"erc.who: {site.text('EZID')}\n", "text/plain")
    column = site.text("column of a download")
    url = ask("POST", "/download_request", f"format=csv&column=_id&column={column.replace(' ', '+')}", FORM)
    site.app.test_client().get(url.removeprefix("success: http://localhost"))
    ask("POST", f"/id/{NAME}", "erc.who: N. N.\n", "text/plain")


def kept_form(site: Site) -> None:
    """An answer to a form with an old revision, and a form whose session has ended."""
    form = {"name": NAME, "revision": "1"}
    site.post("/desk/name/metadata", {**form, "m.erc.who": site.text("conflict in a form")})
    ended = {**form, "m.erc.who": site.text(PAGE_ONLY)}
    answer = site.sign_in().post("/desk/name/metadata", data=ended, headers=PAGE)
    assert (answer.status_code, site.text(PAGE_ONLY) in answer.text) == (403, True)


def succession(site: Site) -> None:
    site.bindings.prefixes.set("ark:12345/x5", who="A museum", contact=site.text("succession"))
    body = {"prefix": "ark:12345/x5", "to": "A library", "contact": "office@library.example"}
    site.api("POST", "/successions", body, Idempotency_Key="d")
    site.api("POST", "/successions?dry_run=1", body)


DOORS: tuple[Callable[[Site], None], ...] = (
    *(names_of_api, library, operation_of_library, command, table_of_command, hold, check_with_key, bulk_edit),
    *(preview, bulk_withdrawal, undo, table_of_api, refused_row, uploaded, export, ezid, kept_form, succession),
)


WORD = re.compile("zebulon[0-9]{2}q")


def readings(value: Any) -> Iterator[str]:
    """Yield a value of a database as text, and the texts that are packed in it."""
    data = value if isinstance(value, bytes) else str(value).encode()
    for text in (data, _unpacked(data), _unpacked(_decoded(data))):
        yield text.decode("utf-8", "replace")
        yield text.decode("utf-16-le", "replace")
    if isinstance(value, str) and value.startswith("[["):
        for each in json.loads(value):
            yield from readings(each[-1])


def _decoded(data: bytes) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return b""


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return b""


def places(site: Site) -> dict[str, set[str]]:
    """Return the columns in which each text is, by door."""
    found: dict[str, set[str]] = {}
    with site.bindings.store.transaction() as transaction:
        for table in schema.metadata.sorted_tables:
            # The parts of an export are packed together.
            parts = list(transaction.connection.execute(table.select().order_by(*table.primary_key.columns)).mappings())
            columns = {column.name: [row[column.name] for row in parts] for column in table.columns}
            if table.name == "export_parts":
                columns["data"] = [b"".join(columns["data"])]
            for name, values in columns.items():
                distinct = {each: None for each in values if each is not None}
                whole = "\n".join(reading for value in distinct for reading in readings(value)).lower()
                if not (found_words := set(re.findall(WORD, whole))):
                    continue
                for door, text in site.texts.items():
                    if text.partition(" ")[0].lower() in found_words:
                        found.setdefault(door, set()).add(f"{table.name}.{name}")
    return found


def in_files(site: Site) -> set[str]:
    """Return the doors whose text is in a file."""
    data = b"".join(path.read_bytes() for path in site.folder.rglob("*") if path.is_file()).lower()
    return {door for door, text in site.texts.items() if text.partition(" ")[0].lower().encode() in data}


def parts_of_trigrams(site: Site) -> int:
    """Return the number of parts of the full-text index. Only older parts can have deleted trigrams."""
    with site.bindings.store.transaction() as transaction:
        if transaction.dialect_name != "sqlite":
            return 1
        count = "SELECT count(DISTINCT segid) FROM search_trigrams_idx"
        return transaction.connection.exec_driver_sql(count).scalar_one()


@pytest.fixture
def site(database: str, open_store: Callable[..., Bindings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    clock = Clock()
    return Site(open_store(database, clock=clock), database, tmp_path, clock)


KEPT = {"succession": {"prefixes.lineage", "prefix_events.contact", "prefix_events.lineage"}}
"""The texts that a redaction of a name does not concern: those of the record of its prefix."""


def test_no_text_of_a_redacted_name_is_kept(site: Site) -> None:
    for door in DOORS:
        door(site)
    assert {*site.texts} - {*places(site)} == {PAGE_ONLY}, "a door has written nothing"
    done = redact(site.bindings, NAME)
    assert {door: found for door, found in places(site).items() if found != KEPT.get(door)} == {}
    assert in_files(site) <= {*KEPT}
    assert parts_of_trigrams(site) == 1
    assert done.is_erased is (True if site.database.startswith("sqlite") else None)
    assert list(verify(site.bindings)) == []


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_copies_are_deleted_after_thirty_days(site: Site) -> None:
    for door in (library, bulk_edit, preview, bulk_withdrawal, table_of_api, refused_row, uploaded, export, kept_form):
        door(site)
    copies = {f"{table.name}.{column}" for table in schema.TABLES for column in of_table(table).copies}
    before = {door: found & copies for door, found in places(site).items()}
    assert before["bulk edit"] == before["bulk withdrawal"] == {"jobs.parameters", "jobs.result", *OPERATION}
    site.clock.now += COPIES_KEPT - timedelta(hours=1)
    delete_all_old(site.bindings)
    assert {door for door, found in places(site).items() if found & {"jobs.parameters", *OPERATION}}
    site.clock.now += timedelta(hours=2)
    delete_all_old(site.bindings)
    left = {door: found & copies for door, found in places(site).items() if found & copies}
    assert left == {"headings of an upload": {"column_mappings.reading"}}
    # What an undo needs stays.
    number = site.api("GET", "/operations")["operations"][-1]["number"]
    assert undo_operation(site.bindings, number, dry_run=True, skip_changed=True).names == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_pages_and_answers_state_that_details_are_deleted(site: Site) -> None:
    names_of_api(site)
    library(site)
    number = site.change({"action": "edit", "fields": {"metadata": {"erc.who": site.text("bulk edit")}}})
    site.import_table(f"identifier,who\n{NAME},{site.text('table')}\n", relocate="1")
    added = site.api("POST", "/changes", {"operation": {"action": "withdraw"}, "names": [NAME, OTHER]})
    site.ended(f"/changes/{added['number']}")
    ezid(site)
    export(site)
    redact(site.bindings, NAME)
    check, change, table, unused, *_ = range(1, 5)
    shown = site.api("GET", f"/changes/{change}")
    assert (shown["operation"], shown["result"]["counts"]) == ({"action": "edit"}, {"updated": 1})
    assert (shown["result"]["effects"], shown["result"]["operation"], bool(shown["emptied"])) == ([], number, True)
    assert site.api("GET", f"/imports/{table}")["result"]["counts"] == {"updated": 1}
    stopped = site.api("GET", f"/changes/{unused}")
    assert (stopped["state"], stopped["problem"]["code"]) == ("failed", "name-redacted")
    assert site.api("POST", f"/changes/{unused}/apply", status=409)["code"] == "check-unfinished"
    assert site.api("POST", f"/changes/{check}/apply", status=409)["code"] == "check-used"
    again = site.api("POST", "/names", with_key(site), status=409, Idempotency_Key="a")
    assert again["code"] == "idempotency-reply-deleted"
    operation = next(each for each in site.api("GET", "/operations")["operations"] if each["number"] == number)
    assert [*operation["parameters"]] == ["emptied"]
    for path, sentence in (
        (f"/desk/many/{change}", "1 name is changed."),
        (f"/desk/many/{change}", "The details are deleted."),
        (f"/desk/many/{unused}", "A name was redacted meanwhile."),
        (f"/desk/changes/{number}", "Texts deleted"),
        ("/desk/exports", "deleted"),
    ):
        assert sentence in html_text(site.desk().get(path)), path


def html_text(answer: TestResponse) -> str:
    assert answer.status_code == 200, answer.text
    return re.sub(r"<[^>]+>|\s+", " ", answer.text)
