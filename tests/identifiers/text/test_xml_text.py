"""An XML parser reads each text again, with U+FFFD for the characters that XML forbids."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.text import xml_text

ANY = st.text(st.characters(codec=None))


@given(ANY, ANY)
def test_a_parser_reads_the_text_again(text, value):
    document = f"<e a={xml_text.attribute(value)}>{xml_text.content(text)}</e>"
    element = ElementTree.fromstring(document)  # noqa: S314
    assert (element.text or "") == xml_text.valid(text)
    assert element.get("a") == xml_text.valid(value)


def test_only_forbidden_characters_are_replaced():
    kept, replaced = "\t\n\r ~\x7f\ud7ff\ue000\ufffd\U00010000\U0010ffff", "\0\x0b\x1f\ud800\udfff\ufffe\uffff"
    assert xml_text.valid(kept) == kept
    assert xml_text.valid(replaced) == "\ufffd" * len(replaced)
