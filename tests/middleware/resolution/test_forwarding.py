"""ARKs of other NAANs are forwarded to the registered resolver, never in a loop."""

from __future__ import annotations

import pytest
from werkzeug.test import Client

from ararat.identifiers import registries
from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.forwarding import forwarding
from ararat.middleware.resolution.settings import Settings

TABLE = """\
{"registry": "naan", "date": "2026-01-02", "source": "https://registry.example/naan"}
["11111","At the official resolver",null,null,null,"https://n2t.net/ark:/${content}"]
["22222","Here by http",null,null,null,"http://r.museum/ark:/${content}"]
["33333","At our other prefix",null,null,null,"https://also.museum/ids/ark:/${content}"]
["44444","A neighbour",null,null,null,"https://r.museum.org/ark:/${content}?v=1"]
["55555","Without an address"]
["88888","With dot-segments in the query",null,null,null,"https://museum.org/x?path=/../${content}#/../y"]
["99998","With a dot-segment",null,null,null,"https://museum.org/../${content}"]
["66666","With a typing error",null,null,null,"https://museum.org/${contnet}"]
"""


@pytest.fixture
def registry(tmp_path):
    (tmp_path / "naan.jsonl").write_text(TABLE)
    registries.use(tmp_path)
    yield
    registries.use()


@pytest.fixture
def client(registry, held, binding):
    store = held(binding("ark:44444/bound", "https://example.org/bound"), binding("ark:12345/doc", "/doc"))
    settings = {"prefix": "https://r.museum", "also": ["https://also.museum/ids"], "naans": ["12345"]}
    return Client(ResolverMiddleware(lambda environ, start_response: [], store, **settings, forward=True))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "address"),
    [
        ("ark:44444/x", "https://r.museum.org/ark:/44444/x?v=1"),
        ("ARK:/44-444/x-1.b.a", "https://r.museum.org/ark:/44444/x-1.b.a?v=1"),
        ("ark:44444/1:1:MW98-MNJ", "https://r.museum.org/ark:/44444/1:1:MW98-MNJ?v=1"),
        (
            "ark:/44444/x/full/400,/0/!200,pct:50.jpg",
            "https://r.museum.org/ark:/44444/x/full/400,/0/!200,pct:50.jpg?v=1",
        ),
        ("ark:44444/x/%61%2f/?", "https://r.museum.org/ark:/44444/x/%61%2f/?v=1&"),
        ("ark:44444/x?b=%61&a", "https://r.museum.org/ark:/44444/x?v=1&b=%61&a"),
        ("ark:44444/1:a?info", "https://r.museum.org/ark:/44444/1:a?v=1&info"),
        ("ark:44444/a(1);b'c!", "https://r.museum.org/ark:/44444/a(1);b'c!?v=1"),
        ("ark:44444/a//b", "https://r.museum.org/ark:/44444/a//b?v=1"),
        ("ark:44444/x?info", "https://r.museum.org/ark:/44444/x?v=1&info"),
        ("ark:88888/x", "https://museum.org/x?path=/../88888/x#/../y"),
        ("ark:44444/x?other=1&utm_source=y", "https://r.museum.org/ark:/44444/x?v=1&other=1&utm_source=y"),
    ],
)
def test_an_ark_of_another_naan_is_forwarded_with_its_inflection(client, identifier, address):
    answer = client.get(f"/{identifier}")
    assert (answer.status_code, answer.location) == (302, address)
    assert "Link" not in answer.headers
    assert client.head(f"/{identifier}").location == address


def test_a_bound_name_is_not_forwarded(client):
    assert client.get("/ark:44444/bound").location == "https://example.org/bound"
    assert client.get("/ark:12345/doc").location == "https://r.museum/doc"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "said"),
    [
        pytest.param("ark:77777/x", "NAAN 77777 is not in the registry of 2026-01-02", id="not registered"),
        pytest.param("ark:55555/x", "has no address for this ARK of NAAN 55555", id="no address"),
        pytest.param("ark:66666/x", "has no address for this ARK of NAAN 66666", id="typing error"),
        pytest.param("ark:99998/x", "has no usable address for this ARK of NAAN 99998", id="dot-segment"),
        pytest.param("ark:11111/x", "has no address for this ARK of NAAN 11111", id="official resolver"),
        pytest.param("ark:22222/x", "sends NAAN 22222 to this resolver", id="own prefix, by http"),
        pytest.param("ark:33333/x", "sends NAAN 33333 to this resolver", id="another prefix of this site"),
        pytest.param("ark:12345/nope", "has no location", id="own NAAN"),
    ],
)
def test_an_ark_that_cannot_be_forwarded_is_not_found_with_a_reason(client, identifier, said):
    answer = client.get(f"/{identifier}", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json["code"]) == (404, "not-bound")
    assert said in answer.json["detail"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "status"),
    [
        ("ark:12345/1:1", 400),
        ("ark:99999/1:1", 400),
        ("ark:77777/1:1", 400),
        ("ark:44444/", 400),
        ("ark:44444//x", 400),
        ("ark:a4444/1:1", 400),
        ("ark:44444/../1:1", 400),
        ("ark:44444/%2e%2E/1:1", 400),
        (f"ark:44444/1:{'1' * 4000}", 414),
    ],
)
def test_other_texts_are_refused_as_before(client, identifier, status):
    assert client.get(f"/{identifier}").status_code == status


def test_a_text_that_is_not_an_ark_is_not_forwarded_by_default(registry, held):
    client = Client(ResolverMiddleware(lambda environ, start_response: [], held(), naans=["12345"]))
    assert client.get("/ark:44444/1:1:MW98-MNJ").status_code == 400


def test_forwarding_is_off_by_default(registry, held):
    client = Client(ResolverMiddleware(lambda environ, start_response: [], held(), naans=["12345"]))
    assert client.get("/ark:44444/x").status_code == 404


def test_a_resolver_at_the_own_prefix_is_not_forwarded_to(registry):
    settings = Settings(prefix="https://r.museum", naans=["12345"], forward=True)
    assert forwarding("ark:22222/x", "22222", settings).address is None
    assert forwarding("ark:44444/x", "44444", settings).address == "https://r.museum.org/ark:/44444/x?v=1"
