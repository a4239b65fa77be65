from __future__ import annotations

import itertools
from pathlib import Path
from runpy import run_path

import pytest

from ararat.net.hop import HopFailed, HopResponse
from ararat.tracing.algorithm import End, Start, trace
from ararat.tracing.messages import THIS_SITE, closing, trust

# Test folders are not packages, so the module is loaded by path.
_scripted = run_path(str(Path(__file__).with_name("scripted.py")))
Script, redirect, answer, run, codes = (_scripted[name] for name in ("Script", "redirect", "answer", "run", "codes"))


# Notes ----------------------------------------------------------------------------------------------------------------

NOTES = {
    "vary": (redirect(302, "/a", Vary="Accept-Language"), "direct"),
    "other-host": (redirect(302, "https://a.example/"), None),
    "downgrade": (redirect(302, "http://n2t.net/"), None),
    "relative-location": (redirect(302, "/a"), None),
    "not-web": (redirect(302, "mailto:a@b"), None),
    "describedby": (answer(200, ("Link", '<?info>; rel="describedby"')), None),
    "in-process": (HopResponse(200, "OK", (), "here"), None),
    "forbidden": (answer(403), None),
    "no-location": (answer(404), None),
    "method-not-allowed": (answer(405), None),
    "permanent-redirect": (redirect(301, "https://n2t.net/"), None),
    "fragment-new": (redirect(302, "https://n2t.net/#f"), None),
}


# ARK-107
@pytest.mark.parametrize("code", NOTES)
def test_each_kind_of_response_has_its_note(code):
    hops, _ = run(NOTES[code][0], answer(200))
    assert code in codes(hops[0])
    hops, _ = run(answer(200))
    assert codes(hops[0]) == []


def test_a_vary_field_without_a_location_does_not_mention_one():
    hops, _ = run(answer(200, ("Vary", "Accept")))
    assert codes(hops[0]) == []


def test_a_description_note_has_an_absolute_url():
    targets = ("?info", "bad uri", "/m", "javascript:alert(1)", "")
    hops, _ = run(answer(200, ("Link", ", ".join(f'<{target}>; rel="describedby"' for target in targets))))
    assert [note.href for note in hops[0].notes] == ["https://n2t.net/ark:12345/x?info", "https://n2t.net/m"]


@pytest.mark.parametrize("scheme", ["javascript", "JavaScript", "data", "vbscript", "file", "blob"])
def test_a_target_that_runs_a_program_has_a_warning(scheme):
    hops, end = run((302, f"{scheme}:alert(1)"))
    assert codes(hops[0]) == ["not-web"]
    assert hops[0].notes[0].text.endswith("runs a program or reads a file in the browser. Do not open it.")
    assert end.sentence.startswith("The redirect leads to")
    assert "The resource is at" not in end.sentence
    assert "so it was not requested. Do not open it." in end.sentence


def test_another_target_that_is_not_http_has_no_warning():
    hops, end = run((302, "mailto:a@example.org"))
    assert [note.text for note in hops[0].notes] == ["The redirect leads to a mailto: URL, which is not requested."]
    assert end.sentence.startswith("The resource is at mailto:a@example.org.")


def test_a_404_of_another_host_is_not_called_that_of_a_resolver():
    hops, _ = run((302, "https://a.example/thing"), answer(404))
    assert codes(hops[1]) == []
    hops, _ = run((302, "https://a.example/ark:12345/x"), answer(404))
    assert "no-location" in codes(hops[1])


# ARK-133
@pytest.mark.parametrize(
    ("resolver", "noted"),
    [
        ("http://r.example", True),
        ("https://r.example", False),
        ("http://127.0.0.1:8000", False),
        ("http://[::1]", False),
    ],
)
def test_a_resolver_without_tls_has_a_note(resolver, noted):
    start = next(trace("ark:12345/x", fetch=Script(), resolver=resolver))
    assert isinstance(start, Start)
    assert [note.code for note in start.notes] == ["resolver-without-tls"] * noted


# ARK-132
@pytest.mark.parametrize(
    "chain",
    [
        pytest.param(["https://arks.org/ark:12345/x"], id="to-itself"),
        pytest.param(["https://arks.org/ark:12345/x", "/ark:12345/x"], id="to-itself-by-a-relative-location"),
        pytest.param(["https://arks.org/ark:12345/x", "https://n2t.net/ark:12345/x"], id="back-and-forth"),
    ],
)
def test_a_loop_in_the_registry_means_an_unregistered_naan(chain):
    locations = itertools.islice(itertools.cycle(chain), 11)
    hops, end = run(*[(302, location) for location in locations], identifier="ark:/12-345/x")
    assert (end.outcome, end.code, len(hops)) == ("failure", "naan-not-registered", 11)
    assert end.sentence.startswith("NAAN 12345 is not registered")
    assert "naan-not-registered" in codes(hops[-1])
    assert "naan-not-registered" not in codes(hops[0])


@pytest.mark.parametrize(
    ("identifier", "location"),
    [
        pytest.param("ark:12345/x", "https://a.example/", id="elsewhere"),
        pytest.param("ark:12345/x", "https://arks.org.example/", id="a-name-that-begins-alike"),
        pytest.param("ark:12345/x", "https://arks.org/", id="a-page-of-the-registry"),
        pytest.param("urn:foo:a", "https://arks.org/urn:foo:a", id="a-urn"),
    ],
)
def test_other_loops_end_with_too_many_redirects(identifier, location):
    _, end = run(*[(302, location)] * 11, identifier=identifier)
    assert end.code == "too-many-redirects"
    assert "repeat" in end.sentence


# Words ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        pytest.param(
            [(302, "https://a.example/1"), (303, "https://b.example/2"), answer(200)],
            "A related resource is at https://b.example/2. Three hops, 0.5 s. "
            "This result relies on n2t.net, a.example and b.example.",
            id="related",
        ),
        pytest.param(
            [HopResponse(200, "OK", (), "here")],
            "The resource is at https://n2t.net/ark:12345/x. One hop, 0.5 s. This server answered all requests itself.",
            id="direct-in-process",
        ),
        pytest.param(
            [(302, "mailto:a@b")],
            "The resource is at mailto:a@b. This is not a web address, so it was not requested. "
            "One hop, 0.5 s. This result relies on n2t.net.",
            id="not-fetched",
        ),
        pytest.param(
            [(302, "https://a.example/1"), answer(404)],
            "a.example answered 404 Not Found at hop 2. "
            "It is unspecified whether the resource or its resolution failed. "
            "Two hops, 0.5 s. This result relies on n2t.net and a.example.",
            id="error",
        ),
        pytest.param(
            [HopResponse(410, "Gone", (), "here")],
            "This site answered 410 Gone at hop 1. It is unspecified whether the resource or its resolution failed. "
            "One hop, 0.5 s. This server answered all requests itself.",
            id="error-in-process",
        ),
        pytest.param(
            [HopFailed("site-error", where="here")],
            "Hop 1 got no answer from this site: the site failed while it answered in process. "
            "It is unspecified whether the resource or its resolution failed. One hop, 0.5 s.",
            id="no-answer-in-process",
        ),
        pytest.param(
            [HopFailed("dns")],
            "Hop 1 got no answer from n2t.net: the name of the host could not be looked up. "
            "It is unspecified whether the resource or its resolution failed. One hop, 0.5 s.",
            id="no-answer",
        ),
        pytest.param(
            [answer(302)],
            "n2t.net answered 302 Found at hop 1, but without a Location field. "
            "It is unspecified whether the resource or its resolution failed. "
            "One hop, 0.5 s. This result relies on n2t.net.",
            id="no-location",
        ),
        pytest.param(
            [answer(299)],
            "n2t.net answered 299 at hop 1. The ARK draft does not define this status, so the trace stops. "
            "One hop, 0.5 s. This result relies on n2t.net.",
            id="unspecified",
        ),
    ],
)
def test_the_end_sentence_summarizes_the_trace(answers, sentence):
    times = itertools.chain([0.0], itertools.repeat(0.5))
    *_, end = trace("ark:12345/x", fetch=Script(*answers), clock=lambda: next(times))
    assert isinstance(end, End)
    assert end.sentence == sentence


def test_a_url_without_a_host_has_a_description():
    _, end = run((302, "http:127.0.0.1/"), HopFailed("bad-url"))
    assert end.sentence.startswith("Hop 2 got no answer from an address without a host: ")


BLAME = ("invalid ark", "does not exist", "persistent", "broken", "wrong", "fault", "dead")


@pytest.mark.parametrize(
    "answers",
    [[answer(404)], [answer(503)], [HopFailed("dns")], [answer(302)], [(302, "https://a.example/")] * 11],
    ids=["404", "503", "dns", "no-location", "too-many"],
)
def test_no_sentence_assigns_blame(answers):
    hops, end = run(*answers)
    words = " ".join([end.sentence, *(note.text for hop in hops for note in hop.notes)]).lower()
    assert [word for word in BLAME if word in words] == []
    assert "unspecified whether" in end.sentence


HOSTILE = 'x\x1b[2J\x9b\u202e<script>"\u00e9\r\n'


def test_texts_of_other_hosts_are_printable_ascii():
    fields = tuple((name, HOSTILE * 400) for name in ("Server", "Vary", "Content-Type", "Retry-After", "Link"))
    hostile = HopResponse(302, HOSTILE * 400, (("Location", "https://a.example/"), *fields))
    hops, end = run(hostile, HopResponse(404, HOSTILE, fields))
    shown = [end.sentence]
    for hop in hops:
        shown += [hop.reason, *(value for _, value in hop.headers), *(note.text for note in hop.notes)]
    for text in shown:
        assert text.isascii()
        assert text.isprintable()
        assert len(text) < 500


# ARK-135
def test_a_result_names_the_hosts_that_it_relies_on():
    said = closing(2, 0.05, ["n2t.net", "a.example", "n2t.net"])
    assert said.endswith("This result relies on n2t.net and a.example.")
    assert trust([THIS_SITE]) == "This server answered all requests itself."
