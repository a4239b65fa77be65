"""Names below a served subtree: the name, and the path of the site."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import IdentifierError
from ararat.identifiers.ark import parser as ark
from ararat.middleware.resolution.resolver import no_rules, resolve
from ararat.middleware.resolution.settings import Settings
from ararat.middleware.resolution.subtree import containers, nearest_ark, site_path

IIIF = "/full/!200,200/0/default.jpg"


@pytest.mark.parametrize(
    ("core", "nearest"),
    [
        pytest.param("ark:12345/img" + IIIF, "ark:12345/img/full", id="IIIF"),
        pytest.param("ark:/12345/i-mg/0,0,5,5/x", "ark:12345/img", id="classic form"),
        pytest.param("ark:12345/img//a", "ark:12345/img", id="empty segment"),
        pytest.param("ark:12345/img/-/a", "ark:12345/img", id="segment of hyphens"),
        pytest.param("ark:12345/img/ark:67890/y", "ark:12345/img", id="an ARK below an ARK"),
        pytest.param("ark:12345/img,", None, id="in the Name itself"),
        pytest.param("ark:12345/", None, id="no Name"),
        pytest.param("ark:1!/img/a", None, id="in the NAAN"),
        pytest.param("arx:12345/img/,", None, id="another scheme"),
        pytest.param("ark:", None, id="the label alone"),
    ],
)
def test_the_nearest_container_ends_at_a_slash(core, nearest):
    with pytest.raises(IdentifierError) as refused:
        ark.parse(core)
    found = nearest_ark(core, refused.value.problem.start)
    assert (found and found.basic) == nearest


@given(st.text("/.,!-%2Fa", max_size=40).map("ark:12345/".__add__))
def test_a_found_container_is_always_above_the_name(core):
    try:
        ark.parse(core)
    except IdentifierError as error:
        found = nearest_ark(core, error.problem.start)
        assert found is None or core.startswith(found.text + "/")


def test_names_below_a_variant_are_not_below_the_generic_name():
    assert list(containers(ark.parse("ark:12345/a/x.v1"))) == ["ark:12345/a/x.v1", "ark:12345/a"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("target", "core", "path"),
    [
        pytest.param("/i/7", "ark:12345/img" + IIIF, "/i/7" + IIIF, id="IIIF"),
        pytest.param("/i/7", "ark:/123-45/im-g/a-b%2fc^|", "/i/7/a-b%2fc^|", id="byte for byte"),
        pytest.param("/i/7?v=1", "ark:12345/img/a", "/i/7/a?v=1", id="query of the target"),
        pytest.param("/i/7", "ark:12345/img.jpg", "/i/7.jpg", id="variant"),
        pytest.param("/i/7", "ark:12345/img/", "/i/7/", id="slash"),
        pytest.param("/i/7", "ark:12345/img//a", "/i/7//a", id="two slashes"),
        pytest.param("/", "ark:12345/img/a", "/a", id="root"),
        pytest.param("/", "ark:12345/img//evil.example", None, id="root, and an authority in the making"),
        pytest.param("/", "ark:12345/img/ark:12345/other", None, id="root, and a reserved path"),
        pytest.param("/", "ark:12345/img/%61rk:12345/other", None, id="root, and a reserved path in disguise"),
        pytest.param("/i/7", "ark:12345/img/../8", None, id="dot-segment"),
        pytest.param("/i/7", "ark:12345/img/.%2e/8", None, id="encoded dot-segment"),
        pytest.param("/i/7", "ark:12345/img/\u00e9", None, id="not ASCII"),
        pytest.param("https://example.org/", "ark:12345/img/a", None, id="a target elsewhere"),
        pytest.param("/ark:12345/x", "ark:12345/img/a", None, id="a reserved target"),
    ],
)
def test_the_site_receives_its_path_and_the_rest_unchanged(binding, target, core, path):
    assert site_path(binding("ark:12345/img", target, kind="served", scope="subtree"), core) == path


@pytest.fixture
def answer(held, binding):
    store = held(
        binding("ark:12345/img", "/i/7", kind="served", scope="subtree"),
        binding("ark:12345/img/about", "https://example.org/about"),
        binding("ark:12345/img/gone", "/gone", kind="served", scope="subtree", status="withdrawn"),
        binding("ark:12345/page", "/page", kind="served"),
    )
    return lambda identifier: resolve(identifier, store.fetch, no_rules, Settings())


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "target", "query"),
    [
        pytest.param("ark:12345/img" + IIIF, "/i/7" + IIIF, None, id="a text that is not an ARK"),
        pytest.param("ark:12345/img/full/max/0/a.jpg?v=2", "/i/7/full/max/0/a.jpg", "v=2", id="what is an ARK"),
        pytest.param("ark:/12345/i-mg/a-b/%21,?v", "/i/7/a-b/%21,", "v", id="any spelling"),
        pytest.param("ark:12345/img", "/i/7", None, id="the name itself"),
        pytest.param("ark:12345/img/", "/i/7/", None, id="with a slash"),
        pytest.param("ark:12345/img/,?fbclid=1", "/i/7/,", None, id="parameters that platforms append"),
    ],
)
def test_names_below_reach_the_site_with_the_ark_in_the_environ(answer, identifier, target, query):
    resolution = answer(identifier)
    assert (resolution.outcome, resolution.target, resolution.query) == ("served", target, query)
    assert resolution.key == resolution.binding.identifier == "ark:12345/img"


def test_a_bound_name_below_has_its_own_answer(answer):
    assert answer("ark:12345/img/about").target == "https://example.org/about"


def test_metadata_inflections_never_reach_the_site(answer):
    described = answer("ark:12345/img/info.json?info")
    assert (described.outcome, described.container) == ("metadata", "ark:12345/img")
    for inflection in ("?", "??", "?info", "?%69nfo"):
        assert answer(f"ark:12345/img{IIIF}{inflection}").status == 400


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "status"),
    [
        ("ark:12345/page/a,b", 400),
        ("ark:12345/page/a", 404),
        ("ark:12345/img/gone/a", 410),
        ("ark:12345/img/gone/a,", 400),
        ("ark:12345/img/../a,", 400),
        ("ark:12345/imgs/a", 404),
        ("ark:12345/nope/a,b", 400),
    ],
)
def test_other_requests_do_not_reach_the_site(answer, identifier, status):
    assert answer(identifier).status == status
