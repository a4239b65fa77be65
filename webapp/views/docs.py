"""The documentation at ``/docs``: the Markdown files of the folder docs/ as pages, with a search.
Links between the files work both in the repository and here. ``index.md`` lists all pages in their order.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Blueprint, Response, redirect, render_template, request, send_from_directory

from ...identifiers.text.translatable import Translatable
from ...middleware.resolution.settings import ENGLISH
from ..config import url
from ..errors import HTTPRefusal
from ..language.current import language
from .docs_search import SearchIndex, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from werkzeug.wrappers import Response as BaseResponse

blueprint = Blueprint("docs", __name__)

FOLDER = Path(__file__).parents[2] / "docs"
FIRST = "index"
"""The file of the page ``/docs``."""

_FEW_HEADINGS = 4
"""A page with more headings begins with a list of them."""

# Pages that other pages replaced. A browser adds the anchor of the old address to the new one.
_REPLACED = {
    **dict.fromkeys(("service", "proxies", "sites", "static-sites", "php-sites"), "go-live"),
    **dict.fromkeys(("wordpress", "omeka", "java"), "go-live"),
    "deployment": "high-availability",
    "servers": "request-targets",
}

REPOSITORY_ONLY = frozenset(("decisions", "glossary", "scale", "security-tests", "speed", "style"))
"""Pages for people who change Ararat. They are in the repository, not on the site."""

# A link to another file in the folder, with an optional anchor.
_NEIGHBOUR = re.compile(r"(?:\.\./)?(?<![a-z0-9-])([a-z0-9-]++)\.md(#[a-z0-9-]+)?")
_KINDS = {".svg": "image/svg+xml", ".webp": "image/webp"}
_CODE = re.compile("[a-z0-9-]+")
_NO_WORD = re.compile(r"[^a-z0-9 -]")


class DocumentationPage(NamedTuple):
    """A page of the documentation, with the ``head`` (which ends with the title) and the ``body`` as HTML."""

    title: str
    head: str
    body: str
    sections: tuple[Section, ...]
    language: str = ENGLISH

    @property
    def contents(self) -> tuple[Section, ...]:
        """The sections below headings of the second level, for a page that has many; else nothing."""
        headings = tuple(each for each in self.sections if each.level == 2)
        return headings if len(headings) > _FEW_HEADINGS else ()


@blueprint.get("/docs")
def contents() -> str:
    """Return the page with the list of the documentation, or at most 20 sections that match the parameter ``q``."""
    base = url("docs.contents", lang=None)
    if query := request.args.get("q", "").strip()[:200]:
        return render_template("inspector/handbook_search.html", query=query, found=_index(base).find(query))
    return _show_page(FIRST)


@blueprint.get("/docs/<name>")
def page(name: str) -> BaseResponse:
    """Return the HTML page for the file ``docs/<name>.md``, or the file ``docs/<name>`` itself: Markdown or a picture.
    The name of a page that was replaced redirects to the new page. Raises :class:`.HTTPRefusal` (404) without a file.
    """
    if name in pictures():
        return send_from_directory(FOLDER, name, mimetype=_KINDS[Path(name).suffix], max_age=86_400)
    if name.endswith(".md") and name.removesuffix(".md") in names():
        # Programs read the Markdown, for example to show it or to search it.
        return Response((FOLDER / name).read_text("utf-8"), content_type="text/markdown; charset=utf-8")
    if name in _REPLACED:
        return redirect(url("docs.page", name=_REPLACED[name]), 302)
    if name not in names():
        raise HTTPRefusal(404, "not-found", Translatable("This page does not exist in the documentation."))
    return Response(_show_page(name))


def _show_page(name: str) -> str:
    base, pages = url("docs.contents", lang=None), order()
    # The list of all pages comes before the first one.
    at = pages.index(name) if name in pages else -1
    links = {"previous": pages[at - 1 : at] if at > 0 else (), "following": pages[at + 1 : at + 2]}
    titles = {key: [(each, _page(each, base).title) for each in near] for key, near in links.items()}
    page = _page(name, base, language(), url("docs.contents").removeprefix(base))
    return render_template("inspector/handbook.html", page=page, first=name == FIRST, **titles)


@cache
def order() -> tuple[str, ...]:
    """Return the names of all pages that ``index.md`` links, in its order."""
    text = (FOLDER / f"{FIRST}.md").read_text("utf-8")
    return tuple(dict.fromkeys(name for name, _ in _NEIGHBOUR.findall(text) if name in names()))


@cache
def explanations() -> frozenset[str]:
    """Return the names of the pages that ``index.md`` lists below "Inside"."""
    _, _, inside = (FOLDER / f"{FIRST}.md").read_text("utf-8").partition("\n## Inside\n")
    return frozenset(name for name, _ in _NEIGHBOUR.findall(inside))


@cache
def names() -> frozenset[str]:
    """Return the names of the Markdown files in ``docs/`` that are pages of the site, without ``.md``."""
    return frozenset(path.stem for path in FOLDER.glob("*.md")) - REPOSITORY_ONLY


@cache
def pictures() -> frozenset[str]:
    """Return the names of the SVG and WebP files in ``docs/``, with their endings."""
    return frozenset(path.name for path in FOLDER.iterdir() if path.suffix in _KINDS)


@lru_cache(maxsize=4)
def _index(base: str) -> SearchIndex:
    return SearchIndex({name: _page(name, base) for name in order()}, explanations())


@lru_cache(maxsize=256)
def _page(name: str, base: str, language: str = ENGLISH, query: str = "") -> DocumentationPage:
    """Return a page in a language if ``docs/LANGUAGE/`` has it, else in English. The anchors are the same."""
    page = render_markdown((FOLDER / f"{name}.md").read_text("utf-8"), base, query=query)
    translated = FOLDER / language / f"{name}.md"
    if language == ENGLISH or not translated.is_file():
        return page
    anchors = [each.anchor for each in page.sections]
    return render_markdown(translated.read_text("utf-8"), base, anchors, query)._replace(language=language)


def render_markdown(text: str, base: str, anchors: Sequence[str] = (), query: str = "") -> DocumentationPage:
    r"""Convert Markdown (CommonMark with tables) to a documentation page. HTML in the text is escaped.

    The links to other pages begin with ``base``, the URL of the page "index", and end with ``query``, such as
    "?lang=de". ``anchors`` are those of the first headings. Other anchors are made of the words of the heading.

    >>> page = render_markdown("# Ask & *see*\n\n[next](files.md#a) <b>", "/docs")
    >>> page.title
    'Ask & see'
    >>> page.body.splitlines()[-1]
    '<p><a href="/docs/files#a">next</a> &lt;b&gt;</p>'
    """
    tokens = _markdown().parse(text)
    taken: dict[str, int] = {}
    codes: dict[str, Token] = {}
    sections: list[Section] = []
    texts: list[str] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = _words(tokens[place + 1])
            anchor = anchors[len(sections)] if len(sections) < len(anchors) else _anchor(words, taken)
            token.attrSet("id", anchor)
            texts.clear()
            sections.append(Section(int(token.tag[1:]), words, anchor, ""))
        elif token.type in ("inline", "fence", "code_block") and sections and tokens[place - 1].type != "heading_open":
            texts.append(_words(token) if token.children else token.content)
            sections[-1] = sections[-1]._replace(text=" ".join(" ".join(texts).split()))
        if token.type in ("th_open", "td_open"):
            # The alignment of a column is a style attribute.
            token.attrs.pop("style", None)
            children = tokens[place + 1].children or []
            if token.type == "td_open" and [child.type for child in children] == ["code_inline"]:
                codes.setdefault(children[0].content, token)
        _without_links(token.children or ())
        for child in token.children or ():
            href = child.attrGet("href") if child.type == "link_open" else None
            if child.type == "image" and (picture := str(child.attrGet("src")).removeprefix("../")) in pictures():
                child.attrSet("src", f"{base}/{picture}")
            if isinstance(href, str) and (found := _NEIGHBOUR.fullmatch(href)):
                to = base if found[1] == FIRST else f"{base}/{found[1]}"
                child.attrSet("href", f"{to}{query}{found[2] or ''}")
    for code, cell in codes.items():
        # The documents of errors link to the cell of their code.
        if _CODE.fullmatch(code) and code not in taken:
            cell.attrSet("id", code)
    end = next((place + 1 for place, token in enumerate(tokens) if token.type == "heading_close"), 0)
    head, body = (_markdown().renderer.render(part, _markdown().options, {}) for part in (tokens[:end], tokens[end:]))
    return DocumentationPage(sections[0].heading if sections else "", head, body, tuple(sections))


def _without_links(children: Sequence[Token]) -> None:
    """Make links to pages of :data:`REPOSITORY_ONLY` plain text, because the site does not have these pages."""
    is_open = False
    for child in children:
        if child.type == "link_open":
            found = _NEIGHBOUR.fullmatch(str(child.attrGet("href")))
            is_open = found is not None and found[1] in REPOSITORY_ONLY
        if is_open and child.type in ("link_open", "link_close"):
            is_open = child.type == "link_open"
            child.type, child.content = "text", ""


def _words(inline: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in inline.children or ())


def _anchor(words: str, taken: dict[str, int]) -> str:
    """Return the id of a heading. Code hosting sites use the same ids, so links work on both."""
    anchor = _NO_WORD.sub("", words.lower()).replace(" ", "-")
    taken[anchor] = number = taken.get(anchor, -1) + 1
    return f"{anchor}-{number}" if number else anchor


@cache
def _markdown() -> MarkdownIt:
    # Imported late, because most processes never show the documentation.
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    # Wide tables and code blocks scroll. tabindex makes them reachable with the keyboard.
    markdown.add_render_rule("table_open", _table)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    markdown.add_render_rule("fence", _block)
    markdown.add_render_rule("image", _image)
    return markdown


def _table(*_: Any) -> str:
    return '<div class="scroll" role="group" tabindex="0"><table>\n'


def _image(renderer: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """Return an image; with its dark version, such as ``desk-mint-dark.webp``, if there is one."""
    image = renderer.image(tokens, place, options, env)
    source = str(tokens[place].attrGet("src"))
    stem, dot, ending = source.rpartition(".")
    dark = f"{stem}-dark{dot}{ending}"
    if dark.rpartition("/")[2] not in pictures():
        return image
    return f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">{image}</picture>'


def _block(renderer: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    from markdown_it.common.utils import escapeHtml

    return f'<pre tabindex="0"><code>{escapeHtml(tokens[place].content)}</code></pre>\n'
