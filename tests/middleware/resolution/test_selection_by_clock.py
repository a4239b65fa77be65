"""Selection by the clock: a name whose embargo has passed is found at once, without a writer, with the embargo as
the time of its change. The clock can jump.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.bindings.imports.exporting import table_lines
from ararat.bindings.names.binding import rfc3339
from ararat.bindings.names.selection import select
from ararat.bindings.open import open_bindings
from ararat.bindings.publication import publish_due
from ararat.middleware import Bindings, ResolverMiddleware

# In this night the clocks of Central Europe go back from 3 to 2, one hour later.
DATE = datetime(2999, 10, 27, 0, 30, tzinfo=UTC)
NAME, OTHER = "ark:12345/x1", "ark:12345/y1"
HOUR = timedelta(hours=1)


class Clock:
    now = DATE - timedelta(days=2)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["database", "file"])
def bindings(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Bindings]:
    path = tmp_path / ("names.csv" if request.param == "file" else "names.sqlite")
    local = "2999-10-27T02:30:00+02:00"
    if request.param == "file":
        lines = ["identifier,target,status,embargo,what", f"{NAME},/1,reserved,{local},Map", f"{OTHER},/y,,,Other"]
        path.write_text("\n".join(lines) + "\n")
    else:
        with open_bindings(path, create=True, clock=clock) as new:
            new.bind(NAME, "/1", embargo=local, metadata={"what": "Map"})
            new.bind(OTHER, "/y", metadata={"what": "Other"})
    with open_bindings(path, clock=clock) as opened:
        yield opened


def site(environ: object, start_response: object) -> list[bytes]:
    raise AssertionError("the site is not asked")


class Doors:
    """The ways to select names by the time of their change. Each returns the time of the name with the embargo."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        app = ResolverMiddleware(site, bindings, prefix="https://ids.example", oai="/oai", atom="/new.atom")
        self._client = Client(app)

    def oai(self, since: datetime) -> str | None:
        found = self._client.get(f"/oai?verb=ListRecords&metadataPrefix=oai_dc&from={since:%Y-%m-%dT%H:%M:%SZ}").text
        return dict(re.findall(r"<identifier>([^<]*)</identifier>\s*<datestamp>([^<]*)", found)).get(NAME)

    def listed(self, since: datetime) -> str | None:
        page = self._bindings.list_names(select(changed_since=since, sort="changed", state="live"))
        return next((_seconds(each.recorded_at) for each in page.names if each.identifier == NAME), None)

    def exported(self, since: datetime) -> str | None:
        lines = "".join(line for _, line in table_lines(self._bindings, "csv", since))
        for row in csv.DictReader(io.StringIO(lines)):
            if row["identifier"] == NAME:
                return _seconds(datetime.fromisoformat(row["changed"])) if row["status"] in ("", "live") else None
        return None

    def atom(self, since: datetime) -> str | None:
        found = re.findall(r"<entry>(.*?)</entry>", self._client.get("/new.atom").text, re.DOTALL)
        times = [re.findall(r"<updated>([^<]*)", each)[0] for each in found if NAME in each]
        return next((_seconds(datetime.fromisoformat(each)) for each in times), None)

    def ranges(self, since: datetime) -> str | None:
        ranges = self._bindings.store.ranges()
        state = ranges.state("ark:", "ark;")
        found = next((each for each in ranges.live("ark:", "ark;", 10) if each.key == NAME), None)
        if found is None:
            return None
        assert found.changed is not None
        assert state.changed == found.changed
        return _seconds(found.changed)


def _seconds(time: datetime) -> str:
    return rfc3339(time.replace(microsecond=0)).replace(".000000", "")


@pytest.mark.parametrize("door", ["oai", "listed", "exported", "atom", "ranges"])
def test_a_name_whose_embargo_has_passed_is_selected_at_once_with_the_embargo_as_its_time(
    bindings: Bindings, clock: Clock, door: str
) -> None:
    if door == "oai" and bindings.kind != "database":
        pytest.skip("a file has no OAI-PMH")
    found = getattr(Doors(bindings), door)
    since = DATE - HOUR
    assert found(since) is None
    for jump in (timedelta(0), timedelta(minutes=10), timedelta(days=365)):
        clock.now = DATE + jump
        assert found(since) == _seconds(DATE)
        # The clock is corrected.
        clock.now = DATE - timedelta(seconds=1)
        assert found(since) is None
    clock.now = DATE + HOUR
    if door in ("oai", "listed", "exported"):
        assert found(DATE + timedelta(seconds=1)) is None


def test_a_written_publication_is_selected_by_the_time_of_its_record(bindings: Bindings, clock: Clock) -> None:
    if bindings.kind != "database":
        pytest.skip("a file has no events")
    clock.now = DATE + HOUR
    doors = Doors(bindings)
    assert doors.listed(DATE) == _seconds(DATE)
    assert publish_due(bindings.store) == [NAME]
    # A harvester that has asked meanwhile finds it again, and none loses it.
    assert doors.listed(DATE + HOUR) == _seconds(clock.now)
