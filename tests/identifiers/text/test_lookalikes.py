"""Labels in other alphabets, widths and styles are recognized."""

from __future__ import annotations

import pytest

from ararat.identifiers.text.lookalikes import lookalike


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param("\u0430\u0440\u043a:12345/x", "ark:", id="Cyrillic"),
        pytest.param("\u0410\u0420\u041a:12345/x", "ark:", id="Cyrillic capitals"),
        pytest.param("\u03b1\u03c1\u03ba:12345/x", "ark:", id="Greek"),
        pytest.param("\u0391\u03a1\u039a:12345/x", "ark:", id="Greek capitals"),
        pytest.param("\u0561\u0580\u056f:12345/x", "ark:", id="Armenian"),
        pytest.param("\u0531\u0550\u053f:12345/x", "ark:", id="Armenian capitals"),
        pytest.param("\u10d0\u10e0\u10d9:12345/x", "ark:", id="Georgian"),
        pytest.param("\u0443\u0440\u043d:foo:a", "urn:", id="URN in Cyrillic"),
        pytest.param("\u03c5\u03c1\u03bd:foo:a", "urn:", id="URN in Greek"),
        pytest.param("\u0578\u0580\u0576:foo:a", "urn:", id="URN in Armenian"),
        pytest.param("\u10e3\u10e0\u10dc:foo:a", "urn:", id="URN in Georgian"),
        pytest.param("\uff41\uff52\uff4b\uff1a12345/x", "ark:", id="wide letters and colon"),
        pytest.param("a\u200brk:12345/x", "ark:", id="invisible character"),
        pytest.param("ark\uff1a12345/x", "ark:", id="wide colon"),
        pytest.param("\u0430\u0440\u043a/12345:x", None, id="colon after a slash"),
        pytest.param("\u0430\u0440\u043a?12345:x", None, id="colon after a question mark"),
        pytest.param("\u0430\u0440\u043a#12345:x", None, id="colon after a number sign"),
        pytest.param("ark:12345/x", None, id="ASCII"),
        pytest.param("\u674e:12345/x", None, id="no counterpart in ASCII"),
    ],
)
def test_a_label_in_other_characters_has_an_ascii_label(text, label):
    found = lookalike(text)
    assert (found.ascii_label if found else None) == label
    assert found is None or text[found.span[1] - 1] in ":\uff1a"
