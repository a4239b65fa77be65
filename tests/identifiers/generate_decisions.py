"""Writes what is told of decisions: docs/decisions.md, all of them, and in README.md those that one meets first.

    make docs

Both are made from identifiers/data/decisions.json, and ``test_decisions.py`` compares them with it.
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from pathlib import Path

from ararat.identifiers.decisions import Decision, decisions

ROOT = Path(__file__).parents[2]
README, DOCUMENT = ROOT / "README.md", ROOT / "docs" / "decisions.md"

MET_FIRST = ("A-01", "A-03", "A-08", "A-13", "N-01", "N-06", "I-01", "I-02", "X-02", "X-05", "U-01", "U-02")
"""Those that whoever types, publishes or resolves an identifier meets."""

SECTION = re.compile(r"(?<=<!-- decisions: make docs -->\n).*?(?=<!-- end -->)", re.DOTALL)

INTRODUCTION = """# Where the drafts are silent

Specifications leave things open, contradict themselves, or cannot be meant by the letter. This is what Ararat does
then, and why. The code cites each decision by its identifier, beside the line that carries it out.
"""


def document() -> str:
    """The whole table, topic by topic."""
    topics = groupby(decisions().values(), lambda each: each.topic)
    sections = (f"\n## {topic}\n\n{''.join(map(_entry, rows))}" for topic, rows in topics)
    return INTRODUCTION + "".join(sections).rstrip() + "\n"


def excerpt() -> str:
    """The section of the README: what is done, a line for each."""
    rows = (decisions()[name] for name in MET_FIRST)
    lines = (f"- **{each.id}, {_lower(each.title)}.** {each.done}" for each in rows)
    return "".join(f"{textwrap.fill(line, 125, subsequent_indent='  ')}\n" for line in lines)


def _entry(decision: Decision) -> str:
    return (
        f"### {decision.id} {decision.title}\n\n"
        f"{decision.said} ({decision.reference}) **{decision.done}** {decision.why}\n\n"
    )


def _lower(title: str) -> str:
    return title if title[1:2].isupper() else title[0].lower() + title[1:]


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
    README.write_text(SECTION.sub(lambda _: excerpt(), README.read_text("utf-8")), "utf-8")
