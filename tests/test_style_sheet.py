"""The one style sheet of all pages: few sizes, radii and borders, contrast, and the size of all files of a page."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from ararat.bindings.names.branding.colours import contrast

ROOT = Path(__file__).parents[1]
SHEET = re.sub(r"/\*.*?\*/", "", (ROOT / "static" / "ararat.css").read_text(), flags=re.DOTALL)
_SCREEN = "--([a-z-]+): (#[0-9a-f]{3,6});"


def themes() -> dict[str, dict[str, str]]:
    """Return the colours of both themes: the first two rules of :root."""
    light, dark = (dict(re.findall(_SCREEN, rule)) for rule in re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL)[:2])
    return {"light": light, "dark": light | dark}


def test_there_is_one_style_sheet():
    assert [path.name for path in ROOT.glob("static/**/*.css")] == ["ararat.css"]
    assert not list(ROOT.glob("templates/**/*.css"))
    styles = [path for path in ROOT.glob("templates/**/*.html") if re.search("<style|style=", path.read_text())]
    assert styles == [ROOT / "templates" / "resolver" / "page.html"]


def test_there_are_five_sizes_of_type():
    sizes = re.findall(r"font-size: ([^;}]+)", SHEET)
    sizes += [each for each in re.findall(r"[ {]font: ([^;}]+)", SHEET) if each != "inherit"]
    usual = re.compile(r"var\(--(xs|s|m|l|xl)\)|inherit|1em|\.94em|11pt|12pt|100%")
    assert [each for each in sizes if not usual.search(each)] == []
    assert set(re.findall(r"--(xs|s|m|l|xl): ", SHEET)) == {"xs", "s", "m", "l", "xl"}


def test_there_are_two_radii():
    radii = re.findall(r"border-radius: ([^;}]+)", SHEET)
    # A mark in running text and a circle have no corner of a box.
    assert {each for each in radii if each not in ("var(--r)", "var(--round)", "50%", ".15em", "0")} == set()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_controls_have_a_visible_edge(theme):
    colours = themes()[theme]
    for ground in ("paper", "sheet", "inset"):
        assert contrast(colours["edge"], colours[ground]) >= 3, ground
        for text in ("ink", "soft", "accent"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for state in ("good", "warn", "bad"):
        assert contrast(colours[state], colours[f"{state}-wash"]) >= 4.5, state


def test_all_files_of_a_page_are_small():
    names = ("ararat.css", "ararat.js", "vendor/htmx-2.min.js", "vendor/hx-sse-2.min.js", "favicon.svg")
    sizes = {name: len(gzip.compress((ROOT / "static" / name).read_bytes(), 6)) for name in names}
    assert sum(sizes.values()) < 40_000, sizes
