"""Collects the texts of the pages into the template of all catalogues, and brings the catalogues up to it.

For whoever changes a text or translates: ``make catalogues``, and for a new language ``make catalogues LANGUAGES=de``.
Texts are found where they stand, in the templates and in the rooms of the web application, by Babel; the sentences of
reports, refusals and traces, which the other rooms write as data, by :mod:`.phrases`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from . import phrases
from .language import CONTEXT, DOMAIN, FOLDER, shipped, template

try:
    from babel import Locale
    from babel.messages import Catalog
    from babel.messages.extract import extract_from_dir
    from babel.messages.pofile import read_po, write_po
except ImportError as missing:  # pragma: no cover
    raise SystemExit(f"error: catalogues are made with Babel: {missing}") from missing

ROOT = Path(__file__).parents[1]

# What is searched, and how. The pages of the resolver belong to the middleware, and those of the demo to the demo site:
# both are English, and no part of the inspector.
_SEARCHED = (
    ("webapp", [("**.py", "python")], {}),
    ("templates", [("demo/**", "ignore"), ("resolver/**", "ignore"), ("**.html", "jinja2")], {"trimmed": "true"}),
)
_KEYWORDS = {"_": None, "gettext": None, "marked": None, "ngettext": (1, 2), "marked_plural": (1, 2), "counted": (1, 2)}


def collected() -> Catalog:
    """The texts of the source as a template: sorted, each with the files it is in.

    >>> [message.id for message in collected() if message.id == "where ARKs come to rest"]
    ['where ARKs come to rest']
    """
    catalogue = Catalog(domain=DOMAIN)
    for folder, methods, options in _SEARCHED:
        found = extract_from_dir(
            ROOT / folder, methods, {"**": options}, _KEYWORDS, comment_tags=(), strip_comment_tags=True
        )
        for name, _line, message, _comments, context in found:
            # Without line numbers: a text that only moves changes nothing here.
            catalogue.add(message, locations=[(f"{folder}/{name}", 0)], context=context)
    for name, sentence in phrases.phrases(ROOT):
        catalogue.add(sentence, locations=[(name, 0)], context=CONTEXT)
    return catalogue


def is_current() -> bool:
    """Whether the template holds the texts of the source, and no others."""
    return _texts(collected()) == _texts(template())


def _texts(catalogue: Catalog) -> set[tuple[str, ...]]:
    return {
        (each.context or "", *([each.id] if isinstance(each.id, str) else each.id)) for each in catalogue if each.id
    }


def write(languages: Iterable[str] = ()) -> list[Path]:
    """Write the template, and bring the catalogues that there are, and those of new ``languages``, up to it.

    A text that is gone goes from them, too; one that was only reworded keeps its translation, marked as fuzzy. Raises
    :class:`babel.UnknownLocaleError` and :class:`ValueError` for what is no language.
    """
    known = collected()
    written = [FOLDER / f"{DOMAIN}.pot"]
    FOLDER.mkdir(exist_ok=True)
    with written[0].open("wb") as file:
        write_po(file, known, sort_output=True, omit_header=True, include_lineno=False)
    for tag in sorted({*shipped(), *languages}):
        locale = Locale.parse(tag, sep="-")
        path = FOLDER / str(locale) / "LC_MESSAGES" / f"{DOMAIN}.po"
        if path.exists():
            with path.open("rb") as file:
                catalogue = read_po(file, locale=locale, domain=DOMAIN)
        else:
            catalogue = Catalog(locale, DOMAIN, project="Ararat", fuzzy=False)
        catalogue.update(known)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalogue, sort_output=True, ignore_obsolete=True, include_lineno=False)
        written.append(path)
    return written


if __name__ == "__main__":
    for made in write(sys.argv[1:]):
        sys.stdout.write(f"{made.relative_to(ROOT)}\n")
