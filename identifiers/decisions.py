"""What Ararat does where the specifications are silent, contradict themselves, or cannot be meant by the letter.

Each decision has an identifier that never changes ("A-03"), by which comments in the code cite it; the table is
``data/decisions.json``, and everything that tells of decisions, page or document, is made from it.

>>> decisions()["N-01"].title
'An encoded hyphen'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from types import MappingProxyType

from .registries import BUNDLED


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision, each part in a sentence or two of ASCII.

    ``said`` is what the specification says or leaves out, ``done`` what Ararat does, ``why`` the reason, ``reference``
    the place. ``topic`` groups decisions ("ARK grammar").
    """

    id: str
    topic: str
    title: str
    said: str
    done: str
    why: str
    reference: str

    def as_dict(self) -> dict[str, str]:
        """The decision as JSON holds it."""
        return asdict(self)


@cache
def decisions() -> Mapping[str, Decision]:
    """The decisions by identifier, topic by topic."""
    topics = json.loads((BUNDLED / "decisions.json").read_text("utf-8"))
    return MappingProxyType({row["id"]: Decision(topic=topic, **row) for topic, rows in topics.items() for row in rows})
