"""The public answers for a reserved name before and after its date, and how long caches keep them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.bindings.open import open_bindings
from ararat.middleware import Bindings, ResolverMiddleware

DATE = datetime(2999, 3, 1, tzinfo=UTC)
NAME = "ark:12345/x1"


class Clock:
    now = DATE - timedelta(days=1)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["database", "file"])
def bindings(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Bindings]:
    if request.param == "file":
        path = tmp_path / "names.csv"
        lines = ["identifier,target,status,embargo,passthrough,what", f"{NAME},/1,reserved,2999-03-01,yes,Map"]
        path.write_text("\n".join([*lines, "ark:12345/y1,/y,,,,"]) + "\n")
    else:
        path = tmp_path / "names.sqlite"
        with open_bindings(path, create=True, clock=clock) as new:
            new.bind(NAME, "/1", embargo=DATE, passthrough=True, metadata={"what": "Map"})
            new.bind("ark:12345/y1", "/y")
    with open_bindings(path, clock=clock) as opened:
        yield opened


def site(environ: object, start_response: object) -> list[bytes]:
    raise AssertionError("the site is not asked")


def seen(client: Client, path: str) -> tuple[int, str | None]:
    answer = client.get(path)
    return answer.status_code, answer.headers.get("Cache-Control")


@pytest.mark.parametrize(
    ("path", "after"),
    [(f"/{NAME}", 302), (f"/{NAME}?info", 200), (f"/{NAME}/p1", 302), ("/ark:12345/X-1", 404)],
    ids=["name", "info", "below", "other"],
)
def test_a_name_is_live_from_its_date_and_its_404_is_as_fresh_as_that_of_an_unknown_name(
    bindings: Bindings, clock: Clock, path: str, after: int
) -> None:
    client = Client(ResolverMiddleware(site, bindings))
    for before in (timedelta(days=1), timedelta(seconds=20, milliseconds=500), timedelta(milliseconds=1)):
        clock.now = DATE - before
        assert seen(client, path) == (404, "max-age=60")
    clock.now = DATE
    assert seen(client, path)[0] == after
    unknown = client.get("/ark:12345/x1zz")
    assert unknown.headers["Cache-Control"] == "max-age=60"


SUFFIXES = ["", "?", "??", "?info", "?info&format=json", "/part", ".v1", "/part?info", "-x"]


@pytest.mark.parametrize("accept", ["text/html", "application/json", "text/turtle"])
@pytest.mark.parametrize("before", [timedelta(days=1), timedelta(seconds=20)], ids=["a day before", "20 s before"])
def test_a_reserved_name_answers_like_an_unknown_one(
    bindings: Bindings, clock: Clock, accept: str, before: timedelta
) -> None:
    clock.now = DATE - before
    client = Client(ResolverMiddleware(site, bindings))

    def answer(name: str, suffix: str) -> tuple[int, list[tuple[str, str]], str]:
        found = client.get(f"/{name}{suffix}", headers={"Accept": accept})
        fields = [(field, text.replace(name, "NAME")) for field, text in found.headers if field not in ("Date", "ETag")]
        return found.status_code, fields, found.text.replace(name, "NAME")

    for suffix in SUFFIXES:
        assert answer(NAME, suffix) == answer("ark:12345/q1", suffix), suffix


def test_a_part_of_a_reserved_name_below_a_container_is_answered_like_another_part(
    tmp_path: Path, clock: Clock
) -> None:
    with open_bindings(tmp_path / "names.sqlite", create=True, clock=clock) as bindings:
        bindings.bind("ark:12345/y1", "https://example.org/y", passthrough=True)
        bindings.bind("ark:12345/y1/a", "https://example.org/secret", embargo=DATE, passthrough=True)
        client = Client(ResolverMiddleware(site, bindings))
        for before in (timedelta(days=1), timedelta(seconds=20)):
            clock.now = DATE - before
            fields = [dict(client.get(f"/ark:12345/y1/{part}/p").headers) for part in ("a", "b")]
            assert [each.pop("Location").rpartition("/y")[2] for each in fields] == ["/a/p", "/b/p"]
            assert fields[0]["Cache-Control"] == fields[1]["Cache-Control"]
        # This process does not keep the old redirect.
        clock.now = DATE
        assert client.get("/ark:12345/y1/a/p").headers["Location"] == "https://example.org/secret/p"


def test_lists_for_machines_have_the_name_from_its_date(bindings: Bindings, clock: Clock) -> None:
    for moment, is_listed in ((DATE - timedelta(seconds=1), False), (DATE, True)):
        clock.now = moment
        client = Client(
            ResolverMiddleware(site, bindings, oai="/oai", sitemap="/names.xml", prefix="https://names.example")
        )
        harvested = client.get("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc").text
        listed = client.get("/names.xml?from=ark:12345/").text
        record = client.get(f"/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier={NAME}").text
        assert [NAME in harvested, NAME in listed, "idDoesNotExist" not in record] == [is_listed] * 3
