"""Changes of many names in the desk: large moves and undos as jobs, with a check, a button and a progress."""

from __future__ import annotations

import re
import time
from datetime import timedelta

import pytest

from ararat.bindings.log import kept_copies
from ararat.bindings.operations import pace
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.storage.tables.retention import COPIES_KEPT
from ararat.webapp.jobs.queue import MAX_DEATHS
from ararat.webapp.management import bulk

MOVE = {"source": "old.example", "destination": "https://new.example", "below": ""}


@pytest.fixture(autouse=True)
def few(desk, monkeypatch):
    """Three names of the curator and one of another account, which are too many for one transaction."""
    monkeypatch.setattr(bulk, "MAX_NAMES", 2)
    for number in range(3):
        desk.bindings.bind(f"ark:12345/x5{number}", f"https://old.example/{number}")
    desk.bindings.bind("ark:12345/y1", "https://old.example/other")


def finished(browser, answer):
    """Wait until a job has ended, and return the text of its page and its path."""
    assert answer.status_code == 303, answer.text
    path, deadline = answer.headers["Location"], time.monotonic() + 20
    while 'hx-trigger="every 1s"' in (text := browser.get(path).text):
        assert time.monotonic() < deadline, text
        time.sleep(0.01)
    return " ".join(text.split()), path


def test_a_large_move_and_its_undo_are_jobs(desk, jane, ada):
    before = [each.target for each in desk.bindings.list_names().names]
    text, path = finished(jane, jane.post("/desk/moves", MOVE))
    assert "1 name cannot be changed" in text
    assert "ark:12345/y1" in text
    assert "https://new.example/2" in text
    assert "Change the other 3 names" in text
    assert [each.target for each in desk.bindings.list_names().names] == before
    text, _ = finished(jane, jane.post(path, {"skip": "1"}))
    assert "3 names are changed" in text
    [operation] = re.findall(r"/desk/changes/(\d+)", text)[:1]
    assert desk.bindings.lookup("ark:12345/x52").target == "https://new.example/2"
    assert "Nothing was changed" in jane.get(jane.post(path, {"skip": "1"}).headers["Location"]).text

    assert "Check the undo" in ada.get(f"/desk/changes/{operation}/undo").text
    text, path = finished(ada, ada.post(f"/desk/changes/{operation}/undo-many"))
    assert "This changes 3 names" in text
    finished(ada, ada.post(path))
    assert [each.target for each in desk.bindings.list_names().names] == before


def test_refused_names_are_left_out_only_on_request(desk, jane):
    _, path = finished(jane, jane.post("/desk/moves", MOVE))
    assert jane.post(path).status_code == 303
    assert "1 name is refused" in jane.get(path).text
    assert desk.bindings.lookup("ark:12345/x52").target == "https://old.example/2"


def test_others_see_no_job_and_readers_start_none(desk, jane, ada, rita):
    _, path = finished(ada, ada.post("/desk/moves", MOVE))
    assert ada.get(path).status_code == 200
    assert jane.get(path).status_code == 404
    assert jane.post(path).status_code == 404
    assert rita.post("/desk/moves", MOVE).status_code == 403
    assert jane.get("/desk/many/999999999999").status_code == 404


def test_an_operation_whose_server_stopped_several_times_is_resumed(desk, jane, ada, monkeypatch):
    """A block is written, and then the job ends its worker each time."""
    imports = desk.app.extensions["ararat_imports"]
    for number in range(3, 6):
        desk.bindings.bind(f"ark:12345/x5{number}", f"https://old.example/{number}")
    _, path = finished(jane, jane.post("/desk/moves", MOVE))
    while imports.worker._thread is not None:
        time.sleep(0.01)
    monkeypatch.setattr(pace, "BLOCK", 4)
    monkeypatch.setattr(imports.worker, "wake", lambda: None)
    monkeypatch.setattr(imports.jobs, "lease", -1000.0)
    stopping = jane.post(path, {"skip": "1"}).headers["Location"]
    # The first process writes a block, and the others none.
    for _ in range(1 + MAX_DEATHS):
        claim = imports.jobs.claim()

        def stop(number):
            if number > 4:
                raise SystemExit

        with pytest.raises(SystemExit):
            imports.bulk.carry_out(claim, stop)
    assert imports.jobs.claim() is None
    page = jane.get(stopping).text
    assert "ended 3 times without progress" in page
    assert "No name was changed" not in page
    assert "Show operation" in page
    [operation] = desk.bindings.list_operations()
    assert (operation.names, operation.finished is None) == (4, False)
    page = f"/desk/changes/{operation.number}"
    text = " ".join(jane.get(page).text.split())
    assert "The operation did not end" in text
    assert "Resume it to change the others" in text
    assert "Preview the undo" in text
    monkeypatch.undo()
    assert jane.post(f"{page}/resume").headers["Location"] == page
    # While it runs, it is not undone.
    deadline = time.monotonic() + 20
    while any(each.finished is None for each in desk.bindings.list_operations()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    text, _ = finished(jane, jane.post(f"{page}/resume"))
    assert "cannot be resumed" in text
    assert "did not end" not in text
    assert desk.bindings.lookup("ark:12345/x55").target == "https://new.example/5"


def test_an_operation_that_has_not_ended_is_stopped_on_its_page(desk, jane, ada, monkeypatch):
    """A command was killed behind a block: its names are changed, and no job continues it."""
    monkeypatch.setattr(pace, "BLOCK", 1)

    def kill(number):
        if number == 1 and desk.bindings.list_operations():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        relocate_prefix(desk.bindings, "old.example", "new.example", prefix="ark:12345/x5", actor="jane", progress=kill)
    page = "/desk/changes/1"
    refused = jane.get(f"{page}/undo")
    assert refused.status_code == 409
    assert "has not ended" in refused.text
    assert f'href="{page}"' in refused.text
    text = jane.get(page).text
    assert "Stop the operation" in text
    assert "Preview the undo" not in text
    assert jane.post(f"{page}/stop").headers["Location"] == page
    text = jane.get(page).text
    assert "The operation 1 is stopped after 1 name." in text
    assert "Preview the undo" in text
    assert jane.post(f"{page}/undo").status_code == 303
    assert desk.bindings.list_operations()[1].undone_by == 2


def test_a_running_change_is_stopped_on_the_page_that_shows_its_progress(desk, jane, monkeypatch):
    monkeypatch.setattr(pace, "BLOCK", 1)
    other, pages = desk.signed_in("jane"), []
    _, checked = finished(jane, jane.post("/desk/moves", MOVE))
    running = f"/desk/many/{int(checked.rpartition('/')[2]) + 1}"

    def rest(self):
        if desk.bindings.list_operations() and not pages:
            pages.append(other.get(running).text)
            [button] = re.findall(r'action="(/desk/changes/1/stop)"', pages[0])
            pages.append(other.post(button).headers["Location"])

    monkeypatch.setattr(pace.BlockPace, "rest", rest)
    text, path = finished(jane, jane.post(checked, {"skip": "1"}))
    assert path == running
    assert pages[1] == "/desk/changes/1"
    assert "Operation 1 changed 1 name, and can be undone" in text
    assert "Stop the operation" not in text
    assert [each.names for each in desk.bindings.list_operations()] == [1]


def test_a_check_whose_texts_were_deleted_changes_nothing(desk, jane):
    _, path = finished(jane, jane.post("/desk/moves", MOVE))
    later = desk.bindings.now() + COPIES_KEPT + timedelta(hours=1)
    current = desk.app.extensions["ararat_imports"].accounts
    current.run_in_transaction(lambda connection: kept_copies.delete_old(connection, later))
    jane = desk.signed_in("jane")
    assert jane.get(path).status_code == 200
    answer = jane.post(path, {"skip": "1"})
    assert answer.status_code == 303
    assert "Nothing was changed" in jane.get(answer.headers["Location"]).text
    assert desk.bindings.lookup("ark:12345/x52").target == "https://old.example/2"
