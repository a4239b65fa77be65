"""The regular expressions that a text of a person reaches: each use, and the limit of the door of the text.

A use is found in the source by its method, such as ``_NAME.search``. A new module with regular expressions needs a line
in :data:`DOORS`; a pattern of a local variable needs one in :data:`LOCAL`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ararat.bindings.log.mentions import Mentions
from ararat.bindings.names import naming, targets
from ararat.bindings.names.branding import logos
from ararat.bindings.names.fields import MAX_REASON
from ararat.bindings.names.metadata import metadata, personal_data
from ararat.bindings.names.prefixes import character_sets, texts
from ararat.bindings.tables import formulas, text_stream
from ararat.cli.doctor import configuration, fixes
from ararat.cli.serving import server
from ararat.identifiers import containers, extraction, iri_policy
from ararat.identifiers.ark import diagnosis as ark_diagnosis
from ararat.identifiers.ark import grammar as ark_grammar
from ararat.identifiers.iri_policy import iri_parts, profile
from ararat.identifiers.scheme_registration import scheme_names
from ararat.identifiers.text import anvl, characters, iri
from ararat.identifiers.urn import diagnosis
from ararat.identifiers.urn.namespaces import legal
from ararat.middleware.feeds import oai_arguments
from ararat.middleware.resolution.settings import Settings
from ararat.net import uri, url
from ararat.spreadsheets import returned_workbook
from ararat.webapp import body_routes, config
from ararat.webapp.report import excerpt
from tests.packages import ROOT, modules, nodes, read
from tests.regular_expressions import METHODS

Pattern = re.Pattern[Any]


class Use(NamedTuple):
    """A use of a pattern: ``module`` is its path, ``name`` the expression in it, such as "_SEPARATOR"."""

    module: str
    name: str
    method: str
    pattern: Pattern


# Doors ---------------------------------------------------------------------------------------------------------------

LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "text": config.MAX_BYTES,  # pasted into the inspector, or a body of its API
        "name": naming.MAX_CHARACTERS,
        "target": targets.MAX_OCTETS,
        "element": metadata.MAX_BYTES,
        "reason": MAX_REASON,
        "prefix": texts.MAX_TEXT,
        "search": 400,
        "record": text_stream.MAX_OCTETS,  # a line of a table or dump, and each cell of it
        "head": server.MAX_HEADER,  # the head of a request, and each field of it
        "body": config.MAX_BYTES,  # a form, a document of an API, or an answer of another server
        "number format": 255,
        "configuration": configuration._SEARCHED,  # a line of a front server of this machine
        "own": 20_000,  # files of the program or of its operator, arguments of commands
    }
)
"""The maximum number of characters of a text of each door."""

DOORS: Mapping[str, str] = MappingProxyType(
    {
        "identifiers/": "text",
        "identifiers/iri_policy/profile.py": "own",
        "identifiers/registries/": "own",
        "identifiers/registries/search.py": "head",
        "identifiers/registries/target_templates.py": "prefix",
        "bindings/": "own",
        "bindings/checks/": "target",
        "bindings/imports/sources/": "record",
        "bindings/log/": "body",
        "bindings/minting.py": "prefix",
        "bindings/names/": "name",
        "bindings/names/branding/": "body",
        "bindings/names/metadata/": "element",
        "bindings/names/origins.py": "target",
        "bindings/names/passthrough.py": "target",
        "bindings/names/prefixes/": "prefix",
        "bindings/names/selection.py": "search",
        "bindings/names/targets.py": "target",
        "bindings/names/validation.py": "element",
        "bindings/tables/": "record",
        "spreadsheets/": "record",
        "spreadsheets/number_formats.py": "number format",
        "net/": "body",
        "middleware/": "head",
        "middleware/edge/": "target",
        "middleware/http/trusted_proxy.py": "own",
        "tracing/": "body",
        "middleware/views/formats/": "element",
        "middleware/views/templates.py": "own",
        "webapp/": "body",
        "webapp/language/": "own",
        "webapp/views/docs.py": "own",
        "cli/": "own",
        "cli/doctor/configuration.py": "configuration",
        "cli/serving/": "head",
        "cli/sites/": "body",
    }
)
"""The doors of the texts that a module or the modules of a folder search. The longest beginning of a path counts."""


def door(module: str) -> str | None:
    """Return the name of the door of a module, or None if no line has it.

    >>> door("bindings/names/targets.py")
    'target'
    """
    found = [each for each in DOORS if module.startswith(each)]
    return DOORS[max(found, key=len)] if found else None


# Patterns of local variables -----------------------------------------------------------------------------------------


def _policy(*names: str) -> list[Pattern]:
    built_in = iri_policy.built_in("17beta")
    both = iri_policy.repaired_grammar(built_in).namespaces, iri_policy.printed_grammar(built_in).namespaces
    return [pattern for each in both for name, pattern in each.items() if not names or name in names]


def _directives() -> list[Pattern]:
    lines = [line for each in (row.get("lines", {}) for row in fixes.remedies().values()) for line in each.values()]
    return [re.compile(rf"(?:^|[\s{{;]){line}") for line in lines]


def _hidden() -> list[Pattern]:
    return [characters.hidden_in("a"), characters.hidden_in("\U0001f600")]


def _of(*expressions: str) -> Callable[[], list[Pattern]]:
    return lambda: [re.compile(each) for each in expressions]


LOCAL: Mapping[tuple[str, str], Callable[[], Iterable[Pattern]]] = MappingProxyType(
    {
        ("identifiers/ark/character_problems.py", "pattern"): lambda: [iri.NON_ASCII, re.compile("[\u200b\u2060]")],
        ("identifiers/ark/diagnosis.py", "iri.compile_rule(allowed, text)"): _of(
            ark_grammar.NAAN_START, ark_grammar.PATH_START, ark_diagnosis.IQUERY, ark_diagnosis.IFRAGMENT
        ),
        ("identifiers/containers.py", "before"): lambda: containers._BEFORE.values(),
        ("identifiers/containers.py", "_INSIDE[number]"): lambda: containers._INSIDE,
        ("identifiers/containers.py", "_URN_GUESS if is_urn else _GUESS"): lambda: [
            containers._URN_GUESS,
            containers._GUESS,
        ],
        ("identifiers/extraction.py", "_AFTER_HYPHEN if hyphen else _LINE_END"): lambda: [
            extraction._AFTER_HYPHEN,
            extraction._LINE_END,
        ],
        ("identifiers/extraction.py", "grammars[label.lastindex]"): lambda: [
            re.compile(extraction._ARK),
            extraction._ENCODED,
            extraction._URN,
        ],
        ("identifiers/extraction.py", "grammars[1]"): lambda: [re.compile(extraction._ARK)],
        ("identifiers/iri_policy/evaluation.py", "matcher"): lambda: _policy("uuid", "datetime"),
        ("identifiers/iri_policy/grammar.py", "match"): _policy,
        ("identifiers/iri_policy/grammar.py", "repaired_grammar(profile).reserved"): lambda: [
            iri_policy.repaired_grammar(iri_policy.built_in("17beta")).reserved
        ],
        ("identifiers/iri_policy/iri_parts.py", "iri.compile_rule(pattern, text)"): _of(
            iri_parts._IRI, iri_parts._ANY_IRI
        ),
        ("identifiers/iri_policy/profile.py", "iri.compile_rule(expression, value)"): _of(
            *(profile._HOST, profile._WORD, profile._BASE29, profile._RESOLVER, profile._LANGUAGE, profile._ADDRESS),
            *(profile._PARAMETER, r"/[A-Za-z0-9\-._~:/]{0,199}"),
        ),
        ("identifiers/repairs.py", "'[&#]' if match[2] else '[&;#]'"): _of("[&#]", "[&;#]"),
        ("identifiers/repairs.py", "characters.hidden_in(text)"): _hidden,
        ("identifiers/scheme_registration/scheme_names.py", "form"): lambda: scheme_names._PRIVATE.values(),
        ("identifiers/text/anvl.py", "escapes"): lambda: [anvl._IN_LABELS, anvl._IN_VALUES],
        ("identifiers/text/characters.py", "hidden_in(text)"): _hidden,
        ("identifiers/text/iri.py", "octets"): lambda: [iri.UNRESERVED_TRIPLETS],
        ("identifiers/text/iri.py", "compile_rule(f'[{UCSCHAR}]', char)"): _of(f"[{iri.UCSCHAR}]"),
        ("identifiers/urn/diagnosis.py", "allowed"): lambda: [
            diagnosis._NID_CHARS,
            diagnosis._NSS_CHARS,
            diagnosis._QUERY_CHARS,
        ],
        ("identifiers/urn/namespaces/legal.py", "element"): lambda: [pattern for _, pattern in legal._ELEMENTS],
        ("identifiers/urn/namespaces/model.py", "self.syntax"): _of("p[0-9]+"),  # no built-in namespace has one
        ("identifiers/urn/namespaces/model.py", "self.allowed"): _of(iri.run(f"{iri.PCHAR}/?", least=0)),
        ("bindings/log/mentions.py", "self._pattern"): lambda: [Mentions(["ark:12345/x5", "ark:/12345/x-5"])._pattern],
        ("bindings/names/branding/logos.py", "beginning"): lambda: logos._FORMATS.values(),
        ("bindings/names/metadata/personal_data.py", "pattern"): lambda: [
            each.pattern for each in (*personal_data._OF_NAME, *personal_data._OF_TARGET, *personal_data._OF_METADATA)
        ],
        ("bindings/names/metadata/personal_data.py", "each"): lambda: personal_data._NUMBERS,
        ("bindings/names/policy.py", "matcher"): lambda: _policy("uuid"),
        ("bindings/names/prefixes/character_sets.py", "wrong"): lambda: [character_sets._others("0-9")],
        ("bindings/names/targets.py", "_lines_of(first[0])"): lambda: [targets._lines_of("https://example.org")],
        ("bindings/names/validation.py", "_CONTROL_IN_LINE if lines else _CONTROL"): _of("[\x00-\x1f]"),
        ("bindings/tables/delimited.py", "one"): _of('"(?:[^"]|"")*+"|[^",\r\n][^,\r\n]*+|'),
        ("bindings/tables/formulas.py", "suspect"): lambda: [formulas._SUSPECT, formulas._SUSPECT_ASCII],
        ("net/uri.py", "production"): lambda: uri._PRODUCTIONS.values(),
        ("net/url.py", "_BRACKETED if bracketed else _NAMED"): lambda: [url._BRACKETED, url._NAMED],
        ("spreadsheets/returned_workbook.py", "pattern"): lambda: returned_workbook._OF_ORDER.values(),
        ("middleware/feeds/oai_arguments.py", "_SYNTAX[name]"): lambda: oai_arguments._SYNTAX.values(),
        ("middleware/resolution/settings.py", "self._own_address"): lambda: [
            Settings(prefix="https://a.example")._own_address
        ],
        ("webapp/report/excerpt.py", "characters.hidden_in(escaped)"): _hidden,
        ("webapp/report/excerpt.py", "by"): lambda: [excerpt.CHARACTERS, excerpt.VARIANTS],
        ("cli/conformance/answers.py", "iri_policy.printed_grammar(_POLICY).reserved"): lambda: [
            iri_policy.printed_grammar(iri_policy.built_in("17beta")).reserved
        ],
        ("cli/doctor/configuration.py", "include"): lambda: map(re.compile, configuration._INCLUDES.values()),
        ("cli/doctor/configuration.py", "program"): lambda: [each[0] for each in configuration._PROGRAMS.values()],
        ("cli/doctor/configuration.py", "directive"): _directives,
        ("cli/doctor/configuration.py", "f'(?<!\\\\d){self._port}(?!\\\\d)'"): _of(r"(?<!\d)8080(?!\d)"),
        ("webapp/body_routes.py", "each.path"): lambda: [each.path for each in body_routes.ROUTES],
    }
)
"""The patterns of expressions whose values are known only inside of a function."""


OTHERS = frozenset({("webapp/views/language.py", "adapter")})
"""Expressions with a method of the same name whose values are not patterns."""


# Uses ----------------------------------------------------------------------------------------------------------------


@functools.cache
def uses() -> tuple[Use, ...]:
    """Return all uses of regular expressions in the program."""
    return tuple(dict.fromkeys(each for path in _files() for each in _of_file(path)))


def unknown() -> list[str]:
    """Return the uses whose patterns are not known: each needs a line in :data:`LOCAL`."""
    return [f"{each.module}: {each.name}" for path in _files() for each in _of_file(path) if each.pattern is _UNKNOWN]


_UNKNOWN = re.compile("unknown")


def _files() -> Iterator[Path]:
    yield from modules()


@functools.cache
def _of_file(path: Path) -> tuple[Use, ...]:
    source = read(path)
    if "import re\n" not in source and not any(f".{method}" in source for method in METHODS):
        return ()
    module = str(path.relative_to(ROOT))
    name = ".".join(("ararat", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    values = vars(importlib.import_module(name))
    found: list[Use] = []
    called = {id(node.func) for node in nodes(path) if isinstance(node, ast.Call)}
    for node in nodes(path):
        if isinstance(node, ast.Call) and _is_function_of_re(node.func):
            found.extend(_of_call(module, node, values))
        elif isinstance(node, ast.Attribute) and node.attr in METHODS and not _is_function_of_re(node):
            found.extend(_of_method(module, node, values, is_called=id(node) in called))
    return tuple(found)


def _is_function_of_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re"


def _of_call(module: str, node: ast.Call, values: dict[str, Any]) -> Iterator[Use]:
    """Yield the use in a call such as ``re.sub("[a-z]+", "", text)``."""
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr not in METHODS:
        return
    name = ast.unparse(node.args[0])
    flags = next((each.value for each in node.keywords if each.arg == "flags"), None)
    if flags is None and node.func.attr in ("search", "match", "fullmatch", "findall", "finditer"):
        flags = node.args[2] if len(node.args) > 2 else None
    try:
        pattern = re.compile(_value(node.args[0], values), 0 if flags is None else _value(flags, values))
    except NameError:
        yield from _local(module, name, node.func.attr)
    else:
        yield Use(module, name, node.func.attr, pattern)


def _of_method(module: str, node: ast.Attribute, values: dict[str, Any], *, is_called: bool) -> Iterator[Use]:
    """Yield the use of a method of a pattern, such as ``_NAME.search``."""
    name = ast.unparse(node.value)
    if (module, name) in LOCAL:
        yield from _local(module, name, node.attr)
        return
    if isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("compile_rule"):
        try:
            expression = _value(node.value.args[0], values)
        except NameError:
            yield from _local(module, name, node.attr)
            return
        for each in (iri.compile_rule(expression, "a"), iri.compile_rule(expression, "\u00e9")):
            yield Use(module, name, node.attr, each)
        return
    try:
        calls = [each for each in ast.walk(node.value) if isinstance(each, ast.Call)]
        value = _value(node.value, values) if all(_is_function_of_re(each.func) for each in calls) else _UNKNOWN
    except Exception:  # noqa: BLE001 - such as a proxy of a request
        value = _UNKNOWN
    if value is _UNKNOWN:
        # "split" is also a method of texts.
        if is_called and node.attr != "split" and name not in ("self", "super()") and (module, name) not in OTHERS:
            yield Use(module, name, node.attr, _UNKNOWN)
        return
    if isinstance(value, re.Pattern):
        yield Use(module, name, node.attr, value)


def _local(module: str, name: str, method: str) -> Iterator[Use]:
    known = LOCAL.get((module, name))
    for pattern in [_UNKNOWN] if known is None else known():
        yield Use(module, name, method, pattern)


def _value(node: ast.expr, values: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<source>", "eval"), dict(values))
