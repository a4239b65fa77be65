"""Write identifiers/data/confusables.json, the characters that look like an ASCII character.

Run it with the package ``disarm`` installed when a new version of UTS #39 is published:

    pip install disarm && python tests/identifiers/generate_confusables.py
"""

from __future__ import annotations

import json
from pathlib import Path

TARGET = Path(__file__).parents[2] / "identifiers" / "data" / "confusables.json"


def table() -> dict[str, object]:
    """Return the table: each ASCII character with its lookalikes, in code point order."""
    import disarm  # pyright: ignore[reportMissingImports] - wanted by this script alone

    looks_like: dict[str, str] = {}
    for code_point in (*range(0x80, 0xD800), *range(0xE000, 0x110000)):
        char = chr(code_point)
        prototype = disarm.normalize_confusables(char)
        if len(prototype) == 1 and prototype.isascii():
            looks_like[prototype] = looks_like.get(prototype, "") + char
    return {
        "unicode": disarm.CONFUSABLES_VERSION,
        "source": "UTS #39, confusables.txt, reduced to prototypes of one ASCII character; digits map to digits",
        "looks_like": dict(sorted(looks_like.items())),
    }


if __name__ == "__main__":
    TARGET.write_text(json.dumps(table(), indent=0) + "\n", "ascii")
    print(TARGET.name)
