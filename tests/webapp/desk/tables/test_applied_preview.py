"""An import of the desk applies its preview, and reads a file as the command does."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ararat.bindings.operations import pace
from ararat.bindings.operations.runner import OperationRun
from tests.webapp.desk.conftest import Browser, Desk

from .conftest import counts

NAME = "ark:12345/x5c"


def title(desk: Desk) -> str:
    found = desk.bindings.lookup(NAME)
    assert found is not None
    return found.metadata["erc.what"]


def test_a_row_whose_recorded_value_changed_since_the_preview_is_not_applied(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    desk.bindings.bind(NAME, "https://example.org/c", metadata={"what": "Before"})
    path, page = preview(jane, f"identifier,what\n{NAME},From the table\n")
    assert counts(page)["Changed"] == 1
    desk.bindings.bind(NAME, "https://example.org/c", metadata={"what": "In between"})
    page = import_all(jane, path)
    assert title(desk) == "In between"
    assert counts(page)["Refused"] == 1
    assert "The recorded values are not those of the preview" in page
    assert "preview-changed" in jane.get(f"{path}/report.csv").text
    assert "Preview again" in page


def test_a_row_that_is_refused_while_the_others_are_written_is_shown(
    desk: Desk, jane: Browser, preview: Any, import_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BLOCK", 2)
    rows = "".join(f"ark:12345/x5s{number},https://example.org/{number}\n" for number in range(5))
    path, _ = preview(jane, f"identifier,target\n{rows}")
    write = OperationRun.write

    def write_later(self: Any) -> Any:
        desk.bindings.bind("ark:12345/x5s3", "https://example.org/other")
        return write(self)

    monkeypatch.setattr(OperationRun, "write", write_later)
    page = " ".join(import_all(jane, path).split())
    assert "4 rows imported." in page
    assert "1 row was refused, because its name was changed after the preview." in page
    assert (counts(page)["Refused"], counts(page)["Added"]) == (1, 4)
    assert "Preview again" in page
    [undo] = re.findall(r'href="(/desk/changes/\d+/undo)"', page)[:1]
    assert "Undo operation" in jane.get(undo).text


def test_a_running_import_is_stopped_on_the_page_that_shows_its_progress(
    desk: Desk, jane: Browser, preview: Any, import_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BLOCK", 2)
    rows = "".join(f"ark:12345/x5s{number},https://example.org/{number}\n" for number in range(5))
    path, page = preview(jane, f"identifier,target\n{rows}")
    assert "Stop the operation" not in page
    other = desk.signed_in("jane")
    stopped: list[str] = []

    def rest(self: Any) -> None:
        if desk.bindings.list_operations() and not stopped:
            stopped.extend(re.findall(r'action="(/desk/changes/1/stop)"', other.get(path).text))
            assert other.post(stopped[0]).status_code == 303

    monkeypatch.setattr(pace.BlockPace, "rest", rest)
    page = " ".join(import_all(jane, path).split())
    assert stopped == ["/desk/changes/1/stop"]
    assert "The import ended. The rows before are imported." in page
    assert "Stop the operation" not in page
    assert len(desk.bindings.list_names().names) == 2
    [undo] = re.findall(r'href="(/desk/changes/\d+/undo)"', page)[:1]
    assert "Undo operation" in jane.get(undo).text


def test_a_change_of_another_value_does_not_stop_the_import(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    desk.bindings.bind(NAME, "https://example.org/c", metadata={"what": "Before"})
    path, _ = preview(jane, f"identifier,what\n{NAME},From the table\n")
    desk.bindings.bind(NAME, "https://example.org/c", metadata={"who": "Noah"})
    import_all(jane, path)
    assert title(desk) == "From the table"


def test_reserved_names_that_become_public_have_their_own_part(desk: Desk, jane: Browser, preview: Any) -> None:
    desk.bindings.reserve(NAME)
    _, page = preview(jane, f"identifier,target,status\n{NAME},https://example.org/c,live\n")
    assert (counts(page)["Added"], counts(page)["Published"]) == (0, 1)
    assert "1 name becomes public, and can never be deleted" in page
    _, page = preview(jane, f"identifier,target\n{NAME},https://example.org/c\n")
    assert (counts(page)["Changed"], counts(page)["Published"]) == (1, 0)


def test_a_file_with_two_encodings_is_refused_unless_its_encoding_is_selected(
    desk: Desk, jane: Browser, upload: Any
) -> None:
    content = b"identifier,target,what\nark:12345/x5a,https://a.example/,Gl" + b"\xf6cke\n"
    content += "ark:12345/x5b,https://a.example/b,Gro\u00dfe\n".encode()
    path = upload(jane, content)
    page = jane.get(f"{path}/columns").text
    assert "this line is UTF-8, but line 2 is not" in page.replace("This", "this")
    jane.post(f"{path}/columns", {"encoding": "windows-1252", "separator": ",", "read": "1"})
    assert "is UTF-8, but line" not in jane.get(f"{path}/columns").text
