"""The demo site of ``ararat serve`` (:func:`create_demo`), which needs no network. :func:`load` binds :data:`SAMPLES`,
names for its pages, which belong to no one: use only a temporary database.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from flask import Flask, Response, abort, current_app, redirect, render_template, request

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as AnyResponse

    from ...middleware import Bindings

MOUNT = "/demo"
"""The path of the demo site. The targets of the samples begin with it."""

SHELF_SECONDS = 0.4
"""The delay of redirects below /shelf, so that the hops of a trace arrive one by one."""

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Sample:
    """An example name of the demo site, with its target and a ``lesson``: what happens when a user follows the name.
    ``page`` is the path of its target below :data:`MOUNT`. ``withdrawn`` is the reason why it is withdrawn.
    """

    identifier: str
    title: str
    kind: Literal["located", "related", "described", "served"]
    page: str | None
    lesson: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    withdrawn: str | None = None

    @property
    def target(self) -> str | None:
        """The target of the example name: a path of the whole site, or None."""
        return None if self.page is None else MOUNT + self.page


_WHO = "The Ararat demonstration"

SAMPLES = (
    Sample(
        "ark:12345/x8rd4",
        "The first recorded ascent",
        "located",
        "/shelf/ascent",
        "The resolver redirects with 302. The page has moved since, so a second, slow redirect follows.",
        {
            "who": _WHO,
            "what": "The first recorded ascent of Mount Ararat",
            "when": "1829-10-09",
            "persistence": "lifetime",
        },
    ),
    Sample(
        "ark:12345/mp39n",
        "A map in two sheets",
        "located",
        "/map",
        "The name of the whole map. Names below it identify its sheets and formats. Follow the hierarchy up and down.",
        {"who": _WHO, "what": "A sketch map of Mount Ararat in two sheets", "when": "2020"},
    ),
    Sample(
        "ark:12345/mp39n/1",
        "The western sheet",
        "located",
        "/map/1",
        "A component. The part before the last slash is the name of the map that contains this sheet.",
        {"what": "Sheet 1: Great Ararat"},
    ),
    Sample(
        "ark:12345/mp39n/2",
        "The eastern sheet",
        "located",
        "/map/2",
        "A component of the same map.",
        {"what": "Sheet 2: Little Ararat"},
    ),
    Sample(
        "ark:12345/mp39n.svg",
        "The map as a drawing",
        "located",
        "/map.svg",
        "A variant: the same map in another format. The order of variants has no meaning.",
        {"what": "A sketch map of Mount Ararat, as SVG"},
    ),
    Sample(
        "ark:12345/mp39n.txt",
        "The map as text",
        "located",
        "/map.txt",
        "Another variant of the same map, as plain text.",
        {"what": "A sketch map of Mount Ararat, in words"},
    ),
    Sample(
        "ark:12345/m5137",
        "The mountain itself",
        "related",
        "/mountain",
        "A web server cannot send a mountain. The resolver answers 303 See Other and redirects to a page about it.",
        {"what": "Mount Ararat", "where": "39.7 N, 44.3 E"},
    ),
    Sample(
        "ark:12345/h3v9b",
        "Heights in metres",
        "served",
        "/heights",
        "The site itself answers, without a redirect. The address bar keeps the name.",
        {"who": _WHO, "what": "Heights on and around Mount Ararat", "when": "2020"},
    ),
    Sample(
        "ark:12345/r7t2w",
        "A twig",
        "described",
        None,
        "A resource without a page. The resolver answers with its description.",
        {"what": "A twig of an olive tree", "when": "2020"},
    ),
    Sample(
        "ark:12345/d0v3z",
        "The first draft of the guide",
        "located",
        "/guide",
        "Withdrawn. The resolver answers 410 with a tombstone. The name is never assigned to another resource.",
        {"who": _WHO, "what": "A guide to the mountain, first draft"},
        withdrawn="Replaced by the guide itself, urn:example:ararat:guide",
    ),
    Sample(
        "urn:example:ararat:guide",
        "A guide to the mountain",
        "located",
        "/guide",
        "A URN, resolved by the same middleware at /urn:.",
        {"who": _WHO, "what": "A guide to the mountain", "when": "2020"},
    ),
)

# The template of each path, and the name that the page shows.
_PAGES = {
    "/ascent": ("demo/ascent.html", "ark:12345/x8rd4"),
    "/map": ("demo/map.html", "ark:12345/mp39n"),
    "/map/1": ("demo/sheet-1.html", "ark:12345/mp39n/1"),
    "/map/2": ("demo/sheet-2.html", "ark:12345/mp39n/2"),
    "/mountain": ("demo/mountain.html", "ark:12345/m5137"),
    "/heights": ("demo/heights.html", "ark:12345/h3v9b"),
    "/guide": ("demo/guide.html", "urn:example:ararat:guide"),
}


def load(bindings: Bindings) -> None:
    """Bind :data:`SAMPLES` in an empty database. Raises :class:`~ararat.middleware.BindingConflict`."""
    from ...bindings import creation
    from ...bindings.names.fields import Fields

    new: list[creation.NameChange | creation.MintedChange] = []
    for each in SAMPLES:
        fields = Fields(target=each.target, kind=each.kind, resource=f"demo:{each.title}", metadata=each.metadata)
        new.append(creation.request(creation.NewName(fields, each.identifier), bindings.naming))
    creation.create(bindings, new, actor="demo")
    for sample in SAMPLES:
        if sample.withdrawn is not None:
            bindings.withdraw(sample.identifier, reason=sample.withdrawn, actor="demo")


def is_unchanged(bindings: Bindings) -> bool:
    """Return whether a database has only what :func:`load` has written: no account, and no other change.
    Raises :class:`~ararat.middleware.BindingsUnavailable`.
    """
    from ...webapp.accounts.store import Accounts

    written = len(SAMPLES) + sum(sample.withdrawn is not None for sample in SAMPLES)
    return not (
        Accounts(bindings).exist()
        or len(bindings.list_events(limit=written + 1).events) != written
        or bindings.prefixes.list()
        or bindings.rules.list()
        or bindings.branding.history()
    )


def create_demo() -> Flask:
    """Return the demo site as a WSGI application, which must be mounted at :data:`MOUNT`.

    >>> create_demo().test_client().get("/mountain").status
    '200 OK'
    """
    # The name of the whole package: Flask finds templates/ and static/ beside it.
    demo = Flask(__name__.partition(".")[0])
    demo.url_map.merge_slashes = False
    demo.add_url_rule("/", view_func=_home)
    demo.add_url_rule("/<path:page>", view_func=_page)
    demo.add_url_rule("/shelf/<name>", view_func=_shelf)
    demo.add_url_rule("/map.<any(svg, txt):extension>", view_func=_variant)
    demo.context_processor(_surroundings)
    demo.after_request(_harden)
    demo.register_error_handler(404, _missing)
    return demo


def _home() -> str:
    return render_template("demo/home.html", samples=SAMPLES)


def _page(page: str) -> str:
    if f"/{page}" not in _PAGES:
        abort(404)
    template, identifier = _PAGES[f"/{page}"]
    return render_template(template, sample=next(sample for sample in SAMPLES if sample.identifier == identifier))


def _shelf(name: str) -> AnyResponse:
    if f"/{name}" not in _PAGES:
        abort(404)
    time.sleep(SHELF_SECONDS)
    # Set 302 explicitly: the default of werkzeug's redirect() changes to 303 in its version 3.2.
    return redirect(f"{request.script_root}/{name}", code=302)


def _variant(extension: str) -> Response:
    return current_app.send_static_file(f"demo-map.{extension}")


def _missing(_error: Exception) -> tuple[str, int]:
    return render_template("demo/missing.html"), 404


def _surroundings() -> dict[str, str]:
    # The inspector and the resolver are mounted above the demo site.
    return {"above": request.script_root.removesuffix(MOUNT)}


def _harden(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
