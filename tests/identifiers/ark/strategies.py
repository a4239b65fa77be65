"""Strategies of hypothesis that make ARKs, and texts that are nearly ARKs."""

from __future__ import annotations

from hypothesis import strategies as st

from ararat.identifiers import Ark, IdentifierError
from ararat.identifiers.ark import parser as ark

NAME_CHARS = "0123456789abzABZ=~*+@_$-.\u00e9\u0431\u202e\U0001f600"
# S-03
TRIPLETS = ["%41", "%2d", "%2D", "%2E", "%2f", "%7E", "%ff", "%C3%A9", "%25", "%00"]
names = st.lists(st.sampled_from([*NAME_CHARS, *TRIPLETS]), min_size=1, max_size=8).map("".join)
naans = st.lists(st.sampled_from([*"0123459bcxz-", "%31", "%2D", "%D0"]), min_size=1, max_size=6).map("".join)
tails = st.sampled_from(["", "?", "??", "?info", "?%69nfo", "#", "?a-b%2dc#\u0444", "#f?\u00e9"])
candidates = st.builds(
    lambda label, naan, path, tail: f"{label}{naan}/{'/'.join(path)}{tail}",
    st.sampled_from(["ark:", "ark:/", "ARK:", "aRk:/"]),
    naans,
    st.lists(names, min_size=1, max_size=4),
    tails,
)


@st.composite
def arks(draw: st.DrawFn) -> Ark:
    """Yield extended ARKs in both forms."""
    while True:
        try:
            return ark.parse(draw(candidates))
        except IdentifierError:
            continue


def cut(rest: str) -> tuple[str, str]:
    """Split the text after the label of an ARK before its query or fragment."""
    end = min((place for mark in "?#" if (place := rest.find(mark)) >= 0), default=len(rest))
    return rest[:end], rest[end:]
