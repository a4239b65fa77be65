"""Strategies of hypothesis that make URNs."""

from __future__ import annotations

from hypothesis import strategies as st

from ararat.identifiers import IdentifierError, Urn
from ararat.identifiers.urn import parser as urn

nids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9\-]{1,31}", fullmatch=True)
nsses = st.lists(st.sampled_from([*"aZ09-._~!$&'()*+,;=:@/", "%41", "%c3%A9", "%2f"]), min_size=1, max_size=8).map(
    "".join
)
tails = st.sampled_from(["", "?", "?meta", "?+r", "?=q", "?+r?=q", "#f", "?=a%2f#B%2f"])


@st.composite
def urns(draw: st.DrawFn) -> Urn:
    """Yield URNs that are valid in at least one specification."""
    while True:
        try:
            return urn.parse(
                f"{draw(st.sampled_from(['urn:', 'URN:', 'uRn:']))}{draw(nids)}:{draw(nsses)}{draw(tails)}"
            )
        except IdentifierError:
            continue
