"""Identifiers in running text."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import examine, find, normalize
from ararat.identifiers.suggestions import suggestions


@pytest.mark.vectors("ark-extract", "urn-extract")
def test_identifiers_are_found_in_a_sentence(vector):
    found = find(vector.input)
    assert [match.literal for match in found] == vector.expect["found"]
    if "trimmed" in vector.expect:
        assert [match.suggestion for match in found] == vector.expect["trimmed"]


@pytest.mark.vectors("container")
def test_the_container_ends_an_identifier(vector):
    text, meant = vector.input, [normalize(each) for each in vector.expect["meant"]]
    found = find(text)
    assert [text[match.start : match.end] for match in found] == [match.literal for match in found]
    assert [normalize(match.suggestion or match.literal) for match in found] == meant
    if "\n" not in text.strip():
        first = next((each.identifier for each in suggestions(text.strip())), text.strip())
        assert normalize(first) == meant[0]


@pytest.mark.parametrize("rest", ["are new.", "ark:12345/x5", "12345/x5", "", "> x5m1"])
def test_a_line_after_a_naan_is_not_always_its_name(rest):
    first = find(f"Names below ark:12345/\n{rest}")[0]
    assert (first.literal, first.suggestion) == ("ark:12345/", "ark:12345/x5m1" if ">" in rest else None)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n", [], id="white space"),
        pytest.param("  ark:12345/x!\n", ["ark:12345/x!"], id="one token is taken whole, wrong as it is"),
        pytest.param("hello", ["hello"], id="one token that is nothing"),
        pytest.param("hello world", [], id="words"),
        pytest.param("<https://n2t.net/ark:/12345/x>", ["https://n2t.net/ark:/12345/x"], id="in angle brackets"),
        pytest.param('"ark:12345/x"', ["ark:12345/x"], id="in quotation marks"),
        pytest.param("ark:12345/x\nark:12345/y\n", ["ark:12345/x", "ark:12345/y"], id="a column"),
        pytest.param("a park:12345/x b", [], id="the end of a word"),
        pytest.param(
            "see urn:isbn:0451450523 and ark:/12345/x-1, please",
            ["urn:isbn:0451450523", "ark:/12345/x-1"],
            id="two schemes",
        ),
        pytest.param(
            "at http://hdl.handle.net/2027/uc2.ark:/13960/t5 now",
            ["http://hdl.handle.net/2027/uc2.ark:/13960/t5"],
            id="inside a segment",
        ),
    ],
)
def test_the_vectors_are_found(text, literals):
    assert [match.literal for match in find(text)] == literals


@pytest.mark.parametrize(
    ("text", "literal", "suggestion", "why"),
    [
        pytest.param("(see urn:foo:a)", "urn:foo:a)", "urn:foo:a", "closing-punctuation", id="closing bracket"),
        pytest.param("a urn:foo:(a) b", "urn:foo:(a)", None, "", id="brackets that belong together"),
        pytest.param(
            "it ark:12345/x?info, or", "ark:12345/x?info,", "ark:12345/x?info", "closing-punctuation", id="comma"
        ),
        pytest.param("is it ark:12345/x??!", "ark:12345/x??!", "ark:12345/x", "closing-punctuation", id="a question"),
        pytest.param(
            "the ark:12345/x\u201d.",
            "ark:12345/x\u201d",
            "ark:12345/x",
            "closing-punctuation",
            id="quotation marks",
        ),
        pytest.param(
            "at https://n2t.net/ark:/12345/x/ and",
            "https://n2t.net/ark:/12345/x/",
            "https://n2t.net/ark:/12345/x",
            "trailing-slash",
            id="slash at the end",
        ),
        pytest.param(
            "a ark:12345/x\u2011y b", "ark:12345/x\u2011y", "ark:12345/x-y", "typographic-character", id="hard hyphen"
        ),
        pytest.param(
            "a ark:12345/x\u00ady b", "ark:12345/x\u00ady", "ark:12345/x-y", "typographic-character", id="soft hyphen"
        ),
        pytest.param("<p>urn:foo:a&lt;br&gt;</p> b", "urn:foo:a&lt;br&gt;", "urn:foo:a", "html-entity", id="entities"),
        pytest.param(
            "go ?id=ark%3A%2F12345%2Fx&y=1 b",
            "ark%3A%2F12345%2Fx",
            "ark:/12345/x",
            "encoded-label",
            id="encoded in a query",
        ),
        pytest.param(
            "go https://e.org/ark%3a/12345/x b",
            "https://e.org/ark%3a/12345/x",
            "https://e.org/ark:/12345/x",
            "encoded-label",
            id="encoded in a path",
        ),
    ],
)
def test_the_probable_end_is_suggested_with_a_reason(text, literal, suggestion, why):
    (match,) = find(text)
    assert (match.literal, match.suggestion, " ".join(match.differences)) == (literal, suggestion, why)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        pytest.param(
            "see https://n2t.net/ark:12345/x/ark:678/y z", ["https://n2t.net/ark:12345/x/ark:678/y"], id="address"
        ),
        pytest.param("see ark:12345/x-ark:67890/y z", ["ark:12345/x", "ark:67890/y"], id="bare"),
        pytest.param("x ark:12345/urn:foo:bar z", ["urn:foo:bar"], id="another scheme"),
    ],
)
def test_letters_of_a_following_label_are_not_part_of_the_name_before(text, literals):
    assert [match.literal for match in find(text)] == literals


def test_an_invalid_identifier_in_a_list_is_reported():
    column = ["ark:12345/x1", "ark:B5072/x2", "ark:12345", "https://n2t.net/ark:1234l/x3", "ark:12345//x4", "urn:a:b"]
    assert [match.literal for match in find("\n".join(column))] == column
    assert find("Noah's ark: a boat. The urn: old. A park:12345 nearby") == []


def test_a_transliterated_label_matches_even_before_a_space():
    (match,) = find("\u0410\u0420\u041a: 12345/437719")
    assert examine(match.literal).suggestion == "ark:12345/437719"


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        pytest.param(
            "at https://17beta.top/en/x?a#b, and", ["https://17beta.top/en/x?a#b,"], id="with query and fragment"
        ),
        pytest.param("at HTTPS://WWW.17BETA.TOP/en now", ["HTTPS://WWW.17BETA.TOP/en"], id="spurious www, any case"),
        pytest.param("at https://example.org/en now", [], id="of another host"),
        pytest.param("at https://17beta.top.example.org/ now", [], id="of a host that begins so"),
        pytest.param("at https://a@17beta.top/ now", [], id="behind user information"),
        pytest.param(
            "ark:12345/x or https://17beta.top/ark:21206/10015 or https://17beta.top/en",
            ["ark:12345/x", "https://17beta.top/ark:21206/10015", "https://17beta.top/en"],
            id="beside ARKs",
        ),
    ],
)
def test_iris_of_a_policy_are_found_on_request(text, literals):
    assert [match.literal for match in find(text, scope=["17beta.top", "male-to-female.org"])] == literals
    assert all("/en" not in match.literal for match in find(text))


def test_adjacent_identifiers_are_separated():
    assert [match.literal for match in find("ark:12345/x,ark:12345/y;urn:foo:a")] == [
        "ark:12345/x",
        "ark:12345/y",
        "urn:foo:a",
    ]


def test_a_word_ends_at_a_no_break_space():
    assert [match.literal for match in find("see ark:12345/x\u00a0and ark:12345/y\u3000now")] == [
        "ark:12345/x",
        "ark:12345/y",
    ]


@given(
    st.lists(
        st.sampled_from(
            ["ark:12345/x", "urn:foo:a", "https://n2t.net/", " ", "\u202e", "ark:", ".", "(", "http://", "\n", "\ud800"]
        )
    ).map("".join)
)
def test_matches_are_ordered_and_do_not_overlap(text):
    end = 0
    for match in find(text):
        assert end <= match.start < match.end
        assert text[match.start : match.end] == match.literal
        end = match.end
    assert end <= len(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("urn:isbn:a,b/?", "urn:isbn:a"),
        ("urn:isbn:0451450523,b/?", "urn:isbn:0451450523"),
        ("urn:isbn:,)urn:isbn:*12345/?", "urn:isbn:,)urn:isbn:*12345"),
    ],
)
def test_a_name_before_an_error_of_the_grammar_is_read(text, read):
    [match] = find(text)
    assert (match.suggestion or match.literal) == read


# Each text needed quadratic time, is similar to one that did, or is slow per character.
HOSTILE = [
    "ark:12345/x ",
    "ark:",
    "x ark:1/",
    "http://a/ark:12345/x,",
    "urn:aa:",
    "http://",
    "ark:12345/x?",
    " (",
    "urn:foo:a)",
    ")",
    "&lt;",
    "amp;",
    "-ark%3Aaa",
    "/ark%3A1/x",
    "-urn:a-:x/y",
    "-ark:1/-?",
    "http://a?",
    "http://a/ark%3A1/-,",
    "ark%3Aaa ",
    "urn:a:b ",
    "urn:aa:b/../ ",
    " ark%3AB/x. ",
    "\u00e9",
    "\u200b",
    ".b.a",
    "urn:a-:x/y&lt;\ud800\t",
    "\u00a0urn:a-:http://&lt;\ud800",
    "urn:a-:ark%3ax/y&lt;\u00e9\u200b>",
    "urn:a-:x/y&lt;&#58;\u300d\t",
    "<urn:a-:http://&lt;\u05d0)",
    "\nark:1/x &",
    "<urn:a-:ark:/&#58;\u200b",
    ">urn:a-:&amp;ark:/?\U00010400&#58;://;\u2010",
    '\u202e"http://&amp;ark%3AA\u00ad',
    'a://\u2010ark%3Aark%3A12345/%41."',
    "\u00adark%3A1/\u0410 ark%3AA_&#58;\u202e",
    ">urn:a-:ark://&#58;\u2010",
    ".\u05d0",
    "/\u0378.%d7%90",
    "ark:1/x:y ",
    ":1:a",
    "urn:aa:b,",
    "?a=urn:aa:b&",
    "ark:1/x-\nb ",
    "ark:%2F1%2Fx(",
    "http://a/urn:aa:b/",
    "ark:1/x\u2019s",
    "ark:1/xark:1/y",
    "[ark:1/x ",
    "'urn:aa:b",
    "$uark:1/x$z",
    "\\/ark:\\/1\\/x",
    "http%3A%2F%2Fa%2Fark%3A1%2Fx",
    "\u898bark:1/x\uff0c",
    "https://a/ark:1/x,4,/",
    "\\",
    ",",
    ";",
    "'",
    "|'",
    '\\"',
]


@pytest.mark.parametrize("before", ["word ", "word ark:12345/x?a&", "http://a/ark:12345/"])
@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("size", [10, pytest.param(12, marks=pytest.mark.long)])
@pytest.mark.timeout(120)
def test_the_running_time_is_linear(unit, before, size):
    assert is_linear(lambda text: find(text, scope=["a"]), before, unit, size)
    assert is_linear(examine, before.strip(), unit, size)


def is_linear(judge, before, unit, size):
    """Return whether a text of four times the length takes less than eight times the CPU time in one of six attempts.

    The text ends with a separate word, so that it is not read as one identifier.
    """
    short, long = (f"{before}{unit * (length // len(unit))} end" for length in (2**size, 2 ** (size + 2)))
    for _ in range(6):
        times = []
        for text in (short, long):
            start = process_time()
            judge(text)
            times.append(process_time() - start)
        if times[1] < 8 * max(times[0], 0.0005):
            return True
    return False


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param("&" + "amp;" * 250, id="nested"),
        pytest.param("&#" + "9" * 5000 + ";", id="a number of 5,000 digits"),
        pytest.param("&#x" + "f" * 5000 + ";", id="a hexadecimal number of 5,000 digits"),
        pytest.param("&" + "a" * 5000 + ";", id="a name of 5,000 letters"),
    ],
)
def test_hostile_character_references_are_found_and_do_not_raise(reference):
    (match,) = find(f"see ark:12345/x?a{reference} end")
    assert match.literal == f"ark:12345/x?a{reference}"


def test_character_references_are_decoded_once():
    (match,) = find("see https://n2t.net/ark:12345/x?a&amp;lt;b end")
    assert (match.suggestion, match.differences) == ("https://n2t.net/ark:12345/x?a&lt;b", ("html-entity",))


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        pytest.param("-urn:a-:x/y,urn:foo:bar z", ["urn:foo:bar"], id="at the end"),
        pytest.param("-urn:a-:x/y,urn:foo:b,urn:foo:c", ["urn:foo:b", "urn:foo:c"], id="two"),
        pytest.param("-ark%3Aaa-ark%3A1/x z", ["ark%3A1/x"], id="an encoded label"),
    ],
)
def test_identifiers_in_an_invalid_match_are_found(text, literals):
    assert [match.literal for match in find(f"a {text}")] == literals


@pytest.mark.parametrize(
    ("text", "literal", "suggestion"),
    [
        pytest.param("urn:foo:a/b&lt;?c|d", "urn:foo:a/b&lt;?c|d", "urn:foo:a/b", id="character reference"),
        pytest.param("ark:12345/x\u00ad1/", "ark:12345/x\u00ad1/", "ark:12345/x-1", id="slash and soft hyphen"),
        pytest.param("urn:foo:a/b&lt;?", "urn:foo:a/b&lt;?", "urn:foo:a/b", id="punctuation and reference"),
        pytest.param("urn:foo:\u00ada", "urn:foo:\u00ada", "urn:foo:-a", id="soft hyphen in a URN"),
        pytest.param("ark:1234\u20115/x", "ark:1234\u20115/x", "ark:1234-5/x", id="typographic hyphen in a NAAN"),
        pytest.param(
            "http://a/ark%3A1/ark%3A2/x", "http://a/ark%3A1/ark%3A2/x", "http://a/ark:1/ark:2/x", id="encoded"
        ),
    ],
)
def test_an_invalid_identifier_is_repaired_as_a_whole_word(text, literal, suggestion):
    (match,) = find(f"see {text} end")
    assert (match.literal, match.suggestion) == (literal, suggestion)


def test_iris_of_a_scope_do_not_overlap():
    assert [match.literal for match in find("a http://a?u=http://a/x http://a", scope=["a"])] == [
        "http://a?u=http://a/x",
        "http://a",
    ]
    assert [match.literal for match in find("a http://b?u=http://a/x", scope=["a"])] == ["http://a/x"]


ONE_WITH_A_REST = [
    pytest.param("ark:/12345/INV 1940 0041", 14, "ark:/12345/INV", id="inventory number"),
    pytest.param("ark:/12345/M\u00fcller 7!", 17, "ark:/12345/M\u00fcller", id="name and number"),
    pytest.param(" ark:12345/x 12345/y \n", 11, "ark:12345/x", id="white space around it"),
    pytest.param("ark:12345/x in Berlin", 11, "ark:12345/x", id="one word in lower case of two"),
    pytest.param("urn:isbn:0 451 45052 3", 10, "urn:isbn:0", id="URN"),
    pytest.param("https://n2t.net/ark:/12345/INV 1940", 30, "https://n2t.net/ark:/12345/INV", id="address"),
    pytest.param("ark:12345/x?a b", 13, "ark:12345/x?a", id="query"),
    pytest.param("ark:12345/x#a b", 13, "ark:12345/x#a", id="fragment"),
    pytest.param("ark:B5072/x 1", 4, "ark:b5072/x", id="wrong before the space"),
    pytest.param("ark: 12345/x", 4, "ark:/12345/x", id="space behind the label"),
]


@pytest.mark.parametrize(("text", "place", "suggestion"), ONE_WITH_A_REST)
def test_one_identifier_with_a_rest_is_reported_whole(text, place, suggestion):
    (match,) = find(text)
    assert match.literal == text.strip()
    assert text[match.start : match.end] == match.literal
    report = examine(match.literal)
    assert (report.valid, report.problems[0].start, report.suggestion) == (False, place, suggestion)


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        pytest.param("ark:12345/x is the name of a map.", "ark:12345/x", id="sentence"),
        pytest.param("ark:12345/x is here", "ark:12345/x", id="short sentence"),
        pytest.param("ark:12345/x\tMap 7", "ark:12345/x", id="columns"),
        pytest.param("ark:12345/x https://example.org/7", "ark:12345/x", id="another address"),
        pytest.param("ark:12345/x 1\nA 2", "ark:12345/x", id="two lines"),
        pytest.param("ark:12345/x 1 2 3 4 5 6 7 8 9", "ark:12345/x", id="many words"),
        pytest.param("See ark:12345/x 1", "ark:12345/x", id="not at the start"),
    ],
)
def test_one_identifier_in_running_text_ends_at_the_first_invalid_character(text, literal):
    assert [match.literal for match in find(text)] == [literal]


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        pytest.param(
            "ark:/12345/INV 1940 0041\nark:12345/y\n",
            ["ark:/12345/INV 1940 0041", "ark:12345/y"],
            id="inventory number",
        ),
        pytest.param("\r\n ark:12345/x 7 \r\n\r\nurn:foo:a b", ["ark:12345/x 7", "urn:foo:a b"], id="CRLF"),
        pytest.param("ark:12345/x!\nark:12345/y 7", ["ark:12345/x", "ark:12345/y 7"], id="punctuation"),
        pytest.param(
            "ark:12345/x ark:12345/y\nark:12345/z 7", ["ark:12345/x", "ark:12345/y", "ark:12345/z 7"], id="two"
        ),
        pytest.param("ark:12345/x is a map of Rome\nark:12345/y 7", ["ark:12345/x", "ark:12345/y 7"], id="sentence"),
        pytest.param("ark:12345/x\tA\nark:12345/y\tB", ["ark:12345/x", "ark:12345/y"], id="columns"),
        pytest.param("ark:12345/x 1\nark:12345/y 2\nand more", ["ark:12345/x", "ark:12345/y"], id="a line without"),
        pytest.param("See ark:12345/x 1\nark:12345/y 2", ["ark:12345/x", "ark:12345/y"], id="a line with words before"),
    ],
)
def test_a_line_of_a_list_is_one_identifier(text, literals):
    found = find(text)
    assert [match.literal for match in found] == literals
    assert [text[match.start : match.end] for match in found] == literals


def test_a_full_stop_after_a_query_that_ends_in_a_slash_is_no_part_of_the_suggestion():
    (match,) = find("see ark:12345/x?a/. Then")
    assert (match.literal, match.suggestion) == ("ark:12345/x?a/.", "ark:12345/x?a")


def test_an_encoded_label_is_decoded_behind_letters_that_become_longer_in_lower_case():
    (match,) = find("see https://e.org/\u0130\u0130\u0130\u0130\u0130\u0130/ark%3A12345/x now")
    assert match.suggestion == "https://e.org/\u0130\u0130\u0130\u0130\u0130\u0130/ark:12345/x"


def test_several_identifiers_on_a_line_are_separated():
    assert [match.literal for match in find("ark:12345/x ark:12345/y")] == ["ark:12345/x", "ark:12345/y"]


FAMILY = "https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ"


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        pytest.param(f"(see {FAMILY})", [FAMILY], id="brackets"),
        pytest.param(f"'{FAMILY}'", [FAMILY], id="quotes"),
        pytest.param(f"[text]({FAMILY})s", [FAMILY], id="Markdown"),
        pytest.param(f"{FAMILY},Mary\n{FAMILY},Ann", [FAMILY, FAMILY], id="rows"),
        pytest.param(f"{FAMILY};ark:/61903/1:1:X", [FAMILY, "ark:/61903/1:1:X"], id="list"),
        pytest.param("x?id=ark:/61903/1:1:X&y=1 z", ["ark:/61903/1:1:X"], id="query"),
        pytest.param("a (ark:12345/x)s b", ["ark:12345/x"], id="a letter after the bracket around it"),
        pytest.param("a ark:12345/x[1] b", ["ark:12345/x[1]"], id="brackets inside"),
        pytest.param("a ark:12345/x//y b", ["ark:12345/x//y"], id="two slashes"),
        pytest.param("a ark:12345/x\u00a0b", ["ark:12345/x"], id="no-break space"),
        pytest.param("a ark:12345/x&nbsp;b c", ["ark:12345/x"], id="character reference"),
        pytest.param("a ark:12345/x, b", ["ark:12345/x"], id="end of a word"),
        pytest.param("a ark:12345/x:https://e.org/y b", ["ark:12345/x"], id="another address"),
    ],
)
def test_a_word_is_found_as_a_whole(text, literals):
    assert [match.literal for match in find(f"In {text}")] == literals


@pytest.mark.parametrize(
    "text", ["ark:12345/x,Title", "ark:12345/x;Title b", "a ark:12345/x|Title b", "(ark:12345/x(a) b"]
)
def test_the_rest_of_a_row_is_stated(text):
    (match,) = find(text)
    assert match.literal == "ark:12345/x"
    assert match.suggestion is None
    assert match.rest == text.partition("ark:12345/x")[2].split()[0]
    assert match.differences == (f"followed-by: {match.rest}",)


def test_a_match_that_is_not_valid_and_has_no_suggestion_has_a_reason():
    assert [(match.literal, match.differences) for match in find("a urn:a and ark:12345 b")] == [
        ("urn:a", ("not-valid",)),
        ("ark:12345", ("not-valid",)),
    ]
    (match,) = find("urn:a")
    assert (match.differences, match.corrections, match.represented_text) == (("not-valid",), (), None)


def test_the_rest_after_an_escape_that_is_not_decoded_is_stated():
    assert [match.rest for match in find('parse("urn:foo:a123-\\u0000-456");')] == ["\\u0000-456"]
    assert [match.rest for match in find('print("ark:12345/x5m1\\n");')] == [""]
