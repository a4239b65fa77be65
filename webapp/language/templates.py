"""The environment of the templates: texts in the current language. ``_("…")`` and ``{% trans %}`` are for texts that a
template contains. For a translatable value, the compiled template calls the filter ``translated``. ``finalize`` of
Jinja would be called for each expression, and most are calls of macros.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Set
from functools import partial
from typing import Any

from flask.templating import Environment
from jinja2 import nodes

from ...middleware.resolution.settings import LANGUAGES
from . import current, formats
from .current import language
from .translation import gettext, ngettext, npgettext, pgettext, translate

_TEXTS = frozenset({"_", "gettext", "ngettext", "pgettext", "npgettext", "url_for", "asset", "super", "caller"})
"""Functions whose results are in the current language already, or that people do not read."""

_FILTERS = frozenset(
    {
        *("escape", "e", "escape_hidden", "int", "join", "length", "lower", "shown", "tojson", "translated", "upper"),
        *("day", "instant", "moment", "period", "urlencode", "utc"),
    }
)
"""Filters with such results."""


class TranslatedEnvironment(Environment):
    """An environment whose templates are in the language of the request."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.add_extension("jinja2.ext.i18n")
        self.policies["ext.i18n.trimmed"] = True
        # "newstyle" escapes the values of the placeholders, and not the messages.
        self.install_gettext_callables(  # type: ignore[attr-defined]
            gettext, ngettext, newstyle=True, pgettext=pgettext, npgettext=npgettext
        )
        self.filters["translated"] = translate
        self.globals.update(
            colon=partial(gettext, ":"),
            figure=formats.figure,
            directions=LANGUAGES,
            page_language=language,
            page_languages=lambda: current.languages(),
        )

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        # A chain of mappings makes each import of macros slower: Jinja compares all names of globals.
        return super().make_globals(d) if d else self.globals

    def compile(self, source: Any, *args: Any, **options: Any) -> Any:
        if isinstance(source, str):
            source = self._with_translations(self.parse(source, *args[:2]))
        return super().compile(source, *args, **options)

    def _with_translations(self, template: nodes.Template) -> nodes.Template:
        """Add the filter ``translated`` to each expression whose value can be translatable."""
        macros = {each.name for each in template.find_all(nodes.Macro)}
        for each in template.find_all(nodes.FromImport):
            macros |= {name if isinstance(name, str) else name[1] for name in each.names}
        for output in template.find_all(nodes.Output):
            output.nodes = [
                nodes.Filter(each, "translated", [], [], None, None, lineno=each.lineno)
                if _can_be_translatable(each, macros | _TEXTS)
                else each
                for each in output.nodes
            ]
        return template


def _can_be_translatable(expression: nodes.Expr, texts: Set[str]) -> bool:
    """Return whether the value of an expression can be a translatable text. ``texts`` are functions without such."""
    match expression:
        case nodes.And() | nodes.Or():
            return any(_can_be_translatable(each, texts) for each in (expression.left, expression.right))
        case nodes.TemplateData() | nodes.Const() | nodes.Concat() | nodes.Compare() | nodes.Not() | nodes.BinExpr():
            return False
        case nodes.CondExpr():
            branches = filter(None, (expression.expr1, expression.expr2))
            return any(_can_be_translatable(each, texts) for each in branches)
        case nodes.Call(node=nodes.Name(name=name)):
            return name not in texts
        case nodes.Filter(name=name):
            return name not in _FILTERS
        case nodes.Getattr(node=nodes.Name(name="loop")):
            return False
        case _:
            return True
