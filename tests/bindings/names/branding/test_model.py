"""The values of a branding."""

from __future__ import annotations

import pytest

from ararat.bindings.names.branding.model import MAX_CHARACTERS, check
from ararat.bindings.names.errors import BindingError
from ararat.identifiers.text.translatable import Translatable


@pytest.mark.parametrize("text", ["a\0b", "x" * 10_000, "\ud800"], ids=["control", "long", "surrogate"])
@pytest.mark.parametrize("field", sorted(MAX_CHARACTERS.keys() - {"logo", "colour"}))
def test_a_text_that_cannot_be_shown_is_refused(field: str, text: str) -> None:
    with pytest.raises(BindingError) as refused:
        check({field: text})  # pyright: ignore[reportArgumentType]
    assert refused.value.code == "branding-text"


@pytest.mark.parametrize("field", sorted(MAX_CHARACTERS))
def test_a_message_begins_with_the_label_in_the_language_of_the_reader(field: str) -> None:
    with pytest.raises(BindingError) as refused:
        check({field: "a\0b"})  # pyright: ignore[reportArgumentType]
    message = refused.value.message
    assert isinstance(message, Translatable)
    label = message.values["label"]
    assert label == field.capitalize()
    assert isinstance(label, Translatable)
