"""An embargo that a person enters as a day begins in the time zone of the person, at each door of the desk."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from ararat.webapp.desk.tables.columns import OTHER
from tests.webapp.desk.conftest import Browser, Desk
from tests.webapp.desk.tables.conftest import Preview, wait_for

# In Berlin, winter time begins on the last Sunday of October and ends on the last one of March.
DAYS = [
    pytest.param("2999-02-01", datetime(2999, 1, 31, 23, tzinfo=UTC), id="winter"),
    pytest.param("2999-07-01", datetime(2999, 6, 30, 22, tzinfo=UTC), id="summer"),
    pytest.param("2999-03-31", datetime(2999, 3, 30, 23, tzinfo=UTC), id="the day on which summer time begins"),
    pytest.param("2999-10-28", datetime(2999, 10, 27, 23, tzinfo=UTC), id="the day after it ends"),
]
NAME = "ark:12345/x51"
PREFERENCES = {"display_name": "", "language": "", "separator": "", "time_zone": "Europe/Berlin"}


@pytest.fixture(autouse=True)
def berlin(jane: Browser) -> None:
    assert jane.post("/desk/account/preferences", PREFERENCES).status_code == 303


def embargo(desk: Desk, name: str = NAME) -> datetime | None:
    found = desk.bindings.lookup(name)
    return found and found.embargo


@pytest.mark.parametrize(("day", "begin"), DAYS)
def test_a_day_in_the_form_of_a_name(desk: Desk, jane: Browser, day: str, begin: datetime) -> None:
    form = {"text": NAME, "target": "https://example.org/1", "status": "reserved", "embargo": day}
    assert jane.post("/desk/new/name", form).status_code == 303
    assert embargo(desk) == begin
    # The form shows the day again, and does not move it.
    page = jane.get("/desk/name/target", query_string={"name": NAME}).text
    assert f'value="{day}"' in page
    form = {"name": NAME, "revision": "1", "target": "https://example.org/2", "same": "on", "embargo": day}
    assert jane.post("/desk/name/target", form).status_code == 303
    assert embargo(desk) == begin


def test_a_time_has_its_own_offset(desk: Desk, jane: Browser) -> None:
    form = {"text": NAME, "target": "/1", "status": "reserved", "embargo": "2999-07-01T09:00:00-05:00"}
    assert jane.post("/desk/new/name", form).status_code == 303
    assert embargo(desk) == datetime(2999, 7, 1, 14, tzinfo=UTC)
    assert 'value="2999-07-01T16:00:00+02:00"' in jane.get("/desk/name/target", query_string={"name": NAME}).text


@pytest.mark.parametrize("template", ["", "https://example.org/${identifier}"])
def test_a_day_for_minted_names(desk: Desk, jane: Browser, template: str) -> None:
    form = {"shoulder": "ark:12345/x5", "count": "1", "state": "reserved", "template": template}
    assert jane.post("/desk/new/mint", {**form, "embargo": "2999-07-01"}).status_code == 303
    (found,) = desk.bindings.list_names().names
    assert found.embargo == datetime(2999, 6, 30, 22, tzinfo=UTC)


def test_a_day_for_selected_names(desk: Desk, jane: Browser) -> None:
    desk.bindings.reserve(NAME, "/1")
    form = {"do": "edit", "element": "embargo", "value": "2999-07-01", "pick": NAME}
    path = jane.post("/desk/names/change", form).headers["Location"]
    jobs = desk.app.extensions["ararat_imports"].jobs
    wait_for(lambda: not jobs.list_unfinished())
    assert jane.post(path).status_code == 303
    wait_for(lambda: not jobs.list_unfinished())
    assert embargo(desk) == datetime(2999, 6, 30, 22, tzinfo=UTC)


def test_a_day_in_a_table(desk: Desk, jane: Browser, preview: Preview, import_all: Callable[..., str]) -> None:
    rows = [f"{NAME},/1,reserved,2999-07-01", f"{NAME}2,/2,reserved,2999-07-01T00:00:00Z"]
    columns = {"column-2": "status", "column-3": OTHER, "other-3": "embargo"}
    path, _ = preview(jane, "\n".join(["identifier,target,status,embargo", *rows]), **columns)
    import_all(jane, path)
    assert embargo(desk) == datetime(2999, 6, 30, 22, tzinfo=UTC)
    assert embargo(desk, f"{NAME}2") == datetime(2999, 7, 1, tzinfo=UTC)
