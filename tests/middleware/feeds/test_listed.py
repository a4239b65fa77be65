"""A name that is not listed is in no feed, and its description has noindex."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.fields import Fields
from ararat.middleware import ResolverMiddleware

from .conftest import PREFIX, site

SHOWN, HIDDEN, CHANGED, WITHDRAWN = (f"ark:12345/{name}" for name in ("shown", "hidden", "changed", "withdrawn"))
FEEDS = ("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc", "/names.xml?from=ark:12345/", "/changes.atom")


def resolver(bindings: Bindings) -> Client:
    return Client(
        ResolverMiddleware(
            site, bindings, prefix=PREFIX, naans=["12345"], oai="/oai", sitemap="/names.xml", atom="/changes.atom"
        )
    )


@pytest.fixture
def names(bindings: Bindings) -> Bindings:
    bindings.bind(SHOWN, "https://example.org/1")
    bindings.bind(HIDDEN, "https://example.org/2", listed=False, metadata={"what": "A secret"})
    bindings.bind(CHANGED, "https://example.org/3")
    bindings.bind(CHANGED, "https://example.org/3", listed="no")
    bindings.bind(WITHDRAWN, "https://example.org/4", listed=False)
    bindings.withdraw(WITHDRAWN)
    return bindings


def test_a_name_that_was_never_listed_is_in_no_feed(names: Bindings) -> None:
    client = resolver(names)
    for address in FEEDS:
        text = client.get(address).text
        assert SHOWN in text
        assert HIDDEN not in text
        assert WITHDRAWN not in text
    for name in (HIDDEN, WITHDRAWN):
        found = client.get(f"/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier={name}").text
        assert 'code="idDoesNotExist"' in found
        assert "secret" not in found


def test_a_harvester_gets_a_deleted_record_for_a_name_that_is_no_longer_listed(names: Bindings) -> None:
    client = resolver(names)
    deleted = f'<header status="deleted">\n<identifier>{CHANGED}'
    assert deleted in client.get(FEEDS[0]).text
    assert deleted in client.get(f"/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier={CHANGED}").text
    assert CHANGED not in client.get(FEEDS[1]).text + client.get(FEEDS[2]).text
    before = names.lookup(CHANGED)
    names.bind(CHANGED, "https://example.org/3", listed=True)
    after = names.lookup(CHANGED)
    assert before is not None
    assert after is not None
    assert after.changed > before.changed
    for address in FEEDS:
        text = client.get(address).text
        assert CHANGED in text
        assert deleted not in text


def test_a_name_that_was_listed_while_reserved_is_no_deleted_record(bindings: Bindings) -> None:
    bindings.reserve(HIDDEN)
    bindings.bind(HIDDEN, "https://example.org/2", listed=False)
    assert HIDDEN not in resolver(bindings).get(FEEDS[0]).text


def test_the_description_of_a_name_that_is_not_listed_is_not_indexed(names: Bindings) -> None:
    client = resolver(names)
    for form, field in (("html", "noindex"), ("json", "noindex"), ("erc", "noindex")):
        assert client.get(f"/{HIDDEN}?info&format={form}").headers["X-Robots-Tag"] == field
    assert '<meta name="robots" content="noindex">' in client.get(f"/{HIDDEN}?info&format=html").text
    shown = client.get(f"/{SHOWN}?info&format=html")
    assert "X-Robots-Tag" not in shown.headers
    assert "noindex" not in shown.text


def test_a_table_file_hides_the_same_names(
    names: Bindings, as_file: Callable[[Bindings], Bindings], open_store: Callable[..., Bindings]
) -> None:
    client = resolver(as_file(names))
    for address in FEEDS:
        text = client.get(address).text
        assert SHOWN in text
        assert not [name for name in (HIDDEN, CHANGED, WITHDRAWN) if name in text]


@pytest.mark.parametrize("value", ["maybe", "", 1.5, [], "YES"])
def test_another_value_is_refused(value: object) -> None:
    with pytest.raises(BindingError) as raised:
        Fields(target="/1", listed=value).for_name(HIDDEN)  # type: ignore[arg-type]
    assert raised.value.code == "listed-unknown"
