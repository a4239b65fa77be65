"""Find the sentences of docstrings that repeat a name: "``path`` is the path"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.packages import inner

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

_SENTENCE = re.compile(r'(?<=[.])\s+(?=[A-Z`*"(])')
_PARAMETER = re.compile(r"``(\w+)`` (?:is|are) (.*)\.", re.DOTALL)
_ITEM = re.compile(r"- ``(\w+)``: (.*)")
_NAMED_TWICE = re.compile(r"\b(?:an?|the|its|their|these|those) (?:[\w-]+ ){0,2}(\w+) ``\1``", re.IGNORECASE)
# Words that add nothing to a name and its type.
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "the a an of is are that those its their this it in to for or and as by with which from on at each all be been "
        "was were has have not none no if one two other true false whether such than into them they value text",
    )
)


def repetitions(module: ast.Module) -> Iterator[str]:
    """Yield the sentences of a module that state of a parameter or field only words of its signature or first sentence.

    >>> source = 'def read(path: str):\\n    "Read a file.\\\\n\\\\n``path`` is the path of the file."'
    >>> list(repetitions(ast.parse(source)))
    ['read: ``path`` is the path of the file.']
    >>> list(repetitions(ast.parse("def read(path: str):\\n    'Read the file at the path ``path``.'")))
    ['read: Read the file at the path ``path``.']
    """
    for node, owner in _definitions(module, None):
        docstring = ast.get_docstring(node)
        if docstring:
            known = _signature_words(node) | _words(owner or "") | _words(docstring.split("\n\n")[0].split(". ")[0])
            names = set(_names(node))
            yield from (f"{node.name}: {each}" for each in _statements(docstring) if _repeats(each, known, names))


def _definitions(node: ast.AST, owner: str | None) -> Iterator[tuple[Definition, str | None]]:
    for child in inner(node):
        if isinstance(child, Definition):
            yield child, owner
        yield from _definitions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _names(node: Definition) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
        yield from (each.id for each in fields if isinstance(each, ast.Name))
    else:
        yield from (each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


def _signature_words(node: Definition) -> set[str]:
    if isinstance(node, ast.ClassDef):
        fields = (ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign))
        return _words(" ".join([node.name, *fields]))
    return _words(f"{node.name} {ast.unparse(node.args)} {ast.unparse(node.returns) if node.returns else ''}")


def _statements(docstring: str) -> Iterator[str]:
    for paragraph in docstring.split("\n\n"):
        if ">>>" in paragraph or "::" in paragraph:
            continue
        if paragraph.startswith("- "):
            items = (_ITEM.fullmatch(" ".join(item.split())) for item in re.split(r"\n(?=- )", paragraph))
            yield from (f"``{item[1]}`` is {item[2]}" for item in items if item and ". " not in item[2])
        else:
            yield from (" ".join(each.split()) for each in _SENTENCE.split(paragraph))


def _repeats(sentence: str, known: set[str], names: set[str]) -> bool:
    if any(twice.lower() in names for twice in _NAMED_TWICE.findall(sentence)):
        return True
    found = _PARAMETER.fullmatch(sentence)
    if not found or found[1] not in names or re.search(r'[:;"0-9]|``', found[2]):
        return False
    # It must state what None means, but not that the type permits it.
    if "None" in found[2] and not found[2].endswith("or None"):
        return False
    return not _words(found[2]) - _EMPTY - known


def _words(text: str) -> set[str]:
    plain = re.sub("([a-z])([A-Z])", r"\1 \2", text.replace("_", " "))
    return {_singular(each.lower()) for each in re.findall("[A-Za-z]+", plain)}


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
