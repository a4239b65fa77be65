"""The import of dumps: states, dates, owners, metadata and spellings, and a report of everything else."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.sources.importing import Migration, OmittedValue, import_dump
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingError, TableError
from ararat.bindings.names.metadata.datacite_identifier import with_identifier
from tests.datacite_records import record

ALL = ["ezid.txt", "ezid.csv", "ezid.xml", "ezid.txt.gz", "ezid.csv.zip", "arklet.csv", "arklet.sql", "arklet.json"]
OTHER = "ark:/12345/x9"
ALL += ["noid.dump", "noid.txt", "noid.anvl", "n2t.json", "n2t.jsonl"]


def imported(bindings: Bindings, text: str, source: Any = "ezid", **options: Any) -> Migration:
    return import_dump(bindings, io.BytesIO(text.encode()), source, **options)


def ezid(*elements: str, name: str = "ark:/12345/x5") -> str:
    return f":: {name}\n" + "".join(f"{element}\n" for element in elements) + "\n"


@pytest.mark.parametrize("name", ALL)
def test_every_dump_is_imported_whole_and_a_second_import_changes_nothing(
    bindings: Bindings, name: str, dumped: Callable[..., Path], dumped_names, tmp_path
) -> None:
    source: Any = name.partition(".")[0]
    file = dumped(tmp_path / name, 40)
    first = import_dump(bindings, file, source, actor="a librarian")
    assert (first.summary.refusals, first.omissions, first.skipped) == (0, 0, 0)
    assert first.summary.written
    assert first.given == first.result
    assert first.given is not None
    assert first.given.names == 40
    expected = list(dumped_names(40))
    found = {
        each.spelling: each for each in bindings.store.fetch([_key(each.identifier) for each in expected]).values()
    }
    for each in expected:
        binding = found[each.identifier]
        reserved = each.status == "reserved"
        assert binding.is_reserved == reserved
        assert binding.is_withdrawn == (each.status.startswith("unavailable") and source != "arklet")
        assert binding.created == datetime.fromtimestamp(each.created, UTC)
        assert binding.changed == datetime.fromtimestamp(each.updated, UTC)
        if source != "arklet":
            assert binding.reason == (each.status.partition(" | ")[2] or None)
        if source != "arklet" or not reserved:
            assert (binding.target, dict(binding.metadata)) == (
                each.target,
                identified(each.elements, binding.identifier),
            )
        [event] = bindings.history(each.identifier)
        assert event.source is not None
        assert event.source.startswith(f"{name}, line ")
        owner = f"{each.owner} (library)" if source == "ezid" else each.owner
        assert event.actor == ("a librarian" if source == "arklet" else owner)
    second = import_dump(bindings, file, source)
    assert (second.summary.unchanged, second.summary.refusals) == (second.summary.lines, 0)
    assert second.result == first.result


def _key(identifier: str) -> str:
    return identifier.replace("-", "").replace("ark:/", "ark:")


@pytest.mark.parametrize(
    ("source", "options", "passthrough"),
    [
        ("ezid", {}, "given"),
        ("ezid", {"passthrough": "normal"}, True),
        ("ezid", {"passthrough": "no"}, False),
        ("arklet", {}, "given"),
        ("n2t", {}, "given"),
        ("noid", {}, False),
        ("noid", {"passthrough": "given"}, "given"),
    ],
)
def test_names_keep_the_passthrough_of_their_system(
    bindings: Bindings, source: Any, options: Any, passthrough: Any, dumped: Callable[..., Path], tmp_path
) -> None:
    suffix = {"ezid": "txt", "arklet": "json", "n2t": "json", "noid": "anvl"}[source]
    file = dumped(tmp_path / f"{source}.{suffix}", 20)
    assert import_dump(bindings, file, source, **options).summary.written
    with bindings.store.snapshot() as snapshot:
        found = {each.passthrough for each in snapshot.bindings() if each.target is not None}
    assert found == {passthrough}
    assert not import_dump(bindings, file, source, **options).summary.refusals


def test_a_target_without_a_path_has_no_passthrough(bindings: Bindings) -> None:
    text = ezid("_target: https://example.org") + ezid("_status: public", name="ark:/12345/x6")
    assert imported(bindings, text).summary.added == 2
    found = bindings.store.fetch(["ark:12345/x5", "ark:12345/x6"])
    assert [each.passthrough for each in found.values()] == [False, False]


def test_a_dry_run_writes_nothing(bindings: Bindings) -> None:
    dry = imported(bindings, ezid("_target: https://example.org/"), dry_run=True)
    assert (dry.summary.added, dry.summary.written, dry.result) == (1, False, None)
    assert bindings.lookup("ark:12345/x5") is None


@pytest.mark.parametrize(
    ("source", "text", "code"),
    [
        pytest.param(
            "ezid", ezid("_target: /1") + ezid(name="ark:/12345/1:1:a") + ezid(name=OTHER), "bad-char", id="EZID"
        ),
        pytest.param(
            "ezid", f"_id,_target\nark:/12345/x5,/1\nark:/12345/x y,/2\n{OTHER},/3\n", "bad-char", id="EZID CSV"
        ),
        pytest.param("n2t", f'{{"ark:/12345/x5": {{}}, "ark:/1l345/a": {{}}, "{OTHER}": {{}}}}', "naan-char", id="N2T"),
        pytest.param(
            "arklet", f"ark,url\nark:/12345/x5,/1\nark:/12345/x7,ftp://a/\n{OTHER},/3\n", "target-scheme", id="arklet"
        ),
        pytest.param(
            "noid",
            "VERSION=3\nformat=print\nHEADER=END\n 12345/x5|_t\n /1\n 12345/\\ff\\09_t\n /2\n 12345/x9|_t\n /3\n",
            "bad-char",
            id="db_dump",
        ),
        pytest.param("noid", f"12345/x5|_t|/1\n12345/a:b|_t|/2\n{OTHER}|_t|/3\n", "bad-char", id="noid"),
    ],
)
def test_a_name_that_cannot_be_bound_is_left_out(bindings: Bindings, source: str, text: str, code: str) -> None:
    dry = imported(bindings, text, source, dry_run=True)
    migration = imported(bindings, text, source)
    for each in (dry, migration):
        assert [refused.code for refused in each.summary.refused] == [code]
        assert (each.summary.lines, each.summary.refusals, each.summary.added) == (3, 1, 2)
    assert (dry.summary.written, migration.summary.written) == (False, True)
    assert migration.given is not None
    assert migration.result is not None
    assert (migration.given.names, migration.result.names) == (3, 2)
    assert len(bindings.store.fetch(["ark:12345/x5", "ark:12345/x9"])) == 2
    assert (dry.summary.operation, migration.summary.operation) == (None, 1)


def test_a_dump_of_which_no_name_can_be_bound_writes_nothing(bindings: Bindings) -> None:
    migration = imported(bindings, ezid(name="ark:/12345/x y"))
    assert (migration.summary.refusals, migration.summary.written, migration.result) == (1, False, None)
    assert migration.summary.operation is None


def test_a_bad_name_stops_no_batch(bindings: Bindings) -> None:
    names = [f"ark:/12345/x{number}" for number in range(10)]
    bad = "".join(ezid("_target: /1", name="ark:/12345/x y" if name.endswith("3") else name) for name in names)
    migration = imported(bindings, bad, batch=2)
    assert (migration.summary.kept, migration.summary.added, migration.summary.refusals) == (10, 9, 1)
    good = "".join(ezid("_target: /1", name=name) for name in names)
    again = imported(bindings, good, batch=2)
    assert (again.summary.unchanged, again.summary.added, again.given == again.result) == (9, 1, True)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        pytest.param(ezid("_target: javascript:alert(1)"), "target-scheme", 1, id="a script as target"),
        pytest.param(ezid("_target: ../a"), "target-relative", 1, id="a relative target"),
        pytest.param(ezid(name="ark:/1234a/x5"), "naan-char", 1, id="a wrong NAAN"),
        pytest.param(ezid(name="ark:/12345"), "no-name", 1, id="no name"),
        pytest.param(ezid(name="ark:/12345/x y"), "bad-char", 1, id="a blank in a name"),
        pytest.param(ezid(name=""), "empty", 1, id="no identifier"),
        pytest.param(ezid(name="13030/xf93gt2q"), "no-scheme", 1, id="no label"),
        pytest.param(ezid(name=f"ark:/12345/{'x' * 300}"), "name-too-long", 1, id="a long name"),
        pytest.param(ezid("_target: /1") + ezid("_target: /2", name="ark:12345/x-5"), "duplicate-line", 4, id="twice"),
    ],
)
def test_a_name_that_cannot_be_bound_is_refused_with_its_line(
    bindings: Bindings, text: str, code: str, line: int
) -> None:
    reported: list[Any] = []
    migration = imported(bindings, text, report=lambda *noted: reported.append(noted))
    [refused] = migration.summary.refused
    assert (refused.line, refused.code) == (line, code)
    assert [result for result, _, _ in reported] == ["refused"]


@pytest.mark.parametrize(
    ("elements", "element", "kept"),
    [
        pytest.param(["erc.what: two\x01words"], "erc.what", {"erc.what": "two words"}, id="a control in a title"),
        pytest.param(
            [f"erc.what: {'x' * 70_000}"],
            "erc.what",
            {"erc.what": 16384 * "x", **{f"erc.what-{n}": 16384 * "x" for n in (2, 3, 4)}, "erc.what-5": 4464 * "x"},
            id="a long title",
        ),
        pytest.param(["dc.title: a%00b".replace("%00", "\x01")], "dc.title", {}, id="a control character"),
        pytest.param(["datacite: <resource>"], "datacite", {}, id="half a document"),
        pytest.param(
            ['datacite: <!DOCTYPE r [<!ENTITY a "b">]>' + record("&a;")], "datacite", {}, id="a document type"
        ),
        pytest.param(["_updated: 1000000000", "_created: 1100000000"], "updated", {}, id="times in the wrong order"),
        pytest.param(["_created: 4000000000"], "created", {}, id="a time in the future"),
        pytest.param([f"_owner: {'x' * 300}"], "owner", {}, id="a long owner"),
        pytest.param(
            ["_status: unavailable | " + "x" * 3000], "reason", {"dump.reason": 3000 * "x"}, id="a long reason"
        ),
        pytest.param(["_status: reserved", "_target: ftp://example.org/"], "target", {}, id="a target of no use"),
    ],
)
def test_a_value_that_cannot_be_imported_is_reported_and_the_name_is_imported(
    bindings: Bindings, elements: list[str], element: str, kept: dict[str, str]
) -> None:
    reported: list[OmittedValue] = []
    migration = imported(bindings, ezid(*elements), report_omission=reported.append)
    assert migration.summary.written
    [value] = reported
    assert (value.line, value.identifier, value.omitted.element) == (1, "ark:/12345/x5", element)
    assert value.omitted.reason
    assert value.omitted.remedy
    [binding] = bindings.store.fetch(["ark:12345/x5"]).values()
    assert binding.metadata == kept


def identified(elements: Mapping[str, str], key: str) -> dict[str, str]:
    """Return metadata in which a DataCite record states its name."""
    return {name: with_identifier(text, key) if name == "datacite" else text for name, text in elements.items()}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("document", "why"),
    [
        pytest.param(record(first="<x/>"), "has the element x in line 1", id="another element"),
        pytest.param(
            record(first='<identifier identifierType="DOI">10.1/a</identifier>'), "the identifier DOI", id="a DOI"
        ),
    ],
)
def test_a_record_that_does_not_fit_is_kept_as_another_element(bindings: Bindings, document: str, why: str) -> None:
    migration = imported(bindings, f":: ark:/12345/x5\ndatacite: {document}\n")
    [omitted] = migration.omitted
    assert why in omitted.omitted.reason
    found = bindings.lookup("ark:12345/x5")
    assert found is not None
    assert dict(found.metadata) == {"dump.datacite": document}


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["x" * 300, "a\x01b"], ids=["a long name", "a control character"])
def test_an_element_whose_name_cannot_be_kept_is_kept_with_its_name(bindings: Bindings, name: str) -> None:
    migration = imported(bindings, f'{{"ark:/12345/x5": {{"{name}": "v"}}}}'.replace("\x01", "\\u0001"), "n2t")
    assert "so it is in dump.element-1" in migration.omitted[0].omitted.reason
    found = bindings.lookup("ark:12345/x5")
    assert found is not None
    assert dict(found.metadata) == {"dump.element-1": f"{name}: v".replace("\x01", " ")}


def test_hostile_values_are_kept_as_they_are(bindings: Bindings) -> None:
    values = {
        "dc.title": "a \"quoted\" 'title', 100% =cmd()",
        "dc.creator": "\u0627\u0644\u062c\u0628\u0644 \u202eabc",
        "dc.description": "two\nlines",
        "datacite": record("x" * 60_000),
    }
    text = "".join(f"{name}: {value.replace('%', '%25').replace(chr(10), '%0A')}\n" for name, value in values.items())
    migration = imported(bindings, f":: ark:/12345/x5\n{text}_target: https://example.org/%2541?q=%2525\n")
    assert (migration.omissions, migration.summary.refused) == (0, [])
    binding = bindings.lookup("ark:12345/x5")
    assert binding is not None
    assert binding.metadata == identified(values, "ark:12345/x5")
    assert binding.target == "https://example.org/%41?q=%25"


@pytest.mark.parametrize("name", ["doi:10.5072/FK2X", "ark:/99999/fk4x", "uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"])
def test_names_of_other_systems_and_of_tests_are_skipped_and_reported(bindings: Bindings, name: str) -> None:
    migration = imported(bindings, ezid(name=name) + ezid())
    assert (migration.skipped, migration.summary.added) == (1, 1)
    assert [value.omitted.element for value in migration.omitted] == ["identifier"]


def test_names_without_a_target_are_described(bindings: Bindings) -> None:
    imported(bindings, ezid("erc.what: A title", "_target: https://ezid.cdlib.org/id/ark:/12345/x5"))
    binding = bindings.lookup("ark:12345/x5")
    assert binding is not None
    assert (binding.kind, binding.target, binding.status) == ("described", None, "live")


def test_no_name_of_an_imported_minter_is_minted_again(bindings: Bindings) -> None:
    bindings.bind("ark:12345/t03", "https://example.org/3")
    text = ":/template|t.sdd\n:/naan|12345\n:/oacounter|5\n12345/t01|_t|https://example.org/1\n"
    migration = imported(bindings, text, "noid", actor="a librarian")
    assert (migration.summary.added, migration.minted, migration.summary.settings) == (1, 3, 1)
    assert bindings.lookup("ark:12345/t01") is not None
    assert mint(bindings, "12345/t", length=2, digits=True, sequential=True) == ["ark:12345/t05"]
    rest = mint(bindings, "12345/t", length=2, digits=True, count=94)
    assert not {f"ark:12345/t0{number}" for number in range(6)} & set(rest)
    again = imported(bindings, text, "noid")
    assert (again.minted, again.summary.unchanged) == (0, again.summary.lines)


def test_random_names_of_a_minter_are_reserved(bindings: Bindings) -> None:
    text = ":/template: x.rdd\n:/naan: 12345\n:/oacounter: 3\n:/percounter: 10\n:/c0/value: 2\n:/c4/value: 1\n"
    assert imported(bindings, text, "noid").minted == 3
    names = [f"ark:12345/x{number}" for number in ("01", "02", "41")]
    assert all(each.is_reserved for each in bindings.store.fetch(names).values())
    assert not set(names) & set(mint(bindings, "12345/x", length=2, digits=True, count=97))


def test_minted_names_that_cannot_be_bound_are_reported(bindings: Bindings) -> None:
    migration = imported(bindings, ":/template: fk4.sd\n:/naan: 99999\n:/oacounter: 2\n", "noid")
    assert (migration.minted, migration.summary.refused) == (0, [])
    assert [value.identifier for value in migration.omitted] == ["ark:/99999/fk40", "ark:/99999/fk41"]


@pytest.mark.parametrize("text", ["\\ud800", "\\u0000", "\\u202e", "\U0001f600", "\\n", "'; drop table names", "%00"])
def test_hostile_texts_of_json_are_refused_or_kept(bindings: Bindings, text: str) -> None:
    in_name = f'{{"id": "ark:/12345/x{text}", "target": "https://example.org/"}}\n'
    in_target = f'{{"id": "ark:/12345/y", "target": "https://example.org/{text}"}}\n'
    in_value = f'{{"id": "ark:/12345/z", "dc.title": "a{text}b", "a{text}": "x"}}\n'
    for line in (in_name, in_target, in_value):
        migration = imported(bindings, line, "n2t")
        assert migration.summary.refusals + migration.summary.added == 1
        assert migration.given is not None
        assert migration.given.names == 1


def test_a_conflict_with_a_recorded_name_is_refused(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5", "https://example.org/other")
    migration = imported(bindings, ezid("_target: https://example.org/"))
    assert [refused.code for refused in migration.summary.refused] == ["bound-otherwise"]


def test_a_damaged_dump_writes_nothing(bindings: Bindings) -> None:
    with pytest.raises(TableError):
        imported(bindings, ezid("_target: /1") + "no colon\n")
    assert bindings.lookup("ark:12345/x5") is None
    with pytest.raises(BindingError, match="encoding"):
        imported(bindings, ezid(), encoding="nonsense")


@pytest.mark.long  # In a usual run, the reader of dumps and the import of tables have such tests.
def test_memory_does_not_depend_on_the_number_of_names(
    open_store: Callable[..., Bindings], dumped: Callable[..., Path], tmp_path
) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    peaks = []
    for count in (1000, 1600):
        (tmp_path / str(count)).mkdir()
        file = dumped(tmp_path / str(count) / "ezid.txt", count)
        tracemalloc.start()
        try:
            import_dump(bindings, file, "ezid", dry_run=True)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 600_000
