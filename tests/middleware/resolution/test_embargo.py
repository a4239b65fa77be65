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
def test_a_name_is_live_from_its_date_and_no_cache_keeps_the_404_for_longer(
    bindings: Bindings, clock: Clock, path: str, after: int
) -> None:
    client = Client(ResolverMiddleware(site, bindings))
    is_other = after == 404
    assert seen(client, path) == (404, "max-age=60")
    clock.now = DATE - timedelta(seconds=20, milliseconds=500)
    assert seen(client, path) == (404, "max-age=60" if is_other else "max-age=20")
    clock.now = DATE - timedelta(milliseconds=1)
    assert seen(client, path) == (404, "max-age=60" if is_other else "max-age=0")
    clock.now = DATE
    assert seen(client, path)[0] == after
    unknown = client.get("/ark:12345/x1zz")
    assert unknown.headers["Cache-Control"] == "max-age=60"


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
