"""Finds the sentences of reports, refusals and traces where the pure rooms write them, for the catalogues.

Those rooms know of no language: a sentence is a str or an f-string in them, and English for whoever reads it as data.
A page speaks other languages (:mod:`.sentences`), so translators need every sentence as they know texts, with names for
what is filled in: of ``f"a Name cannot hold {shown}"`` that is ``a Name cannot hold %(shown)s``. Used by
:mod:`.catalogues` alone, never when a page is made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import get_args

from ..identifiers import conformance, decisions, registries, schemes
from . import openapi
from .tracing.events import State
from .tracing.remarks import HOPS

WRITTEN = (
    *("identifiers/*.py", "identifiers/namespaces/*.py", "identifiers/policy/*.py", "identifiers/schemes/*.py"),
    *("middleware/refusals.py", "middleware/resolution.py", "middleware/services.py"),
    *("webapp/*.py", "webapp/tracing/*.py"),
)
"""The modules that write sentences which a page shows."""

SILENT = {
    *("identifiers/iana_files.py", "identifiers/naan_files.py", "identifiers/registry_source.py"),
    *("identifiers/registry_files.py", "identifiers/registry_tables.py", "identifiers/conformance.py"),
    *("identifiers/anvl.py", "identifiers/length.py", "identifiers/characters.py", "identifiers/decisions.py"),
    *("identifiers/policy/profile.py", "identifiers/policy/grammar.py", "identifiers/registry_search.py"),
    *("webapp/catalogues.py", "webapp/command.py", "webapp/logs.py", "webapp/demo.py", "webapp/language.py"),
    *("webapp/phrases.py", "webapp/pseudo.py", "webapp/schemas.py", "webapp/serve.py", "webapp/openapi.py"),
}
"""Those among them whose words only a command line or a log shows; a table's texts are read from the table itself."""

FRAMES = (
    "%(sentence)s (%(code)s)",
    "section %(section)s, %(code)s",
    "%(document)s, section %(section)s",
    "%(document)s, section %(section)s, step %(step)s",
    "%(document)s, section %(section)s, Theorem %(theorem)s",
)
"""What sentences, and the many places in documents, are put together from."""

# At least two words, one after the other, and nothing of a regular expression, a header field or a query.
_PHRASE = re.compile(
    r"[A-Za-z]{2,}[,;:.)\"']* [(\"'%]*[A-Za-z]|[a-z]{2,} %\(|\)s[,;:]? [a-z]{2,}|^[a-z]{2,} \S+ [a-z]{2,} \S+$"
)
_NO_PHRASE = re.compile(
    r"\\|\n|\(\?[:P!<i(]|\(\?=[^)]|\[\^|\]\+|<[a-z!/]|-src |'none'|charset=|ark:[0-9]|^(?:Disa|A)llow: |^: still"
    r"|%%%%|%%\(|^(?:%\(\w+\)s|[\w#-]+(?: [\w#-]+)?), section [0-9.]++(?:,|\Z)"
)
# What these are called with is shown to nobody who reads pages, or is in the catalogues already.
_PASSED_OVER = {"gettext", "_", "ngettext", "marked", "marked_plural", "counted", "compile", "AssertionError", "cast"}
_PASSED_OVER |= {"TypeError", "add_argument", "debug", "info", "warning", "exception", "NewType", "deque", "literal"}


def phrases(root: Path) -> Iterator[tuple[str, str]]:
    """The sentences below ``root``, each with the file that writes it."""
    for path in sorted({path for pattern in WRITTEN for path in root.glob(pattern)}):
        name = path.relative_to(root).as_posix()
        if name not in SILENT:
            for text in of_source(path.read_text("utf-8")):
                yield name, text
    yield from (("identifiers/data/decisions.json", text) for text in _of_decisions())
    for row in conformance.requirements():
        for text in filter(None, (row.title, row.why)):
            yield "identifiers/data/conformance.jsonl", text.replace("%", "%%")
    yield from (("webapp/openapi.py", text) for text in _of_description())
    yield from (("identifiers/data/explanations.json", text) for text in registries.explanations())
    yield from (("webapp/tracing/remarks.py", text) for text in HOPS)
    # Words alone are found in no source, so that these come from their tables.
    yield from (("identifiers/schemes/record.py", field.label) for field in schemes.FIELDS)
    yield from (("identifiers/schemes/status.py", status) for status in schemes.STATUSES)
    yield from (("webapp/tracing/events.py", state) for state in get_args(State))
    yield from (("webapp/phrases.py", text) for text in FRAMES)


def of_source(source: str) -> Iterator[str]:
    """The sentences of a module, with what is filled in by name.

    >>> list(of_source('said = f"the time for {self.what} was used up"; key = "no-time"'))
    ['the time for %(what)s was used up']
    >>> list(of_source('''say(f"in {n} second{'' if n == 1 else 's'} it ends")'''))
    ['in %(n)s second it ends', 'in %(n)s seconds it ends']
    """
    tree = ast.parse(source)
    silent = {id(node) for found in ast.walk(tree) for node in _unspoken(found)}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts = [node.value.replace("%", "%%")]
        elif isinstance(node, ast.JoinedStr):
            texts = _of_joined(node)
        else:
            continue
        for text in texts:
            if _PHRASE.search(text) and not _NO_PHRASE.search(text):
                yield text.strip()


def _unspoken(node: ast.AST) -> Iterator[ast.AST]:
    """What below a node is no sentence of its own: documentation, parts of f-strings, what is passed over."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.Constant):
                yield part
            elif isinstance(part, ast.FormattedValue) and part.format_spec:
                yield from ast.walk(part.format_spec)
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _PASSED_OVER:
            yield from (below for each in (*node.args, *node.keywords) for below in ast.walk(each))
    elif isinstance(node, ast.Subscript):
        yield from ast.walk(node.slice)


def _of_joined(node: ast.JoinedStr) -> list[str]:
    names: dict[str, int] = {}
    pieces = [_alternatives(part, names) for part in node.values]
    return ["".join(chosen) for chosen in product(*pieces)]


def _alternatives(part: ast.expr, names: dict[str, int]) -> list[str]:
    """What may stand at one place of an f-string: its own words, or a value by a name."""
    if isinstance(part, ast.Constant):
        return [str(part.value).replace("%", "%%")]
    value = part.value if isinstance(part, ast.FormattedValue) else part
    if isinstance(value, ast.IfExp):
        both = [each.value for each in (value.body, value.orelse) if isinstance(each, ast.Constant)]
        if len(both) == 2 and all(isinstance(each, str) for each in both):
            return [str(each).replace("%", "%%") for each in both]
    name = _name(value)
    names[name] = names.get(name, 0) + 1
    return [f"%({name if names[name] == 1 else name + str(names[name])})s"]


def _name(value: ast.expr) -> str:
    if isinstance(value, ast.Name):
        return value.id.strip("_").lower() or "value"
    if isinstance(value, ast.Attribute):
        return value.attr
    if isinstance(value, ast.Call):
        return next((_name(each) for each in value.args), "value")
    if isinstance(value, ast.Subscript):
        key = value.slice
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else _name(value.value)
    return "value"


def _of_decisions() -> Iterator[str]:
    for each in decisions.decisions().values():
        yield from (text.replace("%", "%%") for text in (each.topic, each.title, each.said, each.done, each.why))


def _of_description() -> Iterator[str]:
    """What the page of the API says of each operation, and of all of them."""
    yield from (openapi.STABILITY, openapi.CORS, openapi.LIMITS)
    for path in openapi.PATHS.values():
        for operation in path.values():
            yield operation["summary"]
            yield from (each["description"] for each in operation.get("parameters", ()))
            if "requestBody" in operation:
                yield operation["requestBody"]["description"]
