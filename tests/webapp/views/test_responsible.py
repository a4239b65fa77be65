"""The one to ask about a link whose trace has failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.bindings.names.branding.model import Branding
from ararat.middleware import Bindings
from ararat.webapp import create_app
from ararat.webapp.config import site
from ararat.webapp.views.responsible import Responsible, responsible_for


@pytest.fixture
def names(tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    bindings = open_store(tmp_path / "bindings.sqlite")
    bindings.bind("ark:12345/x5a", "https://museum.example/a")
    return bindings


def asked(names: Bindings | None, text: str) -> Responsible | None:
    app = create_app(names)
    with app.test_request_context("/"):
        return responsible_for(text, site())


def test_a_name_inherits_the_contact_of_its_naan(names: Bindings) -> None:
    names.prefixes.set("12345", who="Museum of the Two Rivers", contact="ids@two-rivers.example")
    names.prefixes.set("12345/x5", what="Maps")
    found = asked(names, "ark:12345/x5a")
    assert found is not None
    assert found.sentence == "Museum of the Two Rivers records this address."
    assert (found.label, found.address) == (
        "Report it to ids@two-rivers.example",
        "mailto:ids@two-rivers.example",
    )
    assert asked(names, "https://n2t.net/ark:/12345/x5-a") == found


def test_the_contact_of_a_shoulder_is_nearer(names: Bindings) -> None:
    names.prefixes.set("12345", who="Museum", contact="museum@example.org")
    names.prefixes.set("12345/x5", who="Library", contact="+49 30 12345")
    found = asked(names, "ark:12345/x5a")
    assert found is not None
    assert found.sentence == "Library records this address."
    # A telephone number has no link.
    assert (found.label, found.address) == ("Report it to +49 30 12345", None)


def test_without_a_record_the_institution_of_the_site_is_asked(names: Bindings) -> None:
    found = asked(names, "ark:12345/x5a")
    assert found is not None
    assert (found.sentence, found.address) == ("This site records this address.", None)
    names.branding.set(Branding(institution="Museum", contact="https://museum.example/contact"))
    found = asked(names, "ark:12345/x5a")
    assert found is not None
    assert (found.sentence, found.address) == ("Museum records this address.", "https://museum.example/contact")


def test_a_reserved_name_is_not_disclosed(names: Bindings) -> None:
    names.reserve("ark:12345/x5r", metadata={"who": "Secret"})
    assert asked(names, "ark:12345/x5r") == asked(names, "ark:12345/x5unknown")


@pytest.mark.parametrize("with_names", [True, False])
@pytest.mark.parametrize("text", ["ark:/12148/btv1b8449691v", "https://gallica.bnf.fr/ark:/12148/btv1b8449691v.image"])
def test_the_holder_of_another_naan_is_named(names: Bindings, text: str, with_names: bool) -> None:
    found = asked(names if with_names else None, text)
    assert found is not None
    assert found.sentence.endswith("records this address.")
    assert "12148" in str(found.address)


def test_a_link_without_an_identifier_has_an_operator(names: Bindings) -> None:
    found = asked(names, "https://museum.example/object?id=7")
    assert found is not None
    assert found.sentence == (
        "This link has no identifier, so no institution keeps it. Ask the operator of museum.example."
    )
    assert found.address is None


def test_a_hostile_name_is_displayed_safely(names: Bindings) -> None:
    names.prefixes.set("12345", who="A\u202eB", contact="javascript:alert(1)")
    found = asked(names, "ark:12345/x5a")
    assert found is not None
    assert "\u202e" not in found.sentence
    assert found.address is None
