"""Uploads of tables in the desk, and their jobs."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest

from tests.webapp.desk.conftest import Browser, Desk, wait_for

Upload = Callable[..., str]
Preview = Callable[..., tuple[str, str]]


@pytest.fixture
def upload() -> Upload:
    """upload(browser, content, name) uploads a file and returns the path of its page."""

    def send(browser: Browser, content: bytes | str, name: str = "names.csv") -> str:
        data = content.encode() if isinstance(content, str) else content
        sent = browser.post("/desk/tables", {"file": (io.BytesIO(data), name)})
        assert sent.status_code == 303, sent.text
        return sent.location.removesuffix("/columns")

    return send


def fields(page: str) -> dict[str, str]:
    """Return the selected values of the form of columns."""
    found = {}
    for name, options in re.findall(r'<select id="([^"]+)".*?>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        found[name] = chosen[1] if chosen else ""
    return found


def counts(page: str) -> dict[str, int]:
    """Return the number of rows by the label of each part."""
    found = re.findall(r">(\w[\w ]+) <span>([0-9]+)</span></a>", page)
    return {_PARTS.get(label) or label: int(number) for label, number in found}


_PARTS = {"New": "Added", "As recorded": "Unchanged"}


def finished(desk: Desk, browser: Browser, path: str) -> str:
    """Return the page of an upload as soon as its job has ended."""
    wait_for(lambda: not desk.app.extensions["ararat_imports"].jobs.list_unfinished())
    page = browser.get(path).text
    assert 'id="progress"' not in page
    return page


@pytest.fixture
def preview(desk: Desk, upload: Upload) -> Preview:
    """preview(browser, content, name, **form) uploads a file, accepts the guessed columns, and returns the preview."""

    def send(browser: Browser, content: bytes | str, name: str = "names.csv", **form: str) -> tuple[str, str]:
        path = upload(browser, content, name)
        page = browser.get(f"{path}/columns").text
        sent = browser.post(f"{path}/columns", {**fields(page), **form})
        assert sent.status_code == 303, sent.text
        assert sent.location == path
        return path, finished(desk, browser, path)

    return send


@pytest.fixture
def import_all(desk: Desk) -> Callable[..., str]:
    """import_all(browser, path) sends the form of a preview and returns the page of the result."""

    def send(browser: Browser, path: str, **form: str) -> str:
        page = browser.get(path).text
        job = re.search(r'name="job" value="(\d+)"', page)
        assert job
        skip = {"skip": "1"} if 'name="skip"' in page else {}
        sent = browser.post(f"{path}/import", {"job": job[1], **skip, **form})
        assert sent.status_code == 303
        return finished(desk, browser, path)

    return send
