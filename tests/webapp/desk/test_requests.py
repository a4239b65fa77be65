"""The page of requests, and the plot on the page of a name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from ararat.middleware.statistics.counts import CountStore, DailyCount
from ararat.webapp import create_app
from ararat.webapp.desk.requests import requests_in

from .conftest import Browser, Desk, open_desk

X, Y = "ark:12345/x5a", "ark:12345/y"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("requests") / "counts.sqlite")


@pytest.fixture(scope="module")
def counting(place: str) -> Iterator[Desk]:
    """A desk with counts: two names today, one of them 40 and 400 days ago."""
    desk = open_desk(Path(place).parent, statistics=place)
    counts, today = CountStore.at(place), desk.bindings.now().date()
    counts.prepare()
    counts.add([DailyCount(X, today - timedelta(ago), 1000, 3) for ago in (0, 40, 400)])
    counts.add([DailyCount(Y, today, 1, 1)])
    for name in (X, Y, "ark:12345/never"):
        desk.bindings.bind(name, "https://example.org/")
    yield desk
    desk.bindings.close()


@pytest.fixture
def reader(counting: Desk) -> Browser:
    return counting.signed_in("rita")


def test_the_most_requested_names_of_a_period_are_listed(reader: Browser) -> None:
    days, months = reader.get("/desk/requests").text, reader.get("/desk/requests?period=months").text
    assert "1,001 resolutions, 4 descriptions" in days
    assert "2,001 resolutions, 7 descriptions" in months
    assert 0 < days.index(f"name={X}") < days.index(f"name={Y}")
    assert reader.get("/desk/requests?period=%E2%80%AE").status_code == 200


def test_the_counts_are_exported(reader: Browser) -> None:
    rows = [*csv.reader(io.StringIO(reader.get("/desk/requests.csv?period=months").text.removeprefix("\ufeff")))]
    assert rows == [["name", "resolutions", "descriptions"], [X, "2000", "6"], [Y, "1", "1"]]
    (first, _) = reader.get("/desk/requests.jsonl").text.splitlines()
    assert json.loads(first) == {"name": X, "resolutions": 1000, "descriptions": 3}


def test_the_page_of_a_name_has_its_requests(reader: Browser) -> None:
    page = reader.get(f"/desk/name?name={X}").text
    assert "In the last 12 months: 2,000 resolutions, 6 descriptions" in page
    assert "not requested in the last 12 months" in reader.get("/desk/name?name=ark:12345/never").text


def test_without_statistics_the_page_states_how_to_start(desk: Desk, rita: Browser) -> None:
    assert "--statistics FILE" in rita.get("/desk/requests").text
    assert len(rita.get("/desk/requests.csv").text.splitlines()) == 1
    desk.bindings.bind(X, "https://example.org/")
    assert "last 12 months" not in rita.get(f"/desk/name?name={X}").text


def test_counts_that_cannot_be_read_hide_no_name(reader: Browser, place: str, caplog) -> None:
    hidden = Path(place).rename(f"{place}.hidden")
    page = reader.get(f"/desk/name?name={X}")
    assert (page.status_code, "last 12 months" in page.text) == (200, False)
    assert "cannot be read now" in reader.get("/desk/requests").text
    assert "The statistics cannot be read" in caplog.text
    assert reader.get("/desk/requests.csv").status_code == 503
    hidden.rename(place)


def test_times_have_no_gaps(counting: Desk, place: str) -> None:
    found = requests_in(CountStore.at(place), "months", date(2026, 1, 31))
    assert [each.label for each in found.times] == [f"2025-{month:02}" for month in range(2, 13)] + ["2026-01"]
    days = requests_in(CountStore.at(place), "days", date(2024, 3, 1)).times
    assert (len(days), days[0].label, days[-2].label) == (30, "2024-02-01", "2024-02-29")


def test_a_wrong_place_is_refused() -> None:
    with pytest.raises(ValueError, match=r"statistics: counts\.csv is not the name of a database"):
        create_app(statistics="counts.csv")
