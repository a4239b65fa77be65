"""Which language a request is answered in, and how that goes on from page to page.

It is the one that ``?lang=`` names, else the one that a browser likes best of those there are (``Accept-Language``).
``lang`` goes on into every address that a page leads to; there is no cookie, and nothing is kept. Programs get English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import Token
from typing import Any

from flask import Flask, current_app, g, has_request_context, request

from . import language, pseudo, sentences
from .language import ENGLISH, Language
from .representation import wants_json

KEY = "ararat.languages"

_PARAMETER = "lang"
_NO_TEXTS = ("static", "picture", "favicon", "description", "robots", "healthz", "as_data")


def init_app(app: Flask, languages: Sequence[Language] | None = None) -> None:
    """Let the pages of ``app`` speak ``languages`` beside English: None is every language that ships a catalogue."""
    known = [language.of_name(tag) for tag in language.shipped()] if languages is None else languages
    app.extensions[KEY] = {each.tag: each for each in (ENGLISH, *known)}
    environment = app.jinja_env
    environment.add_extension("jinja2.ext.i18n")
    # The callables are those of the extension, which the type of an environment does not know.
    install = getattr(environment, "install_gettext_callables")  # noqa: B009
    install(language.translated, language.translated_plural, newstyle=True)
    environment.policies["ext.i18n.trimmed"] = True
    environment.globals.update(
        language=language.current, figure=language.figure, told=sentences.told, begun=sentences.begun
    )
    app.before_request(_begin)
    app.teardown_request(_end)
    app.url_defaults(_keep)


def negotiated() -> bool:
    """Whether what a browser likes best changes what this site answers: where there is more than one language."""
    return len(_offered()) > 1


def _offered() -> Mapping[str, Language]:
    return current_app.extensions[KEY]


def _begin() -> None:
    token: Token[Language] = language.begin(ENGLISH if wants_json() else _asked() or _liked())
    g.language = token


def _end(_error: BaseException | None) -> None:
    # Absent where the request was refused before anything began.
    if (token := g.pop("language", None)) is not None:
        language.end(token)


def _asked() -> Language | None:
    asked = request.args.get(_PARAMETER)
    # The mirrored one is offered to nobody, and there for whoever names it.
    return language.of_name(pseudo.TAG) if asked == pseudo.TAG else _offered().get(asked or "")


def _liked() -> Language:
    offered = _offered()
    if len(offered) > 1:
        known = {tag.lower(): each for tag, each in offered.items()}
        for liked, quality in request.accept_languages:
            # Lookup (RFC 4647, section 3.4): a range is shortened from its end until it matches.
            tag = liked.lower()
            while tag and quality:
                if tag in known:
                    return known[tag]
                tag = tag.rpartition("-")[0]
    return ENGLISH


def _keep(endpoint: str, values: dict[str, Any]) -> None:
    """Let what leads from a page in a language that was asked for lead to pages in the same one."""
    if not has_request_context() or _PARAMETER not in request.args:
        return
    room, _, page = endpoint.rpartition(".")
    for_programs = room == "api" or page in _NO_TEXTS or page.endswith("_json")
    if not for_programs and (asked := _asked()):
        values.setdefault(_PARAMETER, asked.tag)
