"""Names, targets, successors and elements beyond their limit: each door refuses them before anything explains them.

To explain a text takes much longer than to count its characters.
"""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names import errors, naming
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.naming import MAX_CHARACTERS
from ararat.bindings.tables import wrong_text
from ararat.cli.main import main
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from tests.webapp.desk.conftest import Browser
from tests.webapp.desk.names.test_page import alternate_rows

NAME, TARGET = "ark:12345/x5a", "https://example.org/1"
RUN = 70_000
LONG = {
    "name": f"{NAME}{' ' * RUN}b",
    "target": f"{TARGET} | {' ' * RUN}https://example.org/2",
    "successor": f"ark:12345/x5c{' ' * RUN}b",
    "who": f"Noah{' ' * RUN}b",
    "alternate": f"https://example.org/{' ' * RUN}b",
}
CODES = {
    "name": "name-too-long",
    "target": "target-too-long",
    "successor": "name-too-long",
    "who": "metadata-text",
    "alternate": "target-too-long",
}


@pytest.fixture
def bindings(tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(tmp_path / "names.sqlite")


@pytest.fixture(autouse=True)
def longest(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all texts that were explained or parsed as a name."""
    lengths = [0]

    def measured(module: Any, function: str, place: int = 0) -> None:
        explain = getattr(module, function)

        def explained(*arguments: Any, **options: Any) -> Any:
            lengths.append(len(arguments[place]))
            return explain(*arguments, **options)

        monkeypatch.setattr(module, function, explained)

    measured(naming, "parse")
    measured(errors, "suggestions")
    measured(wrong_text, "several", 1)
    return lengths


def _request(field: str) -> dict[str, Any]:
    """Return the fields of a request of which one is too long."""
    request: dict[str, Any] = {"target": TARGET, field: LONG[field]}
    request.pop("name", None)
    if field == "who":
        request["metadata"] = {"who": request.pop("who")}
    if field == "alternate":
        request["alternates"] = {"de": request.pop("alternate")}
    if field == "successor":
        request["status"] = "withdrawn"
    return request


def _by_library(bindings: Bindings, field: str) -> str:
    if field == "successor":
        bindings.bind(NAME, TARGET)
        with pytest.raises(BindingError) as caught:
            bindings.withdraw(NAME, successor=LONG["successor"])
        return caught.value.code
    with pytest.raises(BindingError) as caught:
        bindings.bind(LONG["name"] if field == "name" else NAME, **_request(field))
    return caught.value.code


def _by_table(bindings: Bindings, field: str, *, form: str = "jsonl") -> str:
    request = {"identifier": LONG["name"] if field == "name" else NAME, **_request(field)}
    request |= request.pop("metadata", {})
    if "alternates" in request:
        request["target[de]"] = request.pop("alternates")["de"]
    lines = [json.dumps(request)] if form == "jsonl" else [",".join(request), ",".join(request.values())]
    text = "".join(f"{line}\n" for line in lines)
    summary = import_table(bindings, io.BytesIO(text.encode()), format=form)
    [refused] = summary.refused
    return refused.code


def _by_csv(bindings: Bindings, field: str) -> str:
    return _by_table(bindings, field, form="csv")


def _by_command(bindings: Bindings, field: str) -> str:
    if field == "successor":
        bindings.bind(NAME, TARGET)
        arguments = ["withdraw", NAME, "--successor", LONG["successor"]]
    else:
        options = {
            "name": [LONG["name"], TARGET],
            "target": [NAME, LONG["target"]],
            "who": [NAME, TARGET, "--metadata", f"who={LONG['who']}"],
            "alternate": [NAME, TARGET, "--alternate", f"de={LONG['alternate']}"],
        }
        arguments = ["bind", *options[field]]
    result = CliRunner(env={"ARARAT_DATABASE": str(bindings.store)}).invoke(main, arguments)
    return next(code for code, text in MESSAGES.items() if text in result.output)


def _client(bindings: Bindings) -> tuple[FlaskClient, str]:
    accounts = Accounts(bindings)
    accounts.add("jane", "administrator", ["ark:12345/x5"], "correct horse battery")
    _, secret = accounts.tokens.create("jane", "tests")
    app = create_app(bindings, prefix="https://site.example", ezid="/ezid", trace_elsewhere=False)
    return app.test_client(), secret


def _by_api(bindings: Bindings, field: str) -> str:
    client, secret = _client(bindings)
    headers = {"Authorization": f"Bearer {secret}"}
    name = {"name": LONG["name"] if field == "name" else NAME}
    answer = client.post("/api/v1/names", json={"names": [name | _request(field)]}, headers=headers)
    assert answer.json is not None
    # The schema of the body has the limits.
    assert (answer.status_code, answer.json["code"]) == (422, "body-member")
    return CODES[field]


def _by_ezid(bindings: Bindings, field: str) -> str:
    client, secret = _client(bindings)
    headers = {"Authorization": f"Basic {b64encode(f'jane:{secret}'.encode()).decode()}"}
    elements = {"target": "_target", "who": "erc.who"}
    name = LONG["name"] if field == "name" else NAME
    body = f"_target: {TARGET}\n" if field == "name" else f"{elements[field]}: {LONG[field]}\n"
    answer = client.put(f"/ezid/id/{quote(name)}", data=body.encode(), headers=headers)
    assert answer.status_code == 400
    return next(code for code, text in MESSAGES.items() if text in answer.text)


MESSAGES = {
    "name-too-long": "longer than 255",
    "target-too-long": "characters; at most 2,048 bytes",
    "metadata-text": f"has {len(LONG['who']):,} characters",
}


def _by_desk(bindings: Bindings, field: str) -> str:
    client, _ = _client(bindings)
    accounts = Accounts(bindings)
    jane = accounts.get("jane")
    assert jane is not None
    client.set_cookie("ararat", accounts.sessions.start(jane))
    browser = Browser(client)
    if field == "name":
        assert client.get("/desk/new/check", query_string={"text": LONG["name"]}).status_code == 200
        refused = browser.post("/desk/new/name", {"text": LONG["name"], "target": TARGET, "status": "live"})
    else:
        bindings.bind(NAME, TARGET)
        forms = {
            "target": ("target", {"target": LONG["target"], "same": "1"}),
            "alternate": ("target", {"target": TARGET, "same": "1", **alternate_rows(("", "de", LONG["alternate"]))}),
            "successor": ("withdraw", {"reason": "x", "successor": LONG["successor"]}),
            "who": ("metadata", {"m.erc.who": LONG["who"]}),
        }
        page, form = forms[field]
        refused = browser.post(f"/desk/name/{page}", {"name": NAME, "revision": "1", **form})
    assert refused.status_code == 422, refused.text
    return next(code for code, text in MESSAGES.items() if text in refused.text)


NOT_THERE = {_by_ezid: {"successor", "alternate"}}
DOORS = [_by_library, _by_table, _by_csv, _by_command, _by_api, _by_ezid, _by_desk]


@pytest.mark.parametrize(
    ("door", "field"),
    [
        pytest.param(door, field, id=f"{door.__name__.strip('_')}-{field}")
        for door in DOORS
        for field in CODES
        if field not in NOT_THERE.get(door, ())
    ],
)
def test_a_text_beyond_its_limit_is_refused_before_it_is_explained(
    bindings: Bindings, longest: list[int], door: Callable[[Bindings, str], str], field: str
) -> None:
    assert door(bindings, field) == CODES[field]
    assert max(longest) <= MAX_CHARACTERS
