"""The translations of all pages: complete, with the same placeholders and elements, and compiled."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from babel.messages.catalog import Message

from ararat.middleware.resolution.settings import ENGLISH
from ararat.middleware.views import catalogues
from tests.generate_catalogues import PAGES, PUBLIC, Catalogues
from tests.packages import ROOT, modules, nodes, read, walk

ALL = [
    pytest.param(each, language, id=f"{each.folder.partition('/')[0]}-{language}")
    for each in (PUBLIC, PAGES)
    for language in each.languages
    if language != ENGLISH
]
every_catalogue = pytest.mark.parametrize(("catalogue", "language"), ALL)
_PLACEHOLDER = re.compile(r"%\(\w+\)s|%%?")
_NUMBER = "%(number)s"
# A translation can add no element and no attribute; a message has only harmless ones.
_TAG = re.compile(r"<[^>]*>|&\w+;")
_SCRIPTS = {
    "ar": "[\u0620-\u064a]",
    "he": "[\u05d0-\u05ea]",
    "ja": "[\u3040-\u30ff\u4e00-\u9fff]",
    "zh": "[\u4e00-\u9fff]",
}
# Marks that change the direction, and control characters.
_FORBIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\x00-\x1f]")


def messages(catalogue: Catalogues, language: str) -> Iterator[tuple[Message, str, str]]:
    """Yield each message with a text of the source and its translation; those with a number, each of their forms."""
    for message in catalogue.translated(language):
        if not message.id:
            continue
        if isinstance(message.id, tuple):
            for number, form in enumerate(message.string or ()):
                # The first form is also for the number 1.
                is_one = number == 0 and set(_PLACEHOLDER.findall(str(form))) < set(_PLACEHOLDER.findall(message.id[1]))
                yield message, message.id[0 if is_one else 1], str(form)
        else:
            yield message, str(message.id), str(message.string)


@pytest.mark.parametrize("catalogue", [pytest.param(PUBLIC, id="public"), pytest.param(PAGES, id="pages")])
def test_each_language_has_a_catalogue(catalogue):
    files = {path.stem for path in catalogue.path("en").parent.glob("*.po")}
    assert files == set(catalogue.languages) - {ENGLISH}


@every_catalogue
def test_a_catalogue_has_exactly_the_messages_of_the_source(catalogue, language):
    found = catalogue.path(language).read_bytes()
    assert found == catalogue.page(language), "run: python tests/generate_catalogues.py"


@every_catalogue
def test_each_message_is_translated(catalogue, language):
    missing = [source for message, source, text in messages(catalogue, language) if not text or message.fuzzy]
    assert missing == []


@every_catalogue
def test_a_translation_has_the_placeholders_and_elements_of_its_message(catalogue, language):
    wrong: list[tuple[str, str]] = []
    for message, source, text in messages(catalogue, language):
        placeholders, expected = Counter(_PLACEHOLDER.findall(text)), Counter(_PLACEHOLDER.findall(source))
        if isinstance(message.id, tuple):
            # "One name" needs no figure.
            placeholders.pop(_NUMBER, None)
            expected.pop(_NUMBER, None)
        if placeholders != expected or Counter(_TAG.findall(text)) != Counter(_TAG.findall(source)):
            wrong.append((source, text))
    assert wrong == []


@every_catalogue
def test_a_translation_is_text_in_its_script(catalogue, language):
    wrong: list[tuple[str, str]] = []
    for _, source, text in messages(catalogue, language):
        is_text = text == text.strip() and re.search(_SCRIPTS.get(language, "[A-Za-z]"), text)
        ends = source[-1:] in ".:" or text[-1:] not in ".:"
        if not is_text or _FORBIDDEN.search(text) or not ends:
            wrong.append((source, text))
    assert wrong == []


@every_catalogue
def test_the_compiled_catalogue_has_the_translations(catalogue, language):
    compiled = catalogues.load(f"ararat.{catalogue.folder.removesuffix('/po').replace('/', '.')}", language)
    wrong = [
        message.id
        for message in catalogue.translated(language)
        if message.id
        and not isinstance(message.id, tuple)
        and message.string
        and (compiled.pgettext(message.context, message.id) if message.context else compiled.gettext(message.id))
        != message.string
    ]
    assert wrong == [], "run: make"


# Two words in lower case are a phrase, which stays English in a translated sentence. A command is not one.
_PHRASE = re.compile(r"(?!ararat )\b[a-z]{2,} [a-z]{2,}")


def phrases(node: ast.AST) -> Iterator[str]:
    """Yield the English phrases that a value of a message can be: texts, parts of texts, and alternatives."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.startswith("ararat "):
        yield from _PHRASE.findall(node.value)
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from phrases(part.value if isinstance(part, ast.FormattedValue) else part)
    elif isinstance(node, ast.IfExp):
        yield from (*phrases(node.body), *phrases(node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from (each for value in node.values for each in phrases(value))


def phrases_in_messages(every: Iterable[ast.AST]) -> Iterator[tuple[int, str, str]]:
    """Yield each phrase that a message gets as a parameter: the line, the parameter and the phrase."""
    for function in every:
        if not isinstance(function, ast.FunctionDef):
            continue
        named: dict[str, list[str]] = {}
        inside = walk(function)
        for node in inside:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                named.setdefault(node.targets[0].id, []).extend(phrases(node.value))
        for node in inside:
            name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if name in ("Translatable", "counted", "_"):
                for given in node.keywords:  # type: ignore[attr-defined]
                    found = named.get(given.value.id, ()) if isinstance(given.value, ast.Name) else phrases(given.value)
                    yield from ((node.lineno, given.arg or "**", each) for each in found)  # type: ignore[attr-defined]


def test_no_message_has_an_english_phrase_as_its_parameter():
    # The command is in English. A name, a number, a label or a whole message that is translated itself can be one.
    found = {
        f"{path.relative_to(ROOT)}:{line}: {parameter}: {phrase}"
        for path in modules(without=("cli",))
        if "Translatable" in read(path)
        for line, parameter, phrase in phrases_in_messages(nodes(path))
    }
    assert found == set()


@pytest.mark.parametrize(
    "code",
    [
        pytest.param('Translatable("the %(what)s is empty", what="other reason")', id="text"),
        pytest.param('Translatable("%(why)s", why=f"it has {n} names")', id="part of a text"),
        pytest.param('Translatable("%(why)s", why="one of two" if n else "two")', id="alternative"),
        pytest.param('what = "the first one"; Translatable("%(what)s", what=what)', id="variable"),
    ],
)
def test_phrases_are_found(code):
    assert len(list(phrases_in_messages(ast.walk(ast.parse(f"def f(n):\n    {code}\n"))))) == 1


def test_names_and_commands_are_not_phrases():
    code = 'Translatable("%(a)s %(b)s %(c)s", a="ararat log publish", b=f"{n}", c=Translatable("of the hold"))'
    assert list(phrases_in_messages(ast.walk(ast.parse(f"def f(n):\n    {code}\n")))) == []
