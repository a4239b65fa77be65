"""Write identifiers/data/characters.json, the frozen table of characters that are never shown raw.

Run it with the test requirements installed when a new version of Unicode is published:

    python tests/identifiers/generate_characters.py

General categories and names come from ``unicodedata2``, the other properties from ``regex``. Both must have the same
version of the Unicode Character Database, which the table contains. ``test_characters.py`` generates the table again
and compares it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import regex
import unicodedata2

TARGET = Path(__file__).parents[2] / "identifiers" / "data" / "characters.json"

# No code point is in two classes: an earlier class takes precedence.
CLASSES = {
    "surrogate": r"\p{General_Category=Surrogate}",
    "private": r"\p{General_Category=Private_Use}",
    "noncharacter": r"\p{Noncharacter_Code_Point}",
    "control": r"\p{General_Category=Control}",
    "bidi": r"\p{Bidi_Control}",
    "format": r"[\p{General_Category=Format}--\p{Bidi_Control}]",
    "ignorable": r"[\p{Default_Ignorable_Code_Point}--\p{General_Category=Format}]",
    # All separators except U+0020 SPACE, and the symbol that looks like a space: BRAILLE PATTERN BLANK.
    "space": r"[[\p{General_Category=Separator}\u2800]--\u0020]",
    "object": r"\uFFFC",
    "unassigned": r"[\p{General_Category=Unassigned}--[\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}]]",
}
EVERYTHING = "".join(map(chr, range(0x110000)))

# NameAliases.txt, types "abbreviation" and "figment". Those of the controls are in the order of code points. All names
# are checked below.
CONTROLS_SHORT = """
    NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EOM SUB ESC FS GS RS US
    DEL PAD HOP BPH NBH IND NEL SSA ESA HTS HTJ VTS PLD PLU RI SS2 SS3 DCS PU1 PU2 STS CCH MW SPA EPA SOS SGC SCI CSI ST
    OSC PM APC
"""
OTHERS_SHORT = """
    NBSP SHY ALM CGJ FVS1 FVS2 FVS3 MVS FVS4 ZWSP ZWNJ ZWJ LRM RLM LRE RLE PDF LRO RLO NNBSP MMSP WJ LRI RLI FSI PDI
    ZWNBSP
"""

# NameAliases.txt, types "control" and "figment": aliases of the controls, which have no names.
CONTROLS = """
    NULL; START OF HEADING; START OF TEXT; END OF TEXT; END OF TRANSMISSION; ENQUIRY; ACKNOWLEDGE; ALERT; BACKSPACE;
    CHARACTER TABULATION; LINE FEED; LINE TABULATION; FORM FEED; CARRIAGE RETURN; SHIFT OUT; SHIFT IN; DATA LINK ESCAPE;
    DEVICE CONTROL ONE; DEVICE CONTROL TWO; DEVICE CONTROL THREE; DEVICE CONTROL FOUR; NEGATIVE ACKNOWLEDGE; SYNCHRONOUS
    IDLE; END OF TRANSMISSION BLOCK; CANCEL; END OF MEDIUM; SUBSTITUTE; ESCAPE; INFORMATION SEPARATOR FOUR; INFORMATION
    SEPARATOR THREE; INFORMATION SEPARATOR TWO; INFORMATION SEPARATOR ONE; DELETE; PADDING CHARACTER; HIGH OCTET PRESET;
    BREAK PERMITTED HERE; NO BREAK HERE; INDEX; NEXT LINE; START OF SELECTED AREA; END OF SELECTED AREA; CHARACTER
    TABULATION SET; CHARACTER TABULATION WITH JUSTIFICATION; LINE TABULATION SET; PARTIAL LINE FORWARD; PARTIAL LINE
    BACKWARD; REVERSE LINE FEED; SINGLE SHIFT TWO; SINGLE SHIFT THREE; DEVICE CONTROL STRING; PRIVATE USE ONE; PRIVATE
    USE TWO; SET TRANSMIT STATE; CANCEL CHARACTER; MESSAGE WAITING; START OF GUARDED AREA; END OF GUARDED AREA; START OF
    STRING; SINGLE GRAPHIC CHARACTER INTRODUCER; SINGLE CHARACTER INTRODUCER; CONTROL SEQUENCE INTRODUCER; STRING
    TERMINATOR; OPERATING SYSTEM COMMAND; PRIVACY MESSAGE; APPLICATION PROGRAM COMMAND
"""


def table() -> dict[str, object]:
    """Return the content of the table."""
    unassigned = regex.findall(r"\p{General_Category=Unassigned}", EVERYTHING)
    if unassigned != [char for char in EVERYTHING if unicodedata2.category(char) == "Cn"]:
        raise SystemExit("regex and unicodedata2 hold different versions of Unicode")
    return {
        "unicode": unicodedata2.unidata_version,
        "source": "Unicode Character Database; names and categories from unicodedata2, the rest from regex",
        "classes": {name: " ".join(ranges(pattern)) for name, pattern in CLASSES.items()},
        "names": dict(names()),
        "short": dict(abbreviations()),
    }


def ranges(pattern: str) -> Iterator[str]:
    """Return the code points of a class as hexadecimal ranges."""
    for run in regex.finditer(f"(?V1){pattern}+", EVERYTHING):
        yield f"{run.start():X}" if len(run[0]) == 1 else f"{run.start():X}-{run.end() - 1:X}"


def names() -> Iterator[tuple[str, str]]:
    """Return the names of all listed characters, or the aliases of controls."""
    yield from _of_controls(" ".join(CONTROLS.split()).split("; "))
    named = "".join(CLASSES[name] for name in ("bidi", "format", "ignorable", "space", "object"))
    for char in regex.findall(f"(?V1)[{named}]", EVERYTHING):
        if name := unicodedata2.name(char, None):
            yield f"{ord(char):X}", name


def abbreviations() -> Iterator[tuple[str, str]]:
    """Return the characters with a Unicode abbreviation."""
    yield from _of_controls(CONTROLS_SHORT.split())
    for abbreviation in [*OTHERS_SHORT.split(), *(f"VS{number}" for number in range(1, 257))]:
        yield f"{ord(unicodedata2.lookup(abbreviation)):X}", abbreviation


def _of_controls(aliases: Sequence[str]) -> Iterator[tuple[str, str]]:
    for control, alias in zip(regex.findall(CLASSES["control"], EVERYTHING), aliases, strict=True):
        if unicodedata2.lookup(alias) != control:
            raise SystemExit(f"{alias} is not an alias of U+{ord(control):04X}")
        yield f"{ord(control):X}", alias


def text() -> str:
    """Return the file: one line for each class, name and abbreviation, so that changes are readable."""
    return json.dumps(table(), indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(text(), "ascii")
    print(f"wrote {TARGET.name}: Unicode {unicodedata2.unidata_version}")
