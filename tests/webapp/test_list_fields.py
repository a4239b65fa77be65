"""Each door reads the first 64 ranges of Accept and Accept-Language and entity tags of If-None-Match, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware, open_bindings
from ararat.middleware.http.list_fields import MAX_RANGES
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from tests import asgi_client

NAME, SITE = "ark:12345/x5a", "https://site.example"
FILLERS = {"Accept": "a/b;q=0.1", "Accept-Language": "tlh;q=0.1", "If-None-Match": '"x"', "If-Match": '"x"'}

Answer = tuple[Any, ...]


class Doors:
    """A site: its resolver by WSGI and by ASGI, and its inspector with accounts."""

    def __init__(self, bindings: Bindings) -> None:
        accounts = Accounts(bindings)
        accounts.add("jane", "administrator")
        _, self._secret = accounts.tokens.create("jane", "test")
        self._app = create_app(bindings, prefix=SITE, ezid="/ezid", trace_elsewhere=False).test_client()
        feeds = {"atom": "/changes.atom", "sitemap": "/names.xml", "prefix": SITE}
        self._wsgi = Client(ResolverMiddleware(None, bindings, **feeds))  # type: ignore[arg-type]
        self._asgi = asgi_client.Client(ResolverASGIMiddleware(None, bindings, **feeds))  # type: ignore[arg-type]

    def wsgi(self, path: str, fields: dict[str, str]) -> Answer:
        answer = self._wsgi.get(path, headers=fields, base_url=SITE)
        return answer.status_code, answer.content_type, answer.headers.get("Location"), answer.text[:100]

    def asgi(self, path: str, fields: dict[str, str]) -> Answer:
        answer = self._asgi.request(path, headers=fields.items())
        return answer.status, answer.header("Content-Type"), answer.header("Location"), answer.text[:100]

    def inspector(self, path: str, fields: dict[str, str]) -> Answer:
        with self._app.get(path, headers=fields, base_url=SITE) as answer:
            return answer.status_code, answer.content_type, answer.get_data(as_text=True)[:100]

    def api(self, path: str, fields: dict[str, str]) -> Answer:
        return self.inspector(f"/api/v1{path}", {"Authorization": f"Bearer {self._secret}", **fields})

    def change(self, path: str, fields: dict[str, str]) -> Answer:
        headers = {"Authorization": f"Bearer {self._secret}", **fields}
        answer = self._app.put(f"/api/v1{path}", json={"target": "https://example.org/2"}, headers=headers)
        return (answer.status_code,)

    def tag(self, path: str) -> str:
        """Return the entity tag of a page."""
        headers = {"Authorization": f"Bearer {self._secret}"} if path.startswith("/api") else {}
        of_resolver = path.startswith("/ark:") or path.endswith(".atom")
        client: Client = self._wsgi if of_resolver else self._app
        with client.get(path, headers=headers, base_url=SITE) as answer:
            return answer.headers["ETag"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    with open_bindings(tmp_path_factory.mktemp("lists") / "names.sqlite", create=True) as bindings:
        bindings.bind(NAME, "https://example.org/1", alternates={"de": "https://example.org/de", "text/csv": "/csv"})
        yield Doors(bindings)


DOORS: dict[str, tuple[Callable[[Doors, str, dict[str, str]], Answer], str, str, str]] = {
    "the format of a description": (Doors.wsgi, f"/{NAME}?info", "Accept", "application/json"),
    "the same by ASGI": (Doors.asgi, f"/{NAME}?info", "Accept", "application/json"),
    "an alternate by type": (Doors.wsgi, f"/{NAME}", "Accept", "text/csv"),
    "an alternate by language": (Doors.wsgi, f"/{NAME}", "Accept-Language", "de"),
    "an alternate by ASGI": (Doors.asgi, f"/{NAME}", "Accept-Language", "de"),
    "the language of an error": (Doors.wsgi, "/ark:12345/none", "Accept-Language", "de"),
    "an error for programs": (Doors.wsgi, "/ark:12345/none", "Accept", "application/problem+json"),
    "a held description": (Doors.wsgi, f"/{NAME}?info", "If-None-Match", ""),
    "a held description by ASGI": (Doors.asgi, f"/{NAME}?info", "If-None-Match", ""),
    "a held feed": (Doors.wsgi, "/changes.atom", "If-None-Match", ""),
    "the inspector": (Doors.inspector, f"/?q={NAME}", "Accept", "application/json"),
    "the language of the inspector": (Doors.inspector, "/", "Accept-Language", "de"),
    "the desk": (Doors.inspector, "/desk/names", "Accept", "application/json"),
    "a held style sheet": (Doors.inspector, "/static/ararat.css", "If-None-Match", ""),
    "a held record": (Doors.api, f"/names/{NAME}", "If-None-Match", ""),
    "EZID": (Doors.inspector, f"/ezid/id/{NAME}", "Accept", "text/html"),
    "a change of the API": (Doors.change, f"/names/{NAME}", "If-Match", ""),
}


@pytest.mark.one_setup
@pytest.mark.parametrize("door", DOORS)
def test_only_the_first_64_elements_are_read(site: Doors, door: str) -> None:
    ask, path, field, element = DOORS[door]
    if not element:
        element = site.tag(f"/api/v1{path}" if ask in (Doors.api, Doors.change) else path)
    filler = FILLERS[field]

    def answer(*elements: str) -> Answer:
        return ask(site, path, {field: ", ".join(elements)})

    without = answer(filler)
    assert answer(*[filler] * MAX_RANGES, element) == without
    assert answer(*[filler] * (MAX_RANGES - 1), element) != without
