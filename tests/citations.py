"""Compare the citations of RFCs in this repository with the texts of the RFCs, where they are installed.

``make lint`` runs it. The packages of Debian (section non-free) have the texts: ``apt-get install doc-rfc``. Without
them, the program prints that nothing was compared. It compares

- the number of a section: the RFC has such a section or appendix,
- a quotation, ``RFC 9110, section 12.5.1: "the most …"`` or ``"the most …" (RFC 9110, section 12.5.1)``: its words
  are in that section, or in the RFC if no section is named,
- the first rule of a grammar, ``RFC 3986, section 3.3:  pchar = unreserved / …``: the section defines the rule.

Exit code: 0 no citation is wrong, or there are no texts; 1 a citation is wrong.
"""

from __future__ import annotations

import functools
import gzip
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TEXTS = Path("/usr/share/doc/RFC")
SUFFIXES = (".py", ".md", ".json", ".jsonl", ".html", ".toml")
NOT_OURS = (
    "tests/citations.py",
    "tests/test_citations.py",
    "tests/data/hostile",
    "tests/data/registries",
    "identifiers/data/uri-schemes",
    "webapp/language",
)
"""Beginnings of paths: this program and its test, texts that others wrote, and translations of messages."""

NUMBER = r"(?:\d{1,2}(?:\.\d{1,2})*(?![\d.]*\d)|[A-Z](?:\.\d{1,2})*(?![\w.]*\w))"
SECTIONS = re.compile(rf"(?:sections?|§|appendix|appendices)\s+(?={NUMBER})|(?=\d{{1,2}}(?:\.\d|,|\b$))")
CITATION = re.compile(r"\bRFC (\d{3,5})\b(?!\.)")
FURTHER = re.compile(
    rf"({NUMBER})(?: \([a-z]+\))?(?:(?:,| and| to|, and| or|,? appendix) (?={NUMBER}(?:[\s,;:.)`]|$)))?"
)
HEADING = re.compile(
    r"^( *)(?:(?:Appendix )?([A-Z](?:\.\d{1,2})*)[.:]|Appendix ([A-Z])|(\d{1,2}(?:\.\d{1,2})*)\.?)(?:\s|$)\s*(?=\S)",
    re.MULTILINE,
)
RULE = re.compile(r":\s{1,3}([a-z][A-Za-z0-9-]+) +=(?!=)")
_MARKS = re.compile(r"^[ \t]*(?:#+ ?|\* |- )?", re.MULTILINE)
_WORDS = re.compile(r"[a-z0-9]+")
_OMISSION = re.compile(r"\s*(?:\[\.\.\.\]|\.\.\.|…)\s*")
_FEW = 2
"""A quotation with no more words, such as ``"/"``, is not compared."""


class Citation(NamedTuple):
    """An RFC that a text names, the numbers of the sections that follow, a quotation, and a rule of a grammar."""

    place: str
    rfc: int
    sections: tuple[str, ...]
    quotation: str | None
    rule: str | None


def citations(text: str, place: str) -> Iterator[Citation]:
    """Yield the citations in a text, such as a file of code. ``place`` names the text in messages."""
    flat = _MARKS.sub("", text) if "RFC " in text else ""
    for found in CITATION.finditer(flat):
        line = flat.count("\n", 0, found.start()) + 1
        rest = flat[found.end() : found.end() + 900]
        sections, after = _sections(rest)
        yield Citation(f"{place}:{line}", int(found[1]), sections, _quotation(flat, found.start(), after), _rule(after))


def _sections(rest: str) -> tuple[tuple[str, ...], str]:
    """Return the numbers of sections at the beginning of a text, and the text behind them."""
    begin = re.match(r"[,\s]\s*\(?(?=\S)", rest)
    named = begin and SECTIONS.match(rest, begin.end())
    if not named:
        return (), rest
    numbers: list[str] = []
    at = named.end()
    while found := FURTHER.match(rest, at):
        numbers.append(found[1])
        at = found.end()
        if found.end() == found.end(1) or not re.search(r"[a-z,] $", found[0]):
            break
    return tuple(numbers), rest[at:]


def _quotation(flat: str, start: int, after: str) -> str | None:
    """Return the quotation behind a citation and a colon, or that before a citation in brackets."""
    if opened := re.match(r'[^":.;()]{0,60}:\s+"(?=[^\s"])', after):
        return _quoted(after[opened.end() :])
    before = flat[max(0, start - 600) : start]
    if closed := re.search(r'([^\s"])"\s+\($', before):
        quoted = before[: closed.end(1)]
        opening = [each.end() for each in re.finditer(r'(?:^|[\s(])"(?=[^\s"])', quoted)]
        return quoted[opening[-1] :] if opening else None
    return None


def _quoted(text: str) -> str | None:
    """Return a text until the quotation mark that ends it. Quotations within it come in pairs."""
    depth = 1
    for mark in re.finditer('"', text):
        opens = mark.start() and text[mark.start() - 1] in " \n(" and text[mark.end() : mark.end() + 1].strip()
        depth += 1 if opens else -1
        if not depth:
            return text[: mark.start()]
    return None


def _rule(after: str) -> str | None:
    found = RULE.match(after)
    return found and found[1]


@functools.cache
def text_of(rfc: int, folder: Path = TEXTS) -> str | None:
    """Return the text of an RFC without the lines that begin and end its pages, or None if it is not installed."""
    for path in folder.glob(f"*/rfc{rfc}.txt.gz"):
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        return re.sub(r"\n+[^\n]*\[Page \w+\]\s*\f?\n[^\n]*\n+|\f", "\n\n", text.replace("\r", ""))
    return None


@functools.cache
def sections_of(rfc: int, folder: Path = TEXTS) -> dict[str, str]:
    """Return each section of an RFC by its number, with the sections below it."""
    text = text_of(rfc, folder) or ""
    headings = [
        (each.start(), len(each[1]), (each[2] or each[3] or each[4]).removesuffix(".0"))
        for each in HEADING.finditer(text)
    ]
    found: dict[str, str] = {}
    for start, indent, number in headings:
        # A line of a list or of the table of contents can begin with the number, too, and is further to the right.
        if indent > min(width for _, width, other in headings if other == number):
            continue
        ends = (
            later
            for later, width, following in headings
            if later > start and width <= indent and not following.startswith(f"{number}.")
        )
        found[number] = f"{found.get(number, '')}\n{text[start : next(ends, len(text))]}"
    return found


def words(text: str) -> str:
    """Return the words of a text in lower case, each between spaces."""
    joined = re.sub(r"-\s*\n\s*", "-", text)
    return f" {' '.join(_WORDS.findall(joined.lower()))} "


def wrong(citation: Citation, folder: Path = TEXTS) -> list[str]:
    """Return what is wrong with a citation of an RFC whose text is installed."""
    sections = sections_of(citation.rfc, folder)
    said = f"{citation.place}: RFC {citation.rfc}"
    missing = [f"{said} has no section {number}" for number in citation.sections if number not in sections]
    if missing:
        return missing
    where = "\n".join(sections[number] for number in citation.sections) or text_of(citation.rfc, folder) or ""
    named = f"{said}, {', '.join(citation.sections)}" if citation.sections else said
    found: list[str] = []
    if citation.quotation is not None:
        there = words(where)
        found += [
            f"{named} does not contain: {' '.join(part.split())}"
            for part in _OMISSION.split(citation.quotation)
            if words(part).count(" ") > _FEW + 1 and words(part) not in there
        ]
    if citation.rule is not None and not re.search(rf"\b{citation.rule}\s*=", where):
        found.append(f"{named} does not define {citation.rule}")
    return found


def files() -> Iterator[Path]:
    """Yield the files of the repository that can cite an RFC."""
    listed = subprocess.run(("git", "ls-files"), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if name.endswith(SUFFIXES) and not name.startswith(NOT_OURS):
            yield ROOT / name


def main() -> int:
    """Print the wrong citations, and the numbers of those that were compared. Return the exit code."""
    if not TEXTS.is_dir():
        print(f"Citations of RFCs are not compared: there is no {TEXTS}. Debian has it in doc-rfc (non-free).")
        return 0
    everything = [
        each
        for path in files()
        for each in citations(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
        if each.sections or each.quotation is not None
    ]
    compared = [each for each in everything if text_of(each.rfc) is not None]
    without = sorted({each.rfc for each in everything} - {each.rfc for each in compared})
    messages = [message for each in compared for message in wrong(each)]
    print(*messages, sep="\n", end="\n" if messages else "")
    print(
        f"citations of RFCs compared: {len(compared)}, of these {sum(each.quotation is not None for each in compared)} "
        f"with a quotation; wrong: {len(messages)}; not installed: RFC {', '.join(map(str, without)) or '-'}"
    )
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
