"""Logos: a path of this site, or an image in a data URL."""

from __future__ import annotations

from base64 import b64encode

import pytest

from ararat.bindings.names.branding.logos import MAX_BYTES, check, data_url
from ararat.bindings.names.errors import BindingError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def data(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{b64encode(content).decode()}"


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("/static/logo.svg", "/static/logo.svg"),
        ("/logo.png?v=2", "/logo.png?v=2"),
        ("/l\u00f6go.png", "/l%C3%B6go.png"),
        (data(PNG), data(PNG)),
    ],
)
def test_a_logo_has_one_stored_form(given, stored):
    assert check(given) == stored
    assert check(stored) == stored


@pytest.mark.parametrize(
    "text",
    [
        "logo.png",
        "//evil.example/logo.png",
        "https://evil.example/logo.png",
        "/ark:12345/x",
        "/logo.png\r\nX: y",
        '/"onerror=alert(1)',
        "javascript:alert(1)",
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/png,abc",
        "data:image/png;base64,",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,A",
        "DATA:image/png;base64,AAAA",
        data(b"<svg onload=alert(1)>", "image/svg+xml"),
        data(PNG, "image/gif"),
        data(PNG + bytes(MAX_BYTES)),
        data(PNG) + "\n",
    ],
)
def test_other_texts_are_not_logos(text):
    with pytest.raises(BindingError) as caught:
        check(text)
    assert caught.value.code == "branding-logo"
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("image", "beginning"),
    [
        (PNG, "data:image/png;base64,"),
        (b"\xff\xd8\xff\xe0", "data:image/jpeg;base64,"),
        (b"GIF89a", "data:image/gif;base64,"),
        (b"RIFF\n\n\n\nWEBPVP8 ", "data:image/webp;base64,"),
    ],
)
def test_an_image_file_becomes_a_data_url(image, beginning):
    url = data_url(image)
    assert url.startswith(beginning)
    assert check(url) == url


@pytest.mark.parametrize("content", [b"", b"<svg/>", b"%PDF", PNG + bytes(MAX_BYTES)])
def test_other_files_are_refused(content):
    with pytest.raises(BindingError):
        data_url(content)
