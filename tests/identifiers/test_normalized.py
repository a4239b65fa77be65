"""The base class of ARKs and URNs."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, replace

import pytest

from ararat.identifiers import Ark, EmbeddedArk, Urn, parse


@pytest.mark.parametrize(
    ("kind", "text", "door"),
    [
        pytest.param(Ark, "ark:/12345/x", r"Ark\.parse\(text\)", id="ARK"),
        pytest.param(Urn, "urn:isbn:0451450523", r"Urn\.parse\(text\)", id="URN"),
        pytest.param(EmbeddedArk, "https://n2t.net/ark:12345/x", r"ararat\.parse\(text\)", id="address"),
    ],
)
def test_a_class_called_with_a_text_alone_names_the_function_that_reads_it(kind, text, door):
    with pytest.raises(TypeError, match=door):
        kind(text)


@pytest.mark.parametrize("text", ["ark:/12345/x-1", "URN:example:a%2c", "https://n2t.net/ark:12345/x"])
def test_a_parsed_identifier_cannot_be_changed_and_can_be_copied(text):
    found = parse(text)
    for name in ("text", "prefix" if isinstance(found, EmbeddedArk) else "normal_form"):
        with pytest.raises(FrozenInstanceError):
            setattr(found, name, "ark:12345/y")
    with pytest.raises(FrozenInstanceError):
        del found.text  # type: ignore[misc]
    for copied in (pickle.loads(pickle.dumps(found)), deepcopy(found), replace(found)):  # noqa: S301
        assert (copied, copied.text, type(copied)) == (found, text, type(found))


def test_an_ark_and_a_urn_are_different_although_their_texts_are_equal():
    ark, urn = parse("ark:12345/x"), parse("urn:example:x")
    assert replace(urn, text=ark.text, normal_form=ark.normal_form) != ark  # type: ignore[type-var]
