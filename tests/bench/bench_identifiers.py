"""Reading and normalising identifiers, beside a plain split of URIs that knows nothing of ARKs."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from pathlib import Path

import can_ada
import idutils
import pytest
import rfc3986
import uritools
import urnparse
import yarl

from ararat.identifiers import IdentifierError, ark, characters, find, urn

BETANUMERIC = "0123456789bcdfghjkmnpqrstvwxz"


def generated(count: int) -> Iterator[str]:
    """ARKs as collections publish them: of the classic form, with opaque names, few qualifiers, fewer hyphens."""
    draw = random.Random(20201004)  # noqa: S311 - the same ARKs each time
    for _ in range(count):
        name = "".join(draw.choices(BETANUMERIC, k=draw.randint(6, 12)))
        if draw.random() < 0.05:
            name = f"{name[:4]}-{name[4:]}"
        qualifier = draw.choices(["", "/f12", "/c2/p3", ".jpeg", ".r=en.texteImage"], [75, 10, 5, 6, 4])[0]
        yield f"ark:{draw.choices(['/', ''], [99, 1])[0]}{draw.randint(10000, 99998)}/{name}{qualifier}"


@pytest.fixture
def arks():
    """The ARKs of a file, one a line, that ARARAT_BENCH_ARKS names; else generated ones."""
    if file := os.environ.get("ARARAT_BENCH_ARKS"):
        return list(readable(Path(file).read_text("utf-8").splitlines()))
    return list(generated(2000))


def readable(lines):
    for line in lines:
        with contextlib.suppress(IdentifierError):
            ark.parse(line)
            yield line


def bench_parse_and_normal_form(race, say, arks):
    medians = race(
        f"parse and normal form of {len(arks)} ARKs, for each; what each leaves undone stands behind it",
        {
            "ark.parse(text).normal_form": lambda: [ark.parse(text).normal_form for text in arks],
            "uritools.urisplit: no normal form": lambda: [uritools.urisplit(text) for text in arks],
            "rfc3986 normalize: no ARK rules": lambda: [rfc3986.uri_reference(text).normalize() for text in arks],
            "yarl.URL: no ARK rules, decodes %2E": lambda: [yarl.URL(text) for text in arks],
            "can_ada.parse: no ARK rules": lambda: [can_ada.parse(text) for text in arks],
            "idutils.is_ark: recognition alone": lambda: [idutils.is_ark(text) for text in arks],
        },
        budget="0.5 of uritools' speed; normal ASCII input faster than it",
        per=len(arks),
    )
    ours, split, *_ = medians.values()
    say(f"  {split / ours:12.2f} of uritools' speed")


def bench_parse_urns(race, say):
    names = [f"urn:isbn:{number:010d}" for number in range(1000)] + [f"urn:example:a%2c{n}/b" for n in range(200)]
    medians = race(
        f"parse and normal form of {len(names)} URNs, for each",
        {
            "urn.parse(text).normal_form": lambda: [urn.parse(text).normal_form for text in names],
            "urnparse: RFC 8141 alone": lambda: [str(urnparse.URN8141.from_string(text)) for text in names],
            "uritools.urisplit: no URN rules": lambda: [uritools.urisplit(text) for text in names],
        },
        budget="none",
        per=len(names),
    )
    ours, peer, *_ = medians.values()
    say(f"  {peer / ours:12.2f} of urnparse's speed")


def bench_normal_input(race, say, arks):
    normal = [ark.normalize(text) for text in arks]
    medians = race(
        f"normalize {len(normal)} ARKs that are normal, for each",
        {
            "uritools.urisplit": lambda: [uritools.urisplit(text) for text in normal],
            "ark.normalize": lambda: [ark.normalize(text) for text in normal],
        },
        budget="faster than uritools",
        per=len(normal),
    )
    split, normalize = medians.values()
    say(f"  {split / normalize:12.2f} of uritools' speed")


@pytest.mark.parametrize("char", ["a", "\u0431", "\U0001f600", "\u200b"], ids=["ascii", "cyrillic", "emoji", "zwsp"])
def bench_scan_for_hidden_characters(race, char):
    text = char * 100_000
    race(
        f"look for hidden characters in a text of U+{ord(char):04X}, for each character",
        {"characters.HIDDEN": lambda: sum(1 for _ in characters.HIDDEN.finditer(text))},
        budget="1 MB in 200 ms",
        per=len(text),
        rounds=5,
    )


def bench_find_in_running_text(race, say, arks):
    names = " ".join(f"See {name} or https://n2t.net/{name}. And urn:isbn:0451450523, too;" for name in arks)
    megabyte = (names * (1_000_000 // len(names) + 1))[:1_000_000]
    medians = race(
        "find identifiers in running text that holds little else",
        {"1 MB": lambda: find(megabyte), "2 MB": lambda: find(megabyte + megabyte)},
        budget="1 MB in under 2 s, 2 MB in at most 2.5 times that",
        rounds=3,
    )
    once, twice = medians.values()
    say(f"  {twice / once:12.2f} times as long for twice the text")
