"""Labels to print: a QR code, the number, the title and the name of each selected name, for sheets of labels."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from flask import render_template, request
from markupsafe import Markup

from ....bindings.names.metadata.folding import title_of
from ....identifiers.text.translatable import Translatable
from ...config import site, url
from ...language.formats import figure
from ...report import qr
from ..blueprint import blueprint
from .selected import Chosen

MAX_LABELS = 240
"""The maximum number of labels of one page. Ten sheets of the smallest labels are enough for a printer."""

_SHORTEST_TITLE = 20
_SIGNS = "/.:,;_-\u2010\u2012\u2013"


class LabelSheet(NamedTuple):
    """A sheet of labels of a ``paper`` and label ``size``. ``width`` and ``height`` of a label are in ``unit``.
    ``title`` is the number of characters of a title for which a label has room, and ``key`` that of a number in one
    line.
    """

    paper: str
    size: str
    columns: int
    rows: int
    width: float
    height: float
    unit: str
    title: int
    key: int

    @property
    def label(self) -> str:
        """The width and height of a label, in the language of the page."""
        return f"{figure(self.width)} \u00d7 {figure(self.height)} {self.unit}"

    @property
    def number(self) -> int:
        """The number of labels of a sheet."""
        return self.columns * self.rows

    def cut(self, key: str, title: str) -> tuple[str, str]:
        """Return a number and a title for which a label has room, besides the name. A number of several lines leaves
        less room for the title.

        >>> FORMATS[0].cut("INV 1901/0001 a", "View of the harbour, plate 17")
        ('INV 1901/0001 a', 'View of t…late 17')
        """
        is_small = self.title <= _SHORTEST_TITLE
        most = self.title if len(key) <= self.key else 0 if is_small else self.title // 2
        lines = 1.5 if is_small else 3 if self.size == "large" else 2
        return cut_in_the_middle(key, int(lines * self.key)), cut_in_the_middle(title, most)


FORMATS = (
    LabelSheet("a4", "small", 3, 7, 63.5, 38.1, "mm", 34, 12),
    LabelSheet("a4", "medium", 2, 7, 99.1, 38.1, "mm", 58, 24),
    LabelSheet("a4", "large", 2, 4, 99.1, 67.7, "mm", 70, 15),
    LabelSheet("letter", "small", 3, 10, 2.63, 1, "in", 20, 14),
    LabelSheet("letter", "medium", 2, 5, 4, 2, "in", 60, 20),
    LabelSheet("letter", "large", 2, 3, 4, 3.33, "in", 64, 14),
)
PAPERS = (("a4", "A4"), ("letter", Translatable("US letter")))
SIZES = (
    ("small", Translatable("Small")),
    ("medium", Translatable("Medium")),
    ("large", Translatable("Large")),
)


class Label(NamedTuple):
    """A printed label: the ``name`` and its number ``key`` in the parts between which a line can break, its ``title``,
    and its QR code in ``code``, or None.
    """

    name: list[str]
    title: str
    key: list[str]
    code: Markup | None


@blueprint.get("/labels", endpoint="labels")
def page() -> str:
    """Return the HTML page with sheets of labels of at most :data:`MAX_LABELS` selected names."""
    chosen = Chosen.of(request.args)
    given = request.args.get("paper"), request.args.get("size")
    format = next((each for each in FORMATS if given == (each.paper, each.size)), FORMATS[0])
    start = _start(request.args.get("start", ""))
    found = list(islice(chosen.names(), start, start + MAX_LABELS + 1)) if chosen else []
    prefix = site().settings.prefix or request.url_root.rstrip("/")
    labels = []
    for each in found[:MAX_LABELS]:
        key, title = format.cut(each.thing_numbers.current or "", title_of(each.metadata))
        code = _code(f"{prefix}/{each.identifier}")
        labels.append(Label(_parts(each.identifier, "/"), title, _parts(key, _SIGNS), code))
    used = min(max(_start(request.args.get("position", "")), 1), format.number) - 1
    places: list[Label | None] = [*[None] * (used if labels else 0), *labels]
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
        sheets=[places[at : at + format.number] for at in range(0, len(places), format.number)],
        position=used + 1,
        back=url("desk.names", **chosen.filters.address()),
        previous=url("desk.labels", **address, start=max(0, start - MAX_LABELS)) if start else None,
        next=url("desk.labels", **address, start=start + MAX_LABELS) if len(found) > MAX_LABELS else None,
    )


def cut_in_the_middle(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters. Its end stays, because it tells the parts of a series apart.

    >>> cut_in_the_middle("View of the harbour, plate 17", 20)
    'View of th…plate 17'
    """
    if len(text) <= most:
        return text
    if most < 1:
        return ""
    tail = most // 2 - 1
    return f"{text[: most - tail - 1].rstrip()}\u2026{text[-tail:].lstrip()}"


def _parts(text: str, signs: str) -> list[str]:
    """Return the parts of a text that each end behind one of some signs, so that the digits of a number stay together.

    >>> _parts("OB 2026/0017-a", _SIGNS)
    ['OB 2026/', '0017-', 'a']
    """
    parts = [""]
    for char in text:
        parts[-1] += char
        if char in signs:
            parts.append("")
    return [part for part in parts if part]


def _code(address: str) -> Markup | None:
    # The picture has only the modules of the code, so it is safe.
    return Markup(qr.draw_svg(address).decode()) if len(address) <= qr.MAX_DRAWN else None  # noqa: S704


def _start(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 0
