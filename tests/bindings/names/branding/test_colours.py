"""Colours of the public pages: each colour of an institution becomes readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.branding.colours import DARK, LEAST_CONTRAST, LIGHT, check, contrast, readable
from ararat.bindings.names.errors import BindingError


@given(st.integers(0, 0xFFFFFF))
def test_each_colour_is_readable_on_light_and_on_dark_pages(number):
    light, dark = readable(f"#{number:06x}")
    assert contrast(light, LIGHT) >= LEAST_CONTRAST
    assert contrast(dark, DARK) >= LEAST_CONTRAST


def test_a_readable_colour_stays():
    assert readable("#0b4f6c").light == "#0b4f6c"
    assert readable("#7cc0dc").dark == "#7cc0dc"


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [("#000000", "#ffffff", 21), ("#777777", "#ffffff", 4.48), ("#0000ff", "#ffffff", 8.59)]
)
def test_contrast_is_that_of_wcag(one, other, ratio):
    assert round(contrast(one, other), 2) == round(contrast(other, one), 2) == ratio


@pytest.mark.parametrize(
    "text", ["", "red", "#12", "#12345g", "#1234567", "#fff;}", "#fff\n", "\uff03fff", "#\u0661\u0661\u0661", "url(#a)"]
)
def test_other_texts_are_not_colours(text):
    with pytest.raises(BindingError) as caught:
        check(text)
    assert caught.value.code == "branding-colour"
