"""Measure parsing and normalization of identifiers, compared with libraries that split URIs."""

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

from ararat.identifiers import IdentifierError, examine, find
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.text import characters
from ararat.identifiers.urn import parser as urn

BETANUMERIC = "0123456789bcdfghjkmnpqrstvwxz"


def generated(count: int) -> Iterator[str]:
    """Yield ARKs like those of collections: classic form, opaque names, few qualifiers and fewer hyphens."""
    draw = random.Random(20201004)  # noqa: S311 - the same ARKs each time
    for _ in range(count):
        name = "".join(draw.choices(BETANUMERIC, k=draw.randint(6, 12)))
        if draw.random() < 0.05:
            name = f"{name[:4]}-{name[4:]}"
        qualifier = draw.choices(["", "/f12", "/c2/p3", ".jpeg", ".r=en.texteImage"], [75, 10, 5, 6, 4])[0]
        yield f"ark:{draw.choices(['/', ''], [99, 1])[0]}{draw.randint(10000, 99998)}/{name}{qualifier}"


@pytest.fixture(params=["generated", "of a file"])
def arks(request):
    """Return generated ARKs, then those of the file in ARARAT_BENCH_FILE, one per line."""
    if request.param == "generated":
        return list(generated(2000))
    if not (file := os.environ.get("ARARAT_BENCH_FILE")):
        pytest.skip("set ARARAT_BENCH_FILE to a file of ARKs, one per line")
    return list(readable(Path(file).read_text("utf-8").splitlines()))[:100_000]


def readable(lines):
    for line in lines:
        with contextlib.suppress(IdentifierError):
            ark.parse(line)
            yield line


def bench_parse_and_normal_form(race, request, arks):
    kind = request.node.callspec.params["arks"]
    race(
        f"Parse and normalize ARKs, {kind}; in brackets: the missing part",
        {
            "Ararat: ark.parse(text).normal_form": lambda: [ark.parse(text).normal_form for text in arks],
            "uritools.urisplit (no normal form)": lambda: [uritools.urisplit(text) for text in arks],
            "rfc3986 normalize (no rule of ARKs)": lambda: [rfc3986.uri_reference(text).normalize() for text in arks],
            "yarl.URL (no rule of ARKs, decodes %2E)": lambda: [yarl.URL(text) for text in arks],
            "can_ada.parse (no rule of ARKs)": lambda: [can_ada.parse(text) for text in arks],
            "idutils.is_ark (recognition only)": lambda: [idutils.is_ark(text) for text in arks],
        },
        beside="uritools.urisplit (no normal form)",
        budget="as fast as uritools' plain split",
        per=len(arks),
    )


def bench_parse_urns(race):
    names = [f"urn:isbn:{number:010d}" for number in range(1000)] + [f"urn:example:a%2c{n}/b" for n in range(200)]
    race(
        "Parse and normalize URNs; in brackets: the missing part",
        {
            "Ararat: urn.parse(text).normal_form": lambda: [urn.parse(text).normal_form for text in names],
            "urnparse (no rules of namespaces)": lambda: [str(urnparse.URN8141.from_string(text)) for text in names],
            "uritools.urisplit (no rule of URNs)": lambda: [uritools.urisplit(text) for text in names],
        },
        beside="urnparse (no rules of namespaces)",
        budget="twice as fast as urnparse",
        per=len(names),
    )


def bench_normal_input(race, arks):
    normal = [ark.normalize(text) for text in arks]
    race(
        "Normalize ARKs in normal form",
        {
            "uritools.urisplit": lambda: [uritools.urisplit(text) for text in normal],
            "Ararat: ark.normalize": lambda: [ark.normalize(text) for text in normal],
        },
        beside="uritools.urisplit",
        budget="faster than uritools' plain split",
        per=len(normal),
    )


def bench_scan_for_hidden_characters(race):
    texts = {"ASCII": "a", "Cyrillic": "\u0431", "emoji": "\U0001f600", "zero width": "\u200b"}
    race(
        "Find hidden characters, time per character of the text",
        {
            name: (lambda text=char * 100_000: sum(1 for _ in characters.HIDDEN.finditer(text)))
            for name, char in texts.items()
        },
        beside="ASCII",
        budget="200 ns (1 MB in 200 ms)",
        per=100_000,
    )


def bench_find_in_running_text(race):
    names = " ".join(f"See {name} or https://n2t.net/{name}. And urn:isbn:0451450523, too;" for name in generated(2000))
    megabyte = (names * (1_000_000 // len(names) + 1))[:1_000_000]
    race(
        "Find identifiers in a text that consists mostly of identifiers",
        {"1 MB": lambda: find(megabyte), "2 MB": lambda: find(megabyte + megabyte)},
        beside="1 MB",
        budget="1 MB in under 2 s, 2 MB in at most 2.5 times that, which is 0.4 here",
        unit="ms",
        rounds=12,
    )


def bench_hostile_text(race):
    """Measure 1 MiB of the texts that need or needed the most work per character."""
    units = ["-ark%3Aaa", "-urn:a-:x/y", "http://a?", "ark%3Aa ", " ark%3AB/x. ", "urn:a:b ", "urn:aa:b/../ ", "&amp;"]
    texts = {unit: f"word {unit * (2**20 // len(unit))} end" for unit in units}
    race(
        "Find identifiers in 1 MiB of hostile text",
        {unit: (lambda text=text: find(text, scope=["a"])) for unit, text in texts.items()},
        beside="&amp;",
        budget="1 s",
        unit="ms",
        rounds=9,
    )
    names = {char: "ark:12345/" + char * (2**20 // len(char.encode())) for char in (".a", "\u00e9", "\u200b", "%41")}
    race(
        "Report on one ARK of 1 MiB",
        {repr(char): (lambda name=name: examine(name)) for char, name in names.items()},
        beside="'%41'",
        budget="1 s",
        unit="ms",
        rounds=9,
    )
