"""Labels to print: a QR code, the title, the name and the key of each selected name, for sheets of labels."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from flask import render_template, request
from markupsafe import Markup

from ....bindings.names.metadata.folding import title_of
from ....identifiers.text.translatable import Translatable
from ...config import site, url
from ...report import qr
from ..blueprint import blueprint
from .selected import Chosen

MAX_LABELS = 240
"""The maximum number of labels of one page. Ten sheets of the smallest labels are enough for a printer."""


class LabelSheet(NamedTuple):
    """A sheet of labels: its key, and the numbers of columns and rows. The style sheet has its sizes."""

    paper: str
    size: str
    columns: int
    rows: int
    label: str

    @property
    def number(self) -> int:
        """The number of labels of a sheet."""
        return self.columns * self.rows


FORMATS = (
    LabelSheet("a4", "small", 3, 7, "63.5 x 38.1 mm"),
    LabelSheet("a4", "medium", 2, 7, "99.1 x 38.1 mm"),
    LabelSheet("a4", "large", 2, 4, "99.1 x 67.7 mm"),
    LabelSheet("letter", "small", 3, 10, "2.63 x 1 in"),
    LabelSheet("letter", "medium", 2, 5, "4 x 2 in"),
    LabelSheet("letter", "large", 2, 3, "4 x 3.33 in"),
)
PAPERS = (("a4", "A4"), ("letter", Translatable("US letter")))
SIZES = (
    ("small", Translatable("Small")),
    ("medium", Translatable("Medium")),
    ("large", Translatable("Large")),
)


class Label(NamedTuple):
    """A printed label: the ``name``, its ``title`` and ``key``, and its QR code in ``code``, or None."""

    name: str
    title: str
    key: str | None
    code: Markup | None


@blueprint.get("/labels", endpoint="labels")
def page() -> str:
    """Return the HTML page with the labels of the selected names, at most as many as a sheet has."""
    chosen = Chosen.of(request.args)
    given = request.args.get("paper"), request.args.get("size")
    format = next((each for each in FORMATS if given == (each.paper, each.size)), FORMATS[0])
    start = _start(request.args.get("start", ""))
    found = list(islice(chosen.names(), start, start + MAX_LABELS + 1)) if chosen else []
    prefix = site().settings.prefix or request.url_root.rstrip("/")
    labels = [
        Label(
            each.identifier, title_of(each.metadata), each.thing_numbers.current, _code(f"{prefix}/{each.identifier}")
        )
        for each in found[:MAX_LABELS]
    ]
    address = {**chosen.address(), "paper": format.paper, "size": format.size}
    return render_template(
        "desk/labels.html",
        format=format,
        papers=PAPERS,
        sizes=SIZES,
        formats=FORMATS,
        chosen=chosen,
        first=start + 1,
        last=start + len(labels),
        sheets=[labels[at : at + format.number] for at in range(0, len(labels), format.number)],
        back=url("desk.names", **chosen.filters.address()),
        previous=url("desk.labels", **address, start=max(0, start - MAX_LABELS)) if start else None,
        next=url("desk.labels", **address, start=start + MAX_LABELS) if len(found) > MAX_LABELS else None,
    )


def _code(address: str) -> Markup | None:
    # The picture has only the modules of the code, so it is safe.
    return Markup(qr.drawn(address).decode()) if len(address) <= qr.MAX_DRAWN else None  # noqa: S704


def _start(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 0
