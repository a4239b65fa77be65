"""The values of a column of a table: what they are, and how well they fit the meaning of a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from ..bindings.names.binding import KINDS, STATUSES

_IMAGES = (
    ".jpg",
    ".jpeg",
    ".png",
    ".gif",
    ".tif",
    ".tiff",
    ".webp",
    ".jp2",
    ".mp3",
    ".mp4",
    ".wav",
    ".pdf",
    "/info.json",
)
_OTHER_HOSTS = (
    *("creativecommons.org", "rightsstatements.org", "europeana.eu/rights", "spdx.org", "opensource.org"),
    *("vocab.getty.edu", "viaf.org", "d-nb.info", "wikidata.org", "geonames.org", "id.loc.gov", "orcid.org"),
    *("isni.org", "wikipedia.org", "iconclass.org", "data.bnf.fr", "idref.fr", "rkd.nl", "thesaurus", "vocab."),
    *("terminology.", "openstreetmap.org", "ror.org", "schema.org", "purl.org/dc", "isni.oclc.org", "nomisma.org"),
    *("lexvo.org", "kulturpool.at/lizenz", "sws.geonames.org", "dbpedia.org", "getty.edu/page", "iiif"),
)
_OTHER_KINDS = ("rule", "prefix", "counter", "uuid")
_OWN: dict[str, frozenset[str]] = {
    "status": frozenset(STATUSES),
    "kind": frozenset((*KINDS, *_OTHER_KINDS)),
    "scope": frozenset(("name", "subtree")),
    "passthrough": frozenset(("true", "false", "yes", "no", "normal", "given", "1", "0")),
    "listed": frozenset(("true", "false", "yes", "no", "1", "0")),
    "redirect": frozenset(("302", "307")),
    "test": frozenset(("yes", "no", "true", "false")),
}
_CENTURIES = (
    *("century", "jahrhundert", "jh", "siecle", "siècle", "secolo", "sec", "siglo", "eeuw", "século", "séc", "wiek"),
    *("wieku", "stol", "století", "århundrade", "век", "القرن", "המאה", "במאה"),
)
_ROMAN = re.compile("[ivx]+")
_UNDATED = ("s.d.", "o. j.", "o.j.", "n.d.", "undated")
_OTHER_URNS = ("uuid", "isbn", "issn", "lsid", "catalog", "oid", "doi", "ietf", "lex", "x-", "ogc", "epc")
_DOI = re.compile(r"(?:doi:\s*)?10\.[0-9]{4,9}/", re.IGNORECASE)
_LONGEST_NUMBER = 60
_LONGEST_NAME = 200
_FEW = 5
_YEARS = range(100, 2101)


def is_address(text: str) -> bool:
    """Return whether ``text`` begins as an http or https URL, and has no space."""
    return text[:8].lower().startswith(("http://", "https://")) and not any(map(str.isspace, text))


def is_name(text: str) -> bool:
    """Return whether ``text`` begins as an ARK or a URN, or as the URL or the NAAN of one.

    >>> is_name("ark:12345/x5"), is_name("https://m.example/ark:12345/x5"), is_name("12345/x5"), is_name("INV 5")
    (True, True, True, False)
    """
    head = text[:8].lower()
    if head.startswith(("ark:", "urn:")):
        return True
    if head.startswith(("http://", "https://")):
        _, _, path = text.partition("//")[2].partition("/")
        return path[:4].lower() in ("ark:", "urn:")
    return len(text) > 6 and text[:5].isdecimal() and text[:5].isascii() and text[5] == "/" and not text[6].isspace()


def _is_permanent(text: str) -> bool:
    """Return whether a name below a heading without a meaning is an ARK or a URN that is made for a thing. "10261/2"
    can be a collection of DSpace. "urn:uuid:" and "urn:catalog:" are keys of other systems.
    """
    lowered = text.lower()
    return not text[:1].isdecimal() and not any(f"urn:{each}:" in lowered for each in _OTHER_URNS)


def is_date(text: str) -> bool:
    """Return whether ``text`` has a year or a century, and little else.

    >>> is_date("um 1890"), is_date("01.03.2024"), is_date("19. Jh."), is_date("A view of the harbour in 1901")
    (True, True, True, False)
    >>> is_date("séc. XV"), is_date("XV w."), is_date("s. XVI"), is_date("Dom w górach")
    (True, True, True, False)
    """
    if len(text) > _LONGEST_NUMBER:
        return False
    runs = ["".join(run) for is_digit, run in groupby(text, str.isdecimal) if is_digit]
    if any(len(run) in (3, 4) and int(run) in _YEARS for run in runs):
        return sum(map(str.isalpha, text)) <= 14 and len(runs) <= 8
    words = text.casefold().replace(".", " ").split()
    # "XV w." in Polish, "s. XV" in Spanish.
    is_short = len(words) < 5 and bool({"w", "s"} & {*words}) and any(map(_ROMAN.fullmatch, words))
    return is_short or any(word in _CENTURIES for word in words) or text.casefold() in _UNDATED


def shape(text: str) -> str:
    """Return the pattern of a number: one 9 for a run of digits, one A for a run of letters, and other signs as they
    are.

    >>> shape("INV 2024.17"), shape("A-12b")
    ('A 9.9', 'A-9A')
    """
    kinds = ("9" if each.isdecimal() else "A" if each.isalpha() else each for each in text)
    return "".join(kind if kind in "9A" else "".join(run) for kind, run in groupby(kinds))


def _share(texts: Sequence[str], found: Iterable[object]) -> float:
    return sum(map(bool, found)) / len(texts)


class Values:
    """The values of one column in some rows. ``cells`` are the texts of all these rows, and ``number`` counts the
    non-empty ones.
    """

    def __init__(self, cells: Sequence[str]) -> None:
        self._texts = [each for each in cells if each]
        self.number = len(self._texts)
        self._filled = self.number / len(cells) if cells else 1.0
        self._distinct = len({each.casefold() for each in self._texts}) / self.number if self.number else 1.0

    def is_count(self) -> bool:
        """Return whether all non-empty values have digits only. It is True without values."""
        return all(each.isdecimal() for each in self._texts)

    def is_running(self) -> bool:
        """Return whether the non-empty values count 1, 2, 3 and so on, also with leading zeros. One value is not
        enough.
        """
        return self.number > 1 and all(each.lstrip("0") == f"{row}" for row, each in enumerate(self._texts, start=1))

    def fits_own(self, column: str) -> float:
        """Return how well the values fit the column of bindings ``column``, whose name is the heading: 0 (not) to 1."""
        if not self.number:
            return 0.9
        if (known := _OWN.get(column)) is not None:
            return _share(self._texts, [each.lower() in known for each in self._texts])
        if column in ("created", "changed", "hold_until", "embargo"):
            # With the offset of an export: a museum writes other times.
            return _share(self._texts, ["T" in each[10:11] and each[-1:] in "Z0" for each in self._texts])
        if column == "identifier":
            return float(any(map(is_name, self._texts)))
        if column == "target":
            return float(any(is_address(each) or each.startswith("/") for each in self._texts))
        return 1.0

    def fits(self, meaning: str, weight: float = 1, *, has_names: bool = False) -> float:
        """Return how well the values fit a meaning, such as "target" or "when": 0 to 1, and 0.75 without values.
        ``weight`` is the result of :func:`.heading_words.weights` for it. ``has_names``: another column has ARKs or
        URNs, so that paths of this site are targets.

        >>> Values(["https://m.example/1", "https://m.example/2"]).fits("target"), Values(["Store B"]).fits("target")
        (1.0, 0.0)
        """
        if not self.number:
            return 0.75
        match meaning:
            case "identifier":
                names = [is_name(each) and (bool(weight) or _is_permanent(each)) for each in self._texts]
                return _share(self._texts, names) * (0.5 + self._distinct / 2)
            case "target":
                return self._as_target(weight, has_names)
            case "resource":
                return self._as_number(weight)
            case "when":
                return self._as_date()
            case "what" | "who" | "where" | "how":
                return self._as_text(meaning)
            case _:
                return 1.0 if not any(map(is_name, self._texts)) else 0.5

    def _as_target(self, weight: float, has_names: bool) -> float:
        # A mistyped address is refused with its reason.
        addresses = [
            each
            for each in self._texts
            if "://" in each[:12] or each.startswith("www.") or (has_names and weight and each.startswith("/"))
        ]
        share = len(addresses) / self.number
        if share < 0.5:
            return 0.0
        lowered = [each.lower().partition("?")[0] for each in addresses]
        others = _share(lowered, [any(host in each for host in _OTHER_HOSTS) for each in lowered])
        images = _share(lowered, [each.endswith(_IMAGES) for each in lowered])
        fit = share * (0.05 if others >= 0.5 else 1.0) * (0.15 if images >= 0.5 else 1.0)
        if self.number > 1 and self._distinct < 0.5:
            fit *= 0.1
        names = _share(addresses, map(is_name, addresses))
        if not weight:
            fit *= 0.6 + 0.4 * self._filled
        return fit * (0.3 if names >= 0.5 else 1.0)

    def _as_number(self, weight: float) -> float:
        texts = self._texts
        if max(map(len, texts)) > _LONGEST_NAME or any(map(is_address, texts)) or any(map(is_name, texts)):
            return 0.0
        if _share(texts, [any(map(str.isdecimal, each)) for each in texts]) < 0.5:
            return 0.0
        if _share(texts, [_DOI.match(each) for each in texts]) >= 0.5:
            return 0.0  # the identifier of a publication
        fit = min(1.0, 0.4 + 0.6 * self._filled)
        if self._distinct < 1:
            # Copies and parts share numbers; a number of a lot or of a shelf has few values. In a few rows this is not
            # known, and the heading decides.
            is_meant = weight >= 0.9 and (self._distinct >= 0.5 or self.number <= _FEW)
            fit *= 0.95 if self._distinct >= 0.8 else 0.5 if is_meant else 0.2
        most = Counter(map(shape, texts)).most_common(1)[0][1] / self.number
        if self.is_count():
            return fit * 0.9
        return fit * (1.0 if most >= 0.5 else 0.95)

    def _as_date(self) -> float:
        texts = self._texts
        times = _share(texts, ["T" in each[10:11] or each.count(":") > 1 for each in texts])
        share = _share(texts, map(is_date, texts))
        if times >= 0.5:
            return 0.1  # the time of a record, not of a thing
        return min(1.0, share * 1.3) if share >= 0.4 else 0.0

    def _as_text(self, meaning: str) -> float:
        texts = self._texts
        addresses = _share(texts, [is_address(each) or is_name(each) for each in texts])
        letters = _share(texts, [any(map(str.isalpha, each)) for each in texts])
        if addresses > 0.2 or letters < 0.5:
            return 0.0
        if meaning == "what":
            average = sum(map(len, texts)) / self.number
            return (0.75 + 0.25 * self._distinct) * min(1.0, 0.5 + 0.5 * self._filled) * (0.8 if average > 300 else 1.0)
        return 0.9 if self._filled < 0.3 else 1.0


def of(width: int, rows: Sequence[Sequence[str]]) -> list[Values]:
    """Return the values of each of the ``width`` columns. ``rows`` are the cells of some rows, which can be shorter."""
    return [Values([row[place].strip() if place < len(row) else "" for row in rows]) for place in range(width)]
