"""All interfaces have each text of a prefix record, also one that a test declares in its own process."""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ararat.bindings.names.prefixes import prefixes
from ararat.bindings.names.prefixes.texts import BY_NAME, COLUMNS, EDITED, TEXTS
from ararat.cli.main import main
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from tests.wrapping import unwrapped

PROGRAM = '''
import importlib.util, sys

place = importlib.util.find_spec("ararat.bindings.names.prefixes.texts")
source = place.loader.get_source(place.name)
entry = """    PrefixText(name="review", label=Translatable("Next review"), option="The year of the next review."),
"""
before = "    # JSON: the institutions"
assert source.count(before) == 1
texts = importlib.util.module_from_spec(place)
sys.modules[place.name] = texts
exec(compile(source.replace(before, entry + before), place.origin, "exec"), vars(texts))

from click.testing import CliRunner
from ararat.cli.main import main
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

file = sys.argv[1]
bindings = open_bindings(file, create=True)
accounts = Accounts(bindings)
ada = accounts.add("ada", "administrator", [])
assert CliRunner().invoke(main, ["prefix", "set", "12345/x5", "--review", "2030", "--database", file]).exit_code == 0
assert "2030" in CliRunner().invoke(main, ["prefix", "show", "12345/x5", "--database", file]).output
assert "prefix.review" in CliRunner().invoke(main, ["export", "-", "--database", file]).output

app = create_app(bindings)
api = app.test_client()
token = {"Authorization": f"Bearer {accounts.tokens.create('ada', 'test')[1]}"}
path = "/api/v1/prefixes/ark:12345/x5"
assert api.get(path, headers=token).json["review"] == "2030"
assert api.put(path, json={"review": "2031", "what": "Maps"}, headers=token).json["review"] == "2031"
assert "review" in api.get("/api/v1/openapi.json", headers=token).text

desk = app.test_client()
desk.set_cookie("ararat", accounts.sessions.start(ada))
page = desk.get("/desk/prefixes/edit?prefix=ark:12345/x5").text
assert "Next review" in page and 'value="2031"' in page
field = lambda name: page.split(f'name="{name}" value="')[1].split('"')[0]
form = {"csrf_token": field("csrf_token"), "etag": field("etag").replace("&#34;", '"'), "prefix": "ark:12345/x5"}
assert desk.post("/desk/prefixes/edit", data=form | {"review": "2032", "what": "Maps"}).status_code == 303
assert bindings.prefixes.get("12345/x5").review == "2032"
assert [each.record.review for each in bindings.prefixes.history("12345/x5")] == ["2030", "2031", "2032"]
bindings.close()
'''


@pytest.mark.long  # The next test asks the interfaces for each text that is declared.
def test_a_further_text_is_one_entry(tmp_path: Path) -> None:
    run = [sys.executable, "-c", PROGRAM, str(tmp_path / "bindings.sqlite")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


GIVEN = {each.name: f"About {each.name}" for each in TEXTS if each.option} | {
    "hosts": "museum.example",
    "pattern": "10^6",
    "characters": "0-9",
    "state": "delegated",
    "resolver": "https://other.example",
    "minter": "https://other.example/mint",
    "about": "https://other.example/about",
}


def test_each_text_is_in_all_interfaces(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        ran = CliRunner().invoke(main, [*arguments, "--database", str(tmp_path / "bindings.sqlite")])
        assert ran.exit_code == 0, ran.output
        return unwrapped(ran.output)

    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        accounts = Accounts(bindings)
        ada = accounts.add("ada", "administrator", [])
        options = [f"--{name.replace('_', '-')}={text}" for name, text in GIVEN.items()]
        run("prefix", "set", "12345/x5", *options)
        shown, exported = run("prefix", "show", "12345/x5"), run("export", "-")
        assert [name for name, text in GIVEN.items() if text not in shown] == []
        assert [name for name, text in GIVEN.items() if text not in exported or COLUMNS[name] not in exported] == []

        app = create_app(bindings, trace_elsewhere=False)
        api, path = app.test_client(), "/api/v1/prefixes/ark:12345/x5"
        token = {"Authorization": f"Bearer {accounts.tokens.create('ada', 'test')[1]}"}
        answered = api.get(path, headers=token).json or {}
        assert {name: answered.get(name) for name in GIVEN} == GIVEN
        changed = GIVEN | {"who": "The museum", "hosts": "other.example"}
        answered = api.put(path, json=changed, headers=token).json or {}
        assert {name: answered.get(name) for name in GIVEN} == changed
        described = api.get("/api/v1/openapi.json", headers=token).text
        assert [name for name in GIVEN if f'"{name}"' not in described] == []

        desk = app.test_client()
        desk.set_cookie("ararat", accounts.sessions.start(ada))
        page = html.unescape(desk.get("/desk/prefixes/edit?prefix=ark:12345/x5").text)
        asked = {each.name: each.question or each.label for each in TEXTS}
        assert [name for name, text in changed.items() if text not in page or asked[name] not in page] == []
        fields = [page.split(f'name="{name}" value="')[1].partition('">')[0] for name in ("csrf_token", "etag")]
        hidden = dict(zip(("csrf_token", "etag"), fields, strict=True))
        last = changed | {"minter": "https://third.example", "at_end": "The archive"}
        assert desk.post("/desk/prefixes/edit", data=last | hidden | {"prefix": "ark:12345/x5"}).status_code == 303
        assert {name: getattr(bindings.prefixes.get("12345/x5"), name) for name in GIVEN} == last


def test_names_and_columns_are_unique() -> None:
    assert len(BY_NAME) == len(set(COLUMNS.values())) == len(TEXTS)
    assert {each.name for each in TEXTS if each.option} == {*EDITED}


def test_an_unknown_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="no text whose; it has who"):
        prefixes.check("ark:12345/x5", {"whose": "x"})
    with pytest.raises(AttributeError, match="no text whose"):
        _ = prefixes.record("ark:12345/x5").whose
