"""The page of figures for a report."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ararat.middleware.statistics.counts import CountStore, DailyCount
from ararat.webapp.desk.names import figures
from ararat.webapp.language.current import languages

from ..conftest import Browser, Desk, open_desk

X, Y, Z = "ark:12345/x5a", "ark:12345/y6b", "ark:12345/y6c"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk with three names, one of them withdrawn, and with requests."""
    folder = Path(tmp_path_factory.mktemp("figures"))
    place = str(folder / "counts.sqlite")
    desk = open_desk(folder, statistics=place)
    counts = CountStore.at(place)
    counts.prepare()
    counts.add([DailyCount(X, desk.bindings.now().date(), 1000, 3)])
    bind = desk.bindings.bind
    bind(X, "https://m.example/1", resource="INV 1", metadata={"what": "View of the harbour"})
    bind(Y, "https://m.example/2", resource="INV 2")
    bind(Z, "https://m.example/3")
    desk.bindings.withdraw(Z, reason="lost")
    yield desk
    desk.bindings.close()


@pytest.fixture
def reader(report: Desk) -> Browser:
    return report.signed_in("rita")


def exported(reader: Browser, query: str = "") -> list[list[str]]:
    return [*csv.reader(io.StringIO(reader.get(f"/desk/figures.csv{query}").text.removeprefix("\ufeff")))]


def test_the_page_has_states_shoulders_periods_and_requests(reader: Browser) -> None:
    page = reader.get("/desk/figures").text
    shown = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "3 names" in shown
    assert "Live 2 Reserved 0 Withdrawn 1 Dead targets 0" in shown
    assert "ark:12345/y6 2" in shown
    assert "View of the harbour INV 1 ark:12345/x5a 1,003" in shown
    assert page.count("<rect") >= 12
    assert "by=year" in reader.get("/desk/figures?by=year").text


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("unit", figures.UNITS)
def test_the_page_and_its_export_are_in_each_language(report: Desk, reader: Browser, language: str, unit: str) -> None:
    now = report.bindings.now()
    accepted = {"Accept-Language": language}
    page = reader.get(f"/desk/figures?by={unit}", headers=accepted)
    assert page.status_code == 200
    assert f'<html lang="{language}"' in page.text
    if language == "fr":  # The headings have the gender of the names.
        assert all(f'<th scope="col">{each}</th>' in page.text for each in ("Nouveaux", "Modifiés", "Retirés"))
    years = [str(now.year - each) for each in range(1 if unit == "month" else figures.YEARS)]
    assert all(each in page.text for each in years)
    assert reader.get(f"/desk/figures.csv?by={unit}", headers=accepted).status_code == 200


def test_the_figures_are_exported(report: Desk, reader: Browser) -> None:
    rows = exported(reader)
    month = f"{report.bindings.now():%Y-%m}"
    assert rows[0] == ["Figure", "Label", "Number", "Complete"]
    assert ["Names", "", "3", "yes"] in rows
    assert ["By state", "Withdrawn", "1", "yes"] in rows
    assert ["New", month, "3", "yes"] in rows
    assert ["Withdrawn", month, "1", "yes"] in rows
    assert ["Most requested names", "ark:12345/x5a INV 1 View of the harbour", "1003", "yes"] in rows
    assert ["New", month[:4], "3", "yes"] in exported(reader, "?by=year")


def test_the_figures_of_a_prefix(reader: Browser) -> None:
    rows = exported(reader, "?prefix=ark:/12345/y6")
    assert ["Names", "", "2", "yes"] in rows
    assert ["By state", "Live", "1", "yes"] in rows
    assert ["By shoulder", "ark:12345/y6", "2", "yes"] in rows
    assert not any(row[0] == "Most requested names" for row in rows)
    assert "nonsense is not the beginning" in reader.get("/desk/figures?prefix=nonsense").text
    assert reader.get("/desk/figures.csv?prefix=nonsense").status_code == 400


def test_names_are_counted_up_to_a_number(report: Desk, reader: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST", 0)
    # The database keeps the number of the names of a shoulder, and not of a part of them.
    assert ["Names", "", "2", "yes"] in exported(reader, "?prefix=ark:12345/y6")
    part = "?prefix=ark:12345/y6b"
    rows = exported(reader, part)
    assert ["Names", "", "0", "no"] in rows
    assert ["By state", "Withdrawn", "0", "yes"] in rows
    assert not any(row[0] == "By shoulder" for row in rows)
    page = reader.get(f"/desk/figures{part}").text
    assert "No shoulder is counted." in page
    assert "0+" in page
