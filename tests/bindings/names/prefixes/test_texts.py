"""A text of a prefix record that a test declares in its own process: all interfaces have it without further code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ararat.bindings.names.prefixes import prefixes
from ararat.bindings.names.prefixes.texts import BY_NAME, COLUMNS, EDITED, TEXTS

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


def test_a_further_text_is_one_entry(tmp_path: Path) -> None:
    run = [sys.executable, "-c", PROGRAM, str(tmp_path / "bindings.sqlite")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_names_and_columns_are_unique() -> None:
    assert len(BY_NAME) == len(set(COLUMNS.values())) == len(TEXTS)
    assert {each.name for each in TEXTS if each.option} == {*EDITED}


def test_an_unknown_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="no text whose; it has who"):
        prefixes.check("ark:12345/x5", {"whose": "x"})
    with pytest.raises(AttributeError, match="no text whose"):
        _ = prefixes.record("ark:12345/x5").whose
