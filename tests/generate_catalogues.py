"""Update the translations of the public pages, of the inspector and of the desk from their sources:

    .venv/bin/python tests/generate_catalogues.py

Each file LANGUAGE.po then has exactly the messages of the source. A new message has an empty translation, which a test
reports. Run make afterwards, to compile the catalogues.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir, extract_python
from babel.messages.pofile import read_po, write_po

from ararat.bindings.names.error_codes import ERROR_CODES, REFUSALS
from ararat.bindings.names.metadata import persistence
from ararat.identifiers import PROBLEMS
from ararat.identifiers.text.translatable import Translatable
from ararat.middleware.resolution.settings import ENGLISH, LANGUAGES
from ararat.webapp.language.current import languages

ROOT = Path(__file__).parents[1]
_TABLES = {
    "identifiers/problems.py": PROBLEMS,
    "bindings/names/error_codes.py": {**ERROR_CODES, **{f"refusal {code}": each for code, each in REFUSALS.items()}},
}
"""Tables whose texts are translatable by their type."""

_PLACEHOLDER = re.compile(r"%\(\w+\)s")
_LETTER = re.compile(r"[A-Za-z]")
_FUNCTIONS = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "translatable": None,
    "Translatable": None,
    "counted": (1, 2),
    "in_context": ((1, "c"), 2),
}
_CALL = re.compile(rf"\b(?:{'|'.join(_FUNCTIONS)})\(".encode())


def _extract_python(file: BinaryIO, keywords: Any, comment_tags: Any, options: Any) -> Iterator[Any]:
    """Yield the messages of a module. Babel reads each token of it, which takes long, and few modules have messages."""
    if _CALL.search(file.read()):
        file.seek(0)
        yield from extract_python(file, keywords, comment_tags, options)


@dataclass(frozen=True, eq=False)
class Catalogues:
    """The catalogues of some pages.

    - ``folder``: the folder of the files, below the root.
    - ``sources``: the methods of extraction by folder and pattern.
    - ``languages``: the tags of the languages.
    - ``elsewhere``: the catalogues that also have some of the messages.
    """

    folder: str
    sources: Mapping[str, list[tuple[str, str]]]
    languages: Iterable[str]
    elsewhere: Catalogues | None = None

    def path(self, language: str) -> Path:
        """Return the file of a language."""
        return ROOT / self.folder / f"{language}.po"

    @cache  # noqa: B019 - there are two of them
    def source(self) -> Catalog:
        """Return the messages of the sources, without translations."""
        catalog = Catalog(project="Ararat", charset="utf-8", fuzzy=False)
        for folder, methods in self.sources.items():
            options = {pattern: {"trimmed": "true"} for pattern, method in methods if method == "jinja2"}
            ours: Any = [(name, _extract_python if method == "python" else method) for name, method in methods]
            found = extract_from_dir(ROOT / folder, ours, options, keywords=_FUNCTIONS)
            for name, _, message, _, context in found:
                if not _LETTER.search(_PLACEHOLDER.sub("", "".join(message))):
                    continue
                catalog.add(message, locations=[(f"{folder}/{name}", 0)], context=context)
        if self.elsewhere is not None:
            for place, table in _TABLES.items():
                for entry in table.values():
                    for text in (entry.title, entry.expected, getattr(entry, "fix", "")):
                        if isinstance(text, Translatable) and text:
                            catalog.add(text.pattern, locations=[(place, 0)])
            place = "identifiers/data/explanations.json"
            for explained in json.loads((ROOT / place).read_text("utf-8")).values():
                for each in explained.values():
                    for name in {"text", "headline"} & set(each):
                        catalog.add(each[name].replace("%", "%%"), locations=[(place, 0)])
        else:
            for terms in persistence.TERMS.values():
                for text in (*terms, *terms.values()):
                    catalog.add(text, locations=[("bindings/names/metadata/persistence.py", 0)])
        if self.elsewhere is not None:
            for message in self.elsewhere.source():
                if message.id and catalog.get(message.id, message.context) is not None:
                    catalog.delete(message.id, message.context)
        return catalog

    @cache  # noqa: B019 - there are two of them
    def _messages(self) -> list[Message]:
        """Return the messages in the order of the files. Babel would compare them all again for each language."""
        return sorted(message for message in self.source() if message.id)

    @cache  # noqa: B019 - there are two of them
    def translated(self, language: str) -> Catalog:
        """Return the catalogue of a language, which is empty if its file does not exist."""
        path = self.path(language)
        if not path.exists():
            return Catalog(locale=language, project="Ararat", charset="utf-8", fuzzy=False)
        with path.open("rb") as file:
            return read_po(file, locale=language, abort_invalid=True)

    def page(self, language: str) -> bytes:
        """Return the updated file of a language."""
        known, source = self.translated(language), self._messages()
        lines = BytesIO()
        lines.write(b'msgid ""\nmsgstr ""\n')
        lines.write(f'"Language: {language}\\n"\n'.encode())
        lines.write(b'"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n')
        lines.write(b'"Content-Transfer-Encoding: 8bit\\n"\n')
        if any(message.pluralizable for message in source):
            lines.write(f'"Plural-Forms: {known.plural_forms}\\n"\n'.encode())
        lines.write(b"\n")
        catalog = Catalog(locale=language, project="Ararat", charset="utf-8", fuzzy=False)
        for message in source:
            found = known.get(message.id, message.context)
            same = found is not None and found.pluralizable == message.pluralizable and found.id == message.id
            places = sorted(set(message.locations))
            flags = message.flags | (found.flags & {"fuzzy"} if found is not None else set())
            string = found.string if same and found is not None else None
            catalog.add(message.id, string, places, flags, context=message.context)
        write_po(lines, catalog, width=0, omit_header=True, sort_output=True, include_lineno=False)
        return lines.getvalue().rstrip() + b"\n"

    def update(self) -> None:
        """Write the files of all languages."""
        (ROOT / self.folder).mkdir(exist_ok=True)
        for language in self.languages:
            if language != ENGLISH:
                self.path(language).write_bytes(self.page(language))


PUBLIC = Catalogues(
    "middleware/views/po",
    {"templates/resolver": [("**.html", "jinja2")], "middleware/views": [("messages.py", "python")]},
    tuple(LANGUAGES),
)
PAGES = Catalogues(
    "webapp/language/po",
    {
        **{f"templates/{folder}": [("**.html", "jinja2")] for folder in ("desk", "ezid", "inspector", "reference")},
        **{
            folder: [("**.py", "python")]
            for folder in ("identifiers", "bindings", "spreadsheets", "net", "tracing", "webapp")
        },
    },
    tuple(languages()),
    PUBLIC,
)


if __name__ == "__main__":
    PUBLIC.update()
    PAGES.update()
