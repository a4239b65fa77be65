"""The base class of ARKs and URNs."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, replace

import pytest

from ararat.identifiers import parse


@pytest.mark.parametrize("text", ["ark:/12345/x-1", "URN:example:a%2c"])
def test_a_parsed_identifier_cannot_be_changed_and_can_be_copied(text):
    found = parse(text)
    for name in ("text", "normal_form"):
        with pytest.raises(FrozenInstanceError):
            setattr(found, name, "ark:12345/y")
    with pytest.raises(FrozenInstanceError):
        del found.text  # type: ignore[misc]
    for copied in (pickle.loads(pickle.dumps(found)), deepcopy(found), replace(found)):  # noqa: S301
        assert (copied, copied.text, type(copied)) == (found, text, type(found))


def test_an_ark_and_a_urn_are_different_although_their_texts_are_equal():
    ark, urn = parse("ark:12345/x"), parse("urn:example:x")
    assert replace(urn, text=ark.text, normal_form=ark.normal_form) != ark  # type: ignore[type-var]
