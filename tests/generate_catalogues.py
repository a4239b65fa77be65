"""Update the translations of the public pages from the templates and modules:

    .venv/bin/python tests/generate_catalogues.py

Each file middleware/views/po/LANGUAGE.po then has exactly the messages of the source. A new message has an empty
translation, which a test reports. Run make afterwards, to compile the catalogues.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from ararat.bindings.names.metadata import persistence
from ararat.middleware.resolution.settings import ENGLISH, LANGUAGES

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "middleware" / "views" / "po"
_METHODS = {"templates/resolver": [("**.html", "jinja2")], "middleware/views": [("messages.py", "python")]}
_FUNCTIONS = {"_": None, "translatable": None}


def source() -> Catalog:
    """Return the messages of the templates and modules, and the persistence terms, without translations."""
    catalog = Catalog(project="Ararat", charset="utf-8", fuzzy=False)
    for folder, methods in _METHODS.items():
        for name, _, message, _, _ in extract_from_dir(ROOT / folder, methods, keywords=_FUNCTIONS):
            catalog.add(message, locations=[(f"{folder}/{name}", 0)])
    for terms in persistence.TERMS.values():
        for text in (*terms, *terms.values()):
            catalog.add(text, locations=[("bindings/names/metadata/persistence.py", 0)])
    return catalog


def translated(language: str) -> Catalog:
    """Return the catalogue of a language, which is empty if its file does not exist."""
    path = FOLDER / f"{language}.po"
    if not path.exists():
        return Catalog(locale=language, project="Ararat", charset="utf-8", fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def page(language: str) -> bytes:
    """Return the updated file of a language."""
    known, catalog = translated(language), source()
    lines = BytesIO()
    lines.write(b'msgid ""\nmsgstr ""\n')
    lines.write(f'"Language: {language}\\n"\n'.encode())
    lines.write(b'"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n')
    lines.write(b'"Content-Transfer-Encoding: 8bit\\n"\n\n')
    for message in catalog:
        if message.id and (found := known.get(message.id)) is not None:
            message.string = found.string
            message.flags |= found.flags & {"fuzzy"}
    write_po(lines, catalog, width=0, omit_header=True, sort_output=True, include_lineno=False)
    return lines.getvalue().rstrip() + b"\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for language in LANGUAGES:
        if language != ENGLISH:
            (FOLDER / f"{language}.po").write_bytes(page(language))
