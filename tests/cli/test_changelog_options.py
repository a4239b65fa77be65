"""The changelog names each option that the commands have had since the options of a committed list."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEFORE = {*(ROOT / "tests" / "data" / "options-ce347620.txt").read_text("ascii").split()}


def test_each_new_option_is_in_the_changelog() -> None:
    now = {
        option
        for path in (ROOT / "cli").rglob("*.py")
        for option in re.findall(r"[\"'](--[a-z0-9-]+)", path.read_text("utf-8"))
    }
    # The options of the server are made from its settings.
    now |= {"--ezid-passthrough", "--resource-label", "--remote-user-secret-field"}
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert {option for option in now - BEFORE if not re.search(rf"{option}(?![a-z0-9-])", changelog)} == set()
