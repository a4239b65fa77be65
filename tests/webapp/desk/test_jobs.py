"""Jobs that their server ended are continued on their pages, which say what a job waits for."""

from __future__ import annotations

import time

import pytest

from ararat.webapp.management import bulk


@pytest.fixture
def imports(desk, monkeypatch):
    monkeypatch.setattr(bulk, "MAX_NAMES", 2)
    for number in range(3):
        desk.bindings.bind(f"ark:12345/x5{number}", f"https://old.example/{number}")
    return desk.app.extensions["ararat_imports"]


def started(kind, jane):
    """Start a job of a kind, and return the address of its page."""
    if kind == "check":
        move = {"source": "old.example", "destination": "https://new.example", "below": ""}
        return jane.post("/desk/moves", move).headers["Location"]
    return jane.post("/desk/exports", {"form": "csv"}).headers["Location"]


@pytest.mark.parametrize("kind", ["check", "export"])
def test_a_stopped_job_is_continued_on_its_page(kind, imports, desk, jane, rita, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(imports.worker, "wake", lambda: None)
        page = started(kind, jane)
        claim = imports.jobs.claim()
        imports.worker._waits[claim.job.number] = "database-full"
        assert "The disk of the database is full." in jane.get(page).text
        imports.worker._waits.clear()
        imports.jobs.fail(claim, "attempts", "its process ended")
        resume = f"/desk/jobs/{claim.job.number}/resume"
        assert f'action="{resume}"' in jane.get(page).text
        assert rita.post(resume).status_code == 404
    assert jane.post(resume).headers["Location"] == page
    deadline = time.monotonic() + 20
    while not imports.get(claim.job.number).is_finished:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert imports.get(claim.job.number).state == "done"
    assert "The job continues." in jane.get(page).text
    jane.post(resume)
    assert "The job cannot be resumed" in jane.get(page).text
    assert resume not in jane.get(page).text


# Each door to a job, and the kind of its jobs.
DOORS = [
    ("get", "/api/v1/imports/{}", "import"),
    ("post", "/api/v1/imports/{}/resume", "import"),
    ("get", "/api/v1/changes/{}", "bulk-check"),
    ("post", "/api/v1/changes/{}/resume", "bulk-check"),
    ("get", "/api/v1/exports/{}", "export"),
    ("get", "/api/v1/exports/{}/file", "export"),
    ("post", "/api/v1/exports/{}/resume", "export"),
    ("get", "/desk/many/{}", "bulk-check"),
    ("post", "/desk/many/{}", "bulk-check"),
    ("get", "/desk/exports/{}", "export"),
    ("post", "/desk/jobs/{}/resume", "import"),
]


@pytest.mark.parametrize(("method", "path", "kind"), DOORS, ids=[f"{method} {path}" for method, path, _ in DOORS])
def test_a_job_of_another_account_does_not_exist(method, path, kind, imports, jane, ada, rita, monkeypatch):
    monkeypatch.setattr(imports.worker, "wake", lambda: None)
    owner = imports.accounts.get("jane").number
    add = lambda connection: imports.jobs.add(connection, owner, kind, {"action": "edit"}, b"", 0)  # noqa: E731
    job = imports.accounts.run_in_transaction(add)
    for number in (job.number, job.number + 1, 2**31, 10**30):
        assert getattr(rita, method)(path.format(number)).status_code == 404
    # The owner and an administrator reach it; the file of a waiting export does not exist yet.
    if path != "/desk/exports/{}":
        assert all(getattr(each, method)(path.format(job.number)).status_code != 404 for each in (jane, ada))
