"""A pytest plugin to test the names of a site: fixtures with a temporary store, and assertions for any test client.

pytest finds the plugin when the package is installed. Nothing else of the package is imported before a test uses it.

.. code-block:: python

    from ararat.testing import assert_resolves
    from shop import app


    def test_a_name_leads_to_its_painting(ararat_bindings, ararat_site):
        ararat_bindings.bind("ark:12345/x6np1", "https://museum.example/paintings/17")
        assert_resolves(ararat_site(app), "ark:12345/x6np1", "https://museum.example/paintings/17")

The assertions take the test clients of werkzeug, Flask, Django, Starlette and FastAPI, ``httpx.Client``,
``requests.Session`` and :class:`LiveSite`. PYTEST_DONT_REWRITE: their messages are complete.
"""

from __future__ import annotations

# pytest has loaded these modules already, so the plugin costs nothing if no test uses it.
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import pytest

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping

    from werkzeug.test import Client

    from .middleware import Bindings
    from .middleware.http.expected_answers import AnswerFault, ExpectedAnswer
    from .net.response import SiteAnswer

__all__ = ["LiveSite", "assert_described", "assert_resolves", "assert_signposting", "assert_withdrawn"]

_ORIGIN = "http://localhost"
_REASONS = "application/problem+json, */*;q=0.1"
_SECONDS = 30


class SiteFactory(Protocol):
    """The function of the fixture ``ararat_site``: puts the resolver over an application, and returns a test client of
    werkzeug. ``settings`` are those of :class:`~ararat.middleware.ResolverMiddleware`.
    """

    def __call__(self, app: Any, /, **settings: Any) -> Client: ...


class LiveSiteFactory(Protocol):
    """The function of the fixture ``ararat_live_site``: puts the resolver over an application, runs it, and returns its
    address. ``settings`` are those of :class:`~ararat.middleware.ResolverMiddleware`.
    """

    def __call__(self, app: Any, /, **settings: Any) -> LiveSite: ...


class LiveSite(NamedTuple):
    """A running site with a resolver. ``url`` is its address without a slash at the end, for a browser."""

    url: str

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> SiteAnswer:
        """Return the answer to a GET request. ``path`` begins with a slash. Redirects are not followed."""
        import http.client

        from .net.response import SiteAnswer

        connection = http.client.HTTPConnection(self.url.partition("://")[2], timeout=_SECONDS)
        try:
            connection.request("GET", path, headers=dict(headers or {}))
            answer = connection.getresponse()
            return SiteAnswer(answer.status, tuple(answer.getheaders()), answer.read())
        finally:
            connection.close()


@pytest.fixture
def ararat_bindings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bindings]:
    """Return an empty store in a temporary folder. Bind the names that a test needs."""
    from .middleware import open_bindings

    bindings = open_bindings(tmp_path_factory.mktemp("ararat") / "bindings.sqlite", create=True)
    yield bindings
    bindings.close()


@pytest.fixture
def ararat_site(ararat_bindings: Bindings) -> Iterator[SiteFactory]:
    """Return a function that puts the resolver over a WSGI or ASGI application and returns a test client. The names are
    those of ``ararat_bindings``. The client is that of werkzeug: its answers have ``status_code``, ``headers``,
    ``text`` and ``json``. Redirects are not followed.
    """
    ends: list[Callable[[], object]] = []

    def site(app: Any, /, **settings: Any) -> Client:
        from werkzeug.test import Client

        wrapped, is_asgi = _wrap(app, ararat_bindings, {"prefix": _ORIGIN} | settings)
        if not is_asgi:
            return Client(wrapped)
        bridge = _Bridge(wrapped)
        ends.append(bridge.close)
        return Client(bridge)

    yield site
    for end in ends:
        end()


@pytest.fixture
def ararat_live_site(ararat_bindings: Bindings) -> Iterator[LiveSiteFactory]:
    """Return a function that puts the resolver over an application and runs it at a free port of 127.0.0.1, for a
    browser. An ASGI application needs uvicorn. The server is stopped after the test.
    """
    ends: list[Callable[[], object]] = []

    def site(app: Any, /, **settings: Any) -> LiveSite:
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            free.listen(128)
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
            wrapped, is_asgi = _wrap(app, ararat_bindings, {"prefix": url} | settings)
            ends.append(_run_asgi(wrapped, free.dup()) if is_asgi else _run_wsgi(wrapped, free))
        return LiveSite(url)

    yield site
    for end in ends:
        end()


def assert_resolves(client: Any, name: str, target: str | None = None) -> None:
    """Assert that the site answers a name with a page or a temporary redirect, with ``target`` to it. A page of the
    site itself must work: its redirects are followed. A page to sign in, a loop, another host and "not found" with the
    status 200 do not work.
    """
    __tracebackhide__ = True
    from .middleware.http.expected_answers import FOUND, TEMPORARY, ExpectedAnswer, is_of_the_site, path_of

    path = path_of(name)
    answer = _require(client, path, ExpectedAnswer(FOUND) if target is None else ExpectedAnswer(TEMPORARY, target))
    where = target or answer.field("Location")
    if answer.status in (200, 204) or (target is None and is_of_the_site(answer)):
        _works(client, path, path, answer)
    elif where is not None and (where := _own_path(client, answer, path, where)) is not None:
        _works(client, path, where)


def assert_described(client: Any, name: str, **elements: str) -> None:
    """Assert that the site describes a name at ``?info`` with these elements. They are texts by the short names
    ``who``, ``what``, ``when``, ``where`` and others.
    """
    __tracebackhide__ = True
    import json

    from .middleware.http.expected_answers import ExpectedAnswer, path_of

    path = f"{path_of(name)}?info"
    answer = _require(client, path, ExpectedAnswer((200,)), "application/json")
    found: dict[str, Any] = {}
    try:
        metadata = json.loads(answer.body)["metadata"]
        found = {element: metadata.get(element) for element in elements}
    except (ValueError, TypeError, LookupError, AttributeError):
        _fail(path, str(answer), "a description as JSON", "Answer ?info by the resolver, not by a page of the site.")
    for element, text in elements.items():
        if found[element] != text:
            came = f"{element}: {found[element]!r}"
            _fail(path, came, f"{element}: {text!r}", f"Set the metadata of the name: {element}.")


def assert_withdrawn(client: Any, name: str, reason: str | None = None) -> None:
    """Assert that the site answers 410 for a name, and that it states ``reason``, if given."""
    __tracebackhide__ = True
    from .middleware.http.expected_answers import ExpectedAnswer, path_of

    answer = _require(client, path_of(name), ExpectedAnswer((410,)), _REASONS)
    tombstone = answer.problem.get("tombstone")
    stated = tombstone.get("reason") if isinstance(tombstone, dict) else None
    if reason is not None and stated != reason:
        _fail(
            path_of(name), f"410, with the reason {stated!r}", f"410, with the reason {reason!r}", "Correct the reason."
        )


def assert_signposting(client: Any, name: str, *relations: str) -> None:
    """Assert that the answer for a name links to its description (``describedby``), which works, and has further
    relations, such as ``cite-as`` or ``license``.
    """
    __tracebackhide__ = True
    from urllib.parse import urlsplit

    from .middleware.http.expected_answers import FOUND, ExpectedAnswer, path_of
    from .net.link_header import relations as relations_of

    path = path_of(name)
    answer = _require(client, path, ExpectedAnswer((*FOUND, 410)))
    found = relations_of(value for field, value in answer.fields if field.lower() == "link")
    missing = [each for each in ("describedby", *relations) if each not in found]
    if missing:
        came = f"links with the relations {', '.join(found)}" if found else "no Link field"
        fix = "Add the metadata from which the link is made. A front server or an application must not remove Link."
        _fail(path, came, f"a link with the relation {', '.join(missing)}", fix)
    parts = urlsplit(found["describedby"][0])
    described = f"{parts.path}?{parts.query}" if parts.path else f"{path.partition('?')[0]}?{parts.query}"
    _require(client, described, ExpectedAnswer((200,)))


def _works(client: Any, path: str, start: str, answer: SiteAnswer | None = None) -> None:
    """Follow the redirects of a page of the site. Raise AssertionError if a reader does not get a page at the end."""
    __tracebackhide__ = True
    from urllib.parse import urljoin

    from .middleware.http.expected_answers import SIGN_IN, is_page_to_sign_in, refused_host, says_not_found
    from .net.response import SiteAnswer

    page, seen = start, [start]
    expected = f"a redirect to {start}, which works" if start != path else "a page that works"

    def failed(came: str, fix: str) -> NoReturn:
        __tracebackhide__ = True
        _fail(path, came if start == path else f"a redirect to {start}, which {came}", expected, fix)

    while True:
        answer = answer or _ask(client, page, "*/*")
        where = answer.field("Location") if answer.status in (301, 302, 303, 307, 308) else None
        if where is None:
            break
        if SIGN_IN.search(where):
            failed(f"leads to {where}, a page to sign in", "Let readers see the page without an account.")
        following = _own_path(client, answer, page, urljoin(_ORIGIN + page, where) if where.startswith(".") else where)
        if following is None:
            failed(
                f"leads to another host: {where}", "Remove this redirect, or bind the name to the address at its end."
            )
        if following == page and where.startswith("https:"):
            failed(
                f"leads to {where}: the site redirects http to https",
                "Turn off this redirect in the settings for tests, such as SECURE_SSL_REDIRECT of Django.",
            )
        if following in seen:
            failed(f"is a loop of redirects: {' to '.join([*seen, following])}", "Remove one of the redirects.")
        seen.append(following)
        page, answer = following, None
    if answer.status in (401, 403, 407):
        failed(f"answers {answer}", "Let readers see the page without an account.")
    if answer.status >= 400:
        fix = (
            refused_host(answer)
            or f"Restore the page {page}, or change the target of the name (ararat relocate NAME URL)."
        )
        failed(f"answers {answer}", fix)
    if is_page_to_sign_in(answer):
        failed(f"answers {answer} with a form to sign in", "Let readers see the page without an account.")
    other = SiteAnswer(404, ())
    if answer.body:
        other = _ask(client, f"{page.partition('?')[0].rstrip('/')}-ararat-no-such-page", "*/*")
    if says_not_found(answer) or (other.status == 200 and other.body == answer.body):
        fix = f"Restore the page {page}. Answer 404, not 200, for a page that does not exist."
        failed(f"answers {answer}, the page of the site for what does not exist", fix)


def _own_path(client: Any, answer: SiteAnswer, page: str, where: str) -> str | None:
    """Return the path and query of an address on the site itself, or None for another host."""
    from urllib.parse import urljoin, urlsplit

    try:
        parts = urlsplit(urljoin(_ORIGIN + page, where))
        own = {"localhost", "testserver", urlsplit(str(getattr(client, "base_url", ""))).hostname}
        own.add(urlsplit(str(getattr(client, "url", ""))).hostname)
        if (link := answer.field("Link")) is not None and "://" not in where:
            own.add(urlsplit(link.partition("<")[2].partition(">")[0]).hostname)
    except ValueError:
        return None
    return f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}" if parts.hostname in own else None


def _require(client: Any, path: str, expected: ExpectedAnswer, accept: str = "*/*") -> SiteAnswer:
    """Return the answer to a request. Raise AssertionError if it is not the expected one."""
    __tracebackhide__ = True
    from .middleware.http.expected_answers import fault

    answer = _ask(client, path, accept)
    found = fault(f"GET {path}", _ORIGIN + path, answer, expected)
    if found is not None and answer.status >= 400 and not answer.problem:
        # The reason of a refusal is in its answer for programs.
        reasons = _ask(client, path, _REASONS)
        found = fault(f"GET {path}", _ORIGIN + path, reasons, expected) if reasons.status == answer.status else found
    if found is not None:
        _fail(path, found.came, found.expected, found.fix)
    return answer


def _fail(path: str, came: str, expected: str, fix: str) -> NoReturn:
    __tracebackhide__ = True
    from .middleware.http.expected_answers import AnswerFault

    found: AnswerFault = AnswerFault(f"GET {path}", came, expected, fix)
    raise AssertionError(f"wrong answer for {path.partition('?')[0][1:]}\n{found}")


def _ask(client: Any, path: str, accept: str) -> SiteAnswer:
    """Send a request with a test client of any library, without following redirects."""
    import inspect

    from .net.response import SiteAnswer

    if isinstance(client, str) or not callable(getattr(client, "get", None)):
        raise TypeError(
            f"{type(client).__name__} is not a test client; expected one with get(), such as that of ararat_site(app)"
        )
    if inspect.iscoroutinefunction(client.get):
        raise TypeError(
            f"{type(client).__name__} is asynchronous; use the test client of the framework, or ararat_site(app)"
        )
    roots = {each.__module__.partition(".")[0] for each in type(client).__mro__}
    if "django" in roots:
        answer = client.get(path, headers={"Accept": accept}, follow=False)
    elif "requests" in roots:
        answer = client.get(path, headers={"Accept": accept}, allow_redirects=False)
    elif roots & {"httpx", "httpx2", "starlette", "werkzeug"}:
        answer = client.get(path, headers={"Accept": accept}, follow_redirects=False)
    else:
        answer = client.get(path, headers={"Accept": accept})
    if isinstance(answer, SiteAnswer):
        return answer
    headers = answer.headers
    # httpx has each field with multi_items(), werkzeug and Django with items().
    items = headers.multi_items() if hasattr(headers, "multi_items") else headers.items()
    body = answer.get_data() if hasattr(answer, "get_data") else _content(answer)
    return SiteAnswer(answer.status_code, tuple((str(name), str(value)) for name, value in items), body)


def _content(answer: Any) -> bytes:
    """Return the body of an answer of Django, httpx or requests. A file of Django is a stream."""
    if getattr(answer, "streaming", False):
        return b"".join(answer.streaming_content)
    return bytes(answer.content)


def _wrap(app: Any, bindings: Bindings, settings: dict[str, Any]) -> tuple[Any, bool]:
    """Return the application behind the resolver, and whether it is an ASGI application."""
    from .middleware import ResolverASGIMiddleware, ResolverMiddleware
    from .middleware.asgi_detection import is_asgi

    # An application of Flask is the object, and its wsgi_app can be wrapped by others.
    if is_asgi(app):
        return ResolverASGIMiddleware(app, bindings, **settings), True
    return ResolverMiddleware(app, bindings, **settings), False


def _run_wsgi(app: Any, free: Any) -> Callable[[], object]:
    import threading

    from werkzeug.serving import WSGIRequestHandler, make_server

    class Handler(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: Any) -> None:
            """Print nothing. The output of a test is for its failures."""

    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler, fd=free.fileno())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()

    def end() -> None:
        server.shutdown()
        thread.join(_SECONDS)
        server.server_close()

    return end


def _run_asgi(app: Any, free: Any) -> Callable[[], object]:
    import threading
    import time

    try:
        import uvicorn
    except ImportError:
        free.close()
        raise pytest.UsageError("ararat_live_site needs uvicorn for an ASGI application: pip install uvicorn") from None

    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [free]}, daemon=True)
    thread.start()
    latest = time.monotonic() + _SECONDS
    while not server.started and thread.is_alive() and time.monotonic() < latest:
        time.sleep(0.005)
    if not server.started:
        raise RuntimeError("the application did not start; see the output of the test")

    def end() -> None:
        server.should_exit = True
        thread.join(_SECONDS)
        free.close()

    return end


class _Bridge:
    """A WSGI application that passes requests to an ASGI application, in an event loop of its own thread. The lifespan
    of the application begins with the first request and ends with :meth:`close`.
    """

    def __init__(self, app: Any) -> None:
        import asyncio
        import threading

        self._app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._state: dict[str, Any] = {}
        self._events: asyncio.Queue[str] | None = None
        self._lifespan: asyncio.Task[None] | None = None
        self._run(self._begin())

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        status, fields, body = self._run(self._request(environ))
        start_response(f"{status} ", fields)
        return [body]

    def close(self) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        import asyncio

        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(_SECONDS)

    async def _begin(self) -> None:
        import asyncio

        events: asyncio.Queue[str] = asyncio.Queue()
        started = asyncio.Event()
        failure: list[str] = []

        async def receive() -> dict[str, Any]:
            return {"type": f"lifespan.{await events.get()}"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "lifespan.startup.failed":
                failure.append(message.get("message", ""))
            started.set()

        async def lifespan() -> None:
            try:
                scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
                await self._app(scope, receive, send)
            except BaseException:
                # ASGI, "Lifespan Protocol": an application without it raises an exception.
                if failure:
                    raise
            finally:
                started.set()

        events.put_nowait("startup")
        self._events, self._lifespan = events, asyncio.ensure_future(lifespan())
        await started.wait()
        if failure:
            raise RuntimeError(f"the application did not start: {failure[0]}")

    async def _end(self) -> None:
        if self._events is not None and self._lifespan is not None:
            self._events.put_nowait("shutdown")
            await self._lifespan

    async def _request(self, environ: dict[str, Any]) -> tuple[int, list[tuple[str, str]], bytes]:
        raw, _, query = environ["RAW_URI"].partition("?")
        fields = [(name[5:], value) for name, value in environ.items() if name.startswith("HTTP_")]
        fields += [(name, environ[name]) for name in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(name)]
        content = environ["wsgi.input"].read()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": environ["REQUEST_METHOD"],
            "scheme": environ["wsgi.url_scheme"],
            "path": environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace"),
            "raw_path": raw.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "root_path": "",
            "headers": [(name.lower().replace("_", "-").encode(), value.encode("latin-1")) for name, value in fields],
            "client": ("127.0.0.1", 40000),
            "server": (environ["SERVER_NAME"], int(environ["SERVER_PORT"])),
            "state": dict(self._state),
        }
        messages: list[dict[str, Any]] = []
        incoming = [{"type": "http.request", "body": content, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return incoming.pop() if incoming else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            messages.append(message)

        await self._app(scope, receive, send)
        start = next(each for each in messages if each["type"] == "http.response.start")
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start.get("headers", ())]
        body = b"".join(each.get("body", b"") for each in messages if each["type"] == "http.response.body")
        return start["status"], headers, body
