"""The handbook: the Markdown files of ``docs/``, which stand in the repository and ship with the package, as pages.

There is one text of each page. Who reads it in the repository and who reads it here sees the same words, and its links
lead to the neighbouring page in both places.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Blueprint, Response, render_template, send_from_directory

from ..config import url
from ..errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

blueprint = Blueprint("handbook", __name__)

FOLDER = Path(__file__).parents[2] / "docs"
FIRST = "index"
"""The page that leads to the others, at ``/docs``."""

# A neighbouring page as a file, and perhaps a place in it.
_NEIGHBOUR = re.compile(r"([a-z0-9-]+)\.md(#[a-z0-9-]+)?")
_NO_WORD = re.compile(r"[^a-z0-9 -]")


class Page(NamedTuple):
    """A page of the handbook: its title in plain text, and its body as HTML."""

    title: str
    body: str


@blueprint.get("/docs")
def contents() -> Response:
    """The page that leads to the others."""
    return page(FIRST)


@blueprint.get("/docs/<name>")
def page(name: str) -> Response:
    """A page of the handbook, or a picture in one. Refused: 404 for what there is not."""
    if name in pictures():
        return send_from_directory(FOLDER, name, mimetype="image/svg+xml", max_age=86_400)
    if name not in names():
        raise Refused(404, "not-found", "The handbook has no page of this name.")
    shown = _page(name, url("handbook.contents"))
    return Response(render_template("inspector/handbook.html", page=shown, first=name == FIRST))


@cache
def names() -> frozenset[str]:
    """The names of the pages: those of the files, without ``.md``."""
    return frozenset(path.stem for path in FOLDER.glob("*.md"))


@cache
def pictures() -> frozenset[str]:
    """The names of the pictures in the pages, as they stand there."""
    return frozenset(path.name for path in FOLDER.glob("*.svg"))


@lru_cache(maxsize=64)
def _page(name: str, base: str) -> Page:
    return rendered((FOLDER / f"{name}.md").read_text("utf-8"), base)


def rendered(text: str, base: str) -> Page:
    """A page made of its Markdown (CommonMark, with tables), where ``base`` is the address of the first page.

    HTML in the text is shown and not taken for such, and nothing gets a style of its own: the content security policy
    would have none of it.

    >>> page = rendered("# Ask & *see*\\n\\n[next](files.md#a) <b>", "/docs")
    >>> page.title
    'Ask & see'
    >>> page.body.splitlines()[-1]
    '<p><a href="/docs/files#a">next</a> &lt;b&gt;</p>'
    """
    tokens = _markdown().parse(text)
    title = ""
    taken: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = _words(tokens[place + 1])
            title = title or words
            token.attrSet("id", _anchor(words, taken))
        elif token.type in ("th_open", "td_open"):
            # How a column is aligned would be a style.
            token.attrs.pop("style", None)
        for child in token.children or ():
            href = child.attrGet("href") if child.type == "link_open" else None
            if child.type == "image" and (picture := child.attrGet("src")) in pictures():
                child.attrSet("src", f"{base}/{picture}")
            if isinstance(href, str) and (found := _NEIGHBOUR.fullmatch(href)):
                to = base if found[1] == FIRST else f"{base}/{found[1]}"
                child.attrSet("href", f"{to}{found[2] or ''}")
    return Page(title, _markdown().renderer.render(tokens, _markdown().options, {}))


def _words(heading: Token) -> str:
    return "".join(child.content for child in heading.children or ())


def _anchor(words: str, taken: dict[str, int]) -> str:
    """The place of a heading, by the name that forges of code give it too, so that links work there and here."""
    anchor = _NO_WORD.sub("", words.lower()).replace(" ", "-")
    taken[anchor] = number = taken.get(anchor, -1) + 1
    return f"{anchor}-{number}" if number else anchor


@cache
def _markdown() -> MarkdownIt:
    # Here and not above: who never opens the handbook does not wait for it.
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    # What is wider than a narrow screen is moved by itself; who has no mouse gets there by the tabulator.
    markdown.add_render_rule("table_open", _table)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    markdown.add_render_rule("fence", _block)
    return markdown


def _table(*_: Any) -> str:
    return '<div class="scroll" role="group" tabindex="0"><table>\n'


def _block(renderer: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    from markdown_it.common.utils import escapeHtml

    return f'<pre tabindex="0"><code>{escapeHtml(tokens[place].content)}</code></pre>\n'
