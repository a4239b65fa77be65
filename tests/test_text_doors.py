"""Text as people have it means the same at each entrance: search, page, API, command, comparison and import."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from ararat.cli import main
from ararat.identifiers import IdentifierError, normalize
from ararat.webapp import create_app

from .conftest import Vector

VECTORS = [json.loads(line) for line in (Path(__file__).parent / "data" / "vectors.jsonl").read_text().splitlines()]
TEXTS = [row["input"].strip() for row in VECTORS if row["kind"] == "container" and "\n" not in row["input"].strip()]


def normal(text: str) -> str:
    try:
        return normalize(text)
    except IdentifierError:
        return f"not valid: {text}"


def command(*arguments: str, given: str = "", database: str = "") -> list[dict]:
    result = CliRunner(env={"ARARAT_DATABASE": database}).invoke(main.main, [*arguments], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return create_app().test_client()


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """imported(text) returns the normal form that an import of a cell with this text binds or suggests."""
    folder = tmp_path_factory.mktemp("doors")
    with (folder / "names.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["identifier", "target"])
        rows.writerows([text, f"https://example.org/{number}"] for number, text in enumerate(TEXTS))
    database = f"sqlite:///{folder}/names.sqlite"
    command("init", database=database)
    report = str(folder / "report.csv")
    command("import", "--dry-run", "--report", report, str(folder / "names.csv"), database=database)
    meant = {text: normal(text) for text in TEXTS}
    with Path(report).open(newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            if found := re.search(r"Did you mean (\S+)\?$", row["message"]):
                meant[row["identifier"].strip().removeprefix("'")] = normal(found[1])
            elif row["code"] == "name-container":
                meant[row["identifier"].strip().removeprefix("'")] = "warned"
    return meant.__getitem__


def readings(found: list[dict]) -> list[str]:
    return [normal(each["suggestion"] or each["literal"]) for each in found]


@pytest.mark.one_setup
@pytest.mark.vectors("container")
def test_a_text_means_the_same_at_all_entrances(
    vector: Vector, client: FlaskClient, imported: Callable[[str], str]
) -> None:
    text, meant = vector.input, [normalize(each) for each in vector.expect["meant"]]
    assert readings(command("find", "--json", given=text)) == meant
    answer = client.get("/api/inspect", query_string={"q": text}).json
    assert answer is not None
    assert readings(answer["found"]) == meant
    page = client.get("/", query_string={"q": text}).text
    shown = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert all(each.partition(":")[2].split("%")[0] in shown for each in meant)
    token = text.strip()
    if "\n" in token:
        return
    (report,) = command("inspect", "--json", "--", token)
    assert normal(report["suggestion"] or token) == meant[0]
    compared = client.get("/api/compare", query_string={"a": token, "b": vector.expect["meant"][0]}).json
    assert compared is not None
    assert compared["equivalent"] or compared["suggested"]["equivalent"]
    assert imported(token) in (meant[0], "warned")
