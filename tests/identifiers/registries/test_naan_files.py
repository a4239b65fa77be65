"""The NAAN registry in its official forms, with all their irregularities."""

from __future__ import annotations

import json

import pytest

from ararat.identifiers.registries.files import read
from ararat.identifiers.registries.tables import Authority, RegistryError


@pytest.fixture
def tables(data):
    return lambda name: {
        table.registry.name: table for table in read((data / "registries" / name).read_bytes(), name=name)
    }


# JSON -----------------------------------------------------------------------------------------------------------------


def test_the_json_form_has_all_facts_of_a_naan(tables):
    assert tables("naan-v2.json")["naan"].records["10101"] == Authority(
        key="10101",
        name="Museum of the Mountain",
        native_name="Musée de la Montagne",
        acronym="MOTM",
        since="2005-07-17",
        where="https://museum.ararat",
        template="https://museum.ararat/ark:/${content}",
        status=302,
        organization="NP",
        policy=("NR", "OP", "CC"),
        policy_url="https://museum.ararat/policy",
    )


def test_the_json_form_has_shoulders(tables):
    shoulders = tables("naan-v2.json")["naan-shoulders"].records
    assert list(shoulders) == ["10101/s6.sea", "10101/w6", "10101/w6x2"]
    assert shoulders["10101/w6"].status == 303
    assert shoulders["10101/w6"].policy == ()


def test_codes_of_a_policy_are_read_and_prose_is_ignored(tables):
    records = tables("naan-v2.json")["naan"].records
    assert records["b9999"].policy == ("NR", "LC")
    assert records["20202"].policy == ()


def test_hidden_characters_are_removed_and_empty_texts_are_none(tables):
    record = tables("naan-v2.json")["naan"].records["20202"]
    assert record.name == "Typing Error"
    assert record.acronym is None


def test_an_invalid_template_is_kept_unchanged(tables):
    record = tables("naan-v2.json")["naan"].records["20202"]
    assert record.template == "https://data.typing-error.ararat/ark:/$(content)${pid}"


def record(**changes):
    return {"what": "10101", "who": {"name": "A"}, "target": {"url": "https://a.museum/${pid}"}} | changes


def whole(*records, **metadata):
    metadata = metadata or {"date_modified": "2026-07-14T17:42:52+00:00"}
    return json.dumps({"metadata": metadata, "data": records}, indent=1)


def refusal(text: str) -> str:
    with pytest.raises(RegistryError) as refused:
        read(text.encode(), name="naan.json")
    return str(refused.value)


# ARK-013
def test_a_repeated_naan_is_an_error_with_both_positions():
    text = whole(record(), record(what="20202"), record())
    first, _, second = [number for number, line in enumerate(text.split("\n"), 1) if line == "  {"]
    assert (
        refusal(text) == f"naan.json, line {second}, column 3: the key 10101 is repeated; it is first in line {first}"
    )


def test_two_records_on_one_line_have_their_columns():
    text = '{"metadata": {}, "data": [' + json.dumps(record()) + ", " + json.dumps(record()) + "]}"
    second = text.index(json.dumps(record()), 30) + 1
    assert refusal(text) == f"naan.json, line 1, column {second}: the key 10101 is repeated; it is first in line 1"


def test_the_last_of_two_equal_json_names_counts():
    text = '{"data": [1],\n "metadata": {},\n "data":\n [\n' + json.dumps(record(what="!")) + "]}"
    assert refusal(text).startswith("naan.json, line 5, column 1: in the record that begins here: what: '!' is neither")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        pytest.param({"what": None}, "what: nothing is neither a NAAN", id="no NAAN"),
        pytest.param({"what": "1234a"}, "what: '1234a' is neither", id="a vowel"),
        pytest.param({"what": "12-345"}, "what: '12-345' is neither", id="a hyphen"),
        pytest.param({"what": "10101\n"}, "is neither", id="a line break after it"),
        pytest.param({"what": "10101/"}, "what: '10101/' is neither", id="an empty shoulder"),
        pytest.param({"what": "10101/a/b"}, "is neither", id="two slashes"),
        pytest.param({"what": "1" * 33}, "is neither", id="a long one"),
        pytest.param({"who": None}, "who is not an object", id="no who"),
        pytest.param({"who": {"name": 1}}, "who.name: expected a text or null", id="a number for a name"),
        pytest.param({"who": {"name": "x" * 2001}}, "who.name: the text has 2,001 characters", id="a long name"),
        pytest.param({"target": "https://a.museum"}, "target is not an object", id="a text for a target"),
        pytest.param({"target": {"url": []}}, "target.url: expected a text", id="a list for an address"),
        pytest.param({"target": {"url": "x", "http_code": 200}}, "target.http_code", id="no redirect"),
        pytest.param({"target": {"url": "x", "http_code": True}}, "target.http_code", id="a truth for a status"),
        pytest.param({"when": "soon"}, "when: expected a date", id="no date"),
        pytest.param({"na_policy": []}, None, id="no policy at all"),
        pytest.param({"na_policy": "NR"}, "na_policy is not an object", id="a text for a policy"),
    ],
)
def test_an_invalid_record_is_refused_with_its_position(changes, why):
    text = whole(record(what="20202"), record(**changes))
    if why is None:
        read(text.encode(), name="naan.json")
        return
    second = [number for number, line in enumerate(text.split("\n"), 1) if line == "  {"][1]
    said = refusal(text)
    assert said.startswith(f"naan.json, line {second}, column 3: in the record that begins here: ")
    assert why in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "naan.json, line 1, column 2: the file is not JSON", id="cut"),
        pytest.param('{\n "data": [,]}', "naan.json, line 2, column 11: the file is not JSON", id="broken"),
        pytest.param("{} {}", "naan.json, line 1, column 4: the file is not JSON", id="more after it"),
        pytest.param('{"a":' * 100_000, "naan.json: the file is not JSON: a number is too long", id="deep"),
        pytest.param(
            '{"a":' + "1" * 5000 + "}", "naan.json: the file is not JSON: a number is too long", id="a long number"
        ),
        pytest.param("{}", "naan.json, line 1, column 1: expected an object with metadata and data", id="empty"),
        pytest.param('{"metadata": {}, "data": {}}', "expected an object with metadata and data", id="data no list"),
        pytest.param('{"metadata": [], "data": []}', "expected an object with metadata and data", id="metadata a list"),
        pytest.param('{"metadata": {}, "data": []}', "naan.json: the file does not contain its date", id="no day"),
        pytest.param(
            '{"metadata": {"date_modified": "x"}, "data": []}', "metadata.date_modified: ex", id="no such day"
        ),
        pytest.param('{"metadata": {}, "data": [1]}', "line 1, column 27: in the record that begins", id="no record"),
    ],
)
def test_a_file_that_is_not_the_json_form_is_refused(text, message):
    assert message in refusal(text)


# Text -----------------------------------------------------------------------------------------------------------------


def test_the_text_form_contains_its_date_and_source(tables):
    snapshot = tables("naan.txt")["naan"].snapshot
    assert (snapshot.date, snapshot.source) == ("2020-01-29", "https://n2t.net/e/pub/naan_registry.txt")


# ARK-020
def test_the_text_form_has_all_facts_of_a_naan(tables):
    assert tables("naan.txt")["naan"].records["10101"] == Authority(
        key="10101",
        name="Museum of the Mountain",
        native_name="Musée de la Montagne",
        acronym="MOTM",
        since="2005-07-17",
        where="http://museum.ararat",
        template="http://museum.ararat/ark:/${content}",
        organization="NP",
        policy=("NR", "OP", "CC"),
        policy_url="https://museum.ararat/100%-policy",
    )


def test_a_base_url_becomes_status_and_template(tables):
    records = tables("naan.txt")["naan"].records
    assert (records["30303"].status, records["30303"].template) == (303, "http://arks.org/ark:/${content}")
    assert records["40404"].template == "https://light.ararat/ark:/${content}"
    assert records["50505"].template == "N/A/ark:/${content}"


def test_names_have_one_two_or_three_parts(tables):
    records = tables("naan.txt")["naan"].records
    assert (records["30303"].name, records["30303"].acronym) == ("Harbour Office", "HARBOUR")
    assert (records["40404"].name, records["40404"].acronym) == ("Lighthouse", None)
    assert (records["50505"].name, records["50505"].acronym) == ("50505", "NOWHERE")


def test_a_policy_can_be_a_python_list(tables):
    assert tables("naan.txt")["naan"].records["40404"].policy == ("NR", "OP", "LC")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "naa:\nwho: A\nwhat: 1\n\nnaa:\nwhat: 1\n",
            "line 5: the key 1 is repeated; it is first in line 1",
            id="twice",
        ),
        pytest.param("naa:\nwho: A\n", "line 1: in the record that begins here: what: nothing", id="no NAAN"),
        pytest.param("naa:\nwhat: a1\n", "line 1: in the record that begins here: what: 'a1'", id="a vowel"),
        pytest.param(
            "naa:\nwhat: 1\nwhat: 2\n", "line 1: in the record that begins here: there is more", id="two NAANs"
        ),
        pytest.param("naa:\nwhat: 1\nwhen: soon\n", "line 1: in the record that begins here: when: ex", id="no date"),
        pytest.param("naa:\nwhat: 1\nprose\n", "line 3: expected a label, a colon and a value", id="no element"),
        pytest.param(
            "naa:\nwhat: 1\n\nwho: A\n", "line 4: expected a record that begins with naa:", id="another record"
        ),
        pytest.param("erc:\nwhen: soon\n\nnaa:\nwhat: 1\n", "line 1: the date of the registry: expected", id="no day"),
        pytest.param("naa:\nwhat: 1\n", "the file does not contain its date", id="no head"),
    ],
)
def test_a_file_that_is_not_the_text_form_is_refused(text, message):
    with pytest.raises(RegistryError) as refused:
        read(text.encode(), name="naan.txt")
    assert f"naan.txt, {message}" in str(refused.value) or f"naan.txt: {message}" in str(refused.value)


def test_an_invalid_source_is_not_repeated():
    text = "erc:\nwhen: 2020.01.29\nwhere: javascript:alert(1)\n\nnaa:\nwhat: 1\n"
    [table] = read(text.encode(), name="naan.txt")
    assert table.snapshot.source == "https://n2t.net/e/pub/naan_registry.txt"
