"""The rules of the normal forms, each with an example that the rule itself works out.

Three specifications, three sets of rules: the ARK draft's, by which Ararat binds and finds; draft-kunze-ark's, which is
shown beside it; the URN draft's. What an example becomes is written nowhere: it is computed.

>>> rules()[0].rules[4].before, rules()[0].rules[4].after
('ark:12345/c37-009-31--', 'ark:12345/c3700931')
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from . import kunze, normalization, urn
from .normalization import Parts, Rule


class WorkedRule(NamedTuple):
    """A rule: its stable name, what it says, where it stands, and an example before and after it, alone."""

    rule: str
    title: str
    reference: str
    before: str
    after: str


class RuleSet(NamedTuple):
    """The rules of one specification, in its order. ``key`` is a word; ``about`` says what they are used for."""

    key: str
    title: str
    about: str
    rules: tuple[WorkedRule, ...]

    def as_dict(self) -> dict[str, Any]:
        """The set as JSON holds it."""
        return {**self._asdict(), "rules": [rule._asdict() for rule in self.rules]}


# An Extended ARK in three texts for each rule of the ARK draft.
_ARKS = {
    "scheme-case": Parts("ARK:", "12345/AbC", ""),
    "classic-slash": Parts("ark:/", "12345/x6np1", ""),
    "percent-decoding": Parts("ark:", "12345/x%61%7E%2Fb", ""),
    "hex-case": Parts("ark:", "12345/a%c3%a9", ""),
    "hyphens": Parts("ark:", "12345/c37-009-31--", ""),
    "non-ascii": Parts("ark:", "12345/4\u0431\u04443", ""),
    "variants": Parts("ark:", "12345/x.pdf.en.pdf", ""),
    "query-and-fragment": Parts("ark:", "12345/x", "?%69nfo#a-b%2Dc"),
}
_KUNZE = {
    "label": Parts("ARK:/", "12345/x6np1", ""),
    "naan-case": Parts("ark:", "B5072/AbC", ""),
    "hex-case": Parts("ark:", "12345/a%c3%a9", ""),
    "hyphens": Parts("ark:", "12345/c37-009-31--", ""),
    "structure": Parts("ark:", "12345/x//c..pdf/", ""),
    "suffixes-last": Parts("ark:", "12345/x.v1/c2", ""),
}
_URNS = {
    "scheme-case": "URN:foo:a123",
    "nid-case": "urn:FOO:a123",
    "hex-case": "urn:foo:a123%2c456",
}


@cache
def rules() -> tuple[RuleSet, ...]:
    """The sets of rules with their examples."""
    return (
        RuleSet(
            "ark",
            "ARKs, by the ARK draft of 2020",
            "Two ARKs are equivalent when their normal forms are equal, character by character. "
            "Names are bound, found and compared by this form and no other.",
            tuple(_worked(rule, _ARKS[rule.name]) for rule in normalization.RULES),
        ),
        RuleSet(
            "urn",
            "URNs, by the URN draft of 2011 and RFC 8141",
            "Percent-encoding is never removed, and the rest of a name keeps its case. RFC 8141 leaves query and "
            "fragment out when it compares; the draft says nothing of them, so that by it they count.",
            tuple(_worked_urn(*step, _URNS[step[0]]) for step in urn.STEPS),
        ),
        RuleSet(
            "kunze",
            "ARKs, by draft-kunze-ark",
            "The other draft of the family has a normal form of its own. It is shown where it differs, and is used for "
            "nothing else.",
            tuple(_worked(rule, _KUNZE[rule.name]) for rule in kunze.RULES),
        ),
    )


def _worked(rule: Rule, example: Parts) -> WorkedRule:
    return WorkedRule(rule.name, rule.title, rule.reference, "".join(example), "".join(rule.apply(example)))


def _worked_urn(name: str, title: str, reference: str, example: str) -> WorkedRule:
    after = {step.rule: step.after for step in urn.parse(example).steps}
    return WorkedRule(name, title, reference, example, after[name])
