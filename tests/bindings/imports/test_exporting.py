"""An import of an export restores the same bindings, in every format and database."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_table
from ararat.bindings.minting import mint
from ararat.bindings.names import naming
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.errors import BindingError, BindingsUnavailable
from ararat.bindings.names.metadata.metadata import ELEMENTS
from ararat.bindings.open import open_bindings
from ararat.bindings.tables.text_tables import FORMATS, Format

every_format = pytest.mark.parametrize("format", FORMATS)


def exported(bindings: Bindings, format: Format) -> bytes:
    out = io.BytesIO()
    export_table(bindings, out, format=format)
    return out.getvalue()


def all_of(bindings: Bindings) -> list[Binding]:
    """Return all bindings without their history."""
    with bindings.store.snapshot() as snapshot:
        return [replace(each, changed=bindings.now().min, revision=1) for each in snapshot.bindings()]


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=20) | st.sampled_from(
    [
        "=1+1",
        "+1",
        "-1",
        "@x",
        " a",
        "a ",
        "\u00a0",
        '"',
        '""',
        'a"b',
        "a,b",
        "#",
        "a: b",
        "%0A",
        "100%25",
        "%",
        "\\n",
        "'a",
    ]
)
TARGETS = st.sampled_from(["/a", "/a,b", "https://example.org/a%20b", "https://example.org/?a=1&b=%25#c", "/%22"])
STATED = st.fixed_dictionaries(
    {"kind": st.sampled_from(["located", "related", "described", "served"]), "target": TARGETS},
    optional={
        "resource": TEXTS,
        "redirect": st.sampled_from([302, 307]),
        "passthrough": st.booleans(),
        "scope": st.sampled_from(["name", "subtree"]),
        "metadata": st.dictionaries(st.sampled_from(ELEMENTS), TEXTS, max_size=4),
        "alternates": st.dictionaries(st.sampled_from(["de", "text/html;en", "a/b#c", "application/ld+json"]), TARGETS),
        "reason": TEXTS,
    },
)


def bind(bindings: Bindings, name: str, reason: str | None = None, **stated: Any) -> None:
    if stated["kind"] == "described":
        stated |= {"target": None, "alternates": None, "passthrough": False}
    # Invalid combinations are not the subject of this test.
    with suppress(BindingError):
        bindings.bind(name, **stated)
        if reason is not None:
            bindings.withdraw(name, reason=reason)


def trimmed(binding: Binding) -> Binding:
    """Return a binding without the white space that cells of spreadsheets lose."""
    return replace(
        binding,
        metadata={name: text.strip() for name, text in binding.metadata.items()},
        **{name: text.strip() for name in ("resource", "reason") if (text := getattr(binding, name))},
    )


@every_format
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(
            ["ark:12345/a", "ark:12345/B,c", "ark:12345/%22", "urn:isbn:0451450523", "ark:12345/\u00e9", "x"]
        )
        | st.text("ab/.%-'=", min_size=1, max_size=8).map("ark:12345/{}".format),
        STATED,
        max_size=6,
    )
)
def test_export_and_import_preserve_the_bindings(
    format: Format, tmp_path_factory: pytest.TempPathFactory, stated: dict[str, dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("exact")
    with (
        open_bindings(folder / "a.sqlite", create=True) as bindings,
        open_bindings(folder / "b.sqlite", create=True) as copy,
    ):
        for name, said in stated.items():
            bind(bindings, name, **said)
        table = exported(bindings, format)
        assert import_table(copy, io.BytesIO(table), format=format).refused == []
        expected = all_of(bindings) if format == "jsonl" else list(map(trimmed, all_of(bindings)))
        assert all_of(copy) == expected
        assert exported(copy, format) == table or expected != all_of(bindings)
        again = import_table(bindings, io.BytesIO(table), format=format)
        assert (again.unchanged, again.updated) == (again.lines, 0)


@every_format
def test_an_export_is_sorted_by_key(format: Format, bindings: Bindings, tmp_path: Path) -> None:
    names = [f"ark:12345/{name}" for name in ("z", "a", "B", "b", "a/1", "a.1", "%C3%A9")]
    for name in names:
        bindings.bind(name, "/1", alternates={"de": "/2"} if name < "ark:12345/c" else {"text/html;en": "/3"})
    bindings.withdraw("ark:12345/z", reason="Lost")
    assert [each.identifier for each in all_of(bindings)] == sorted(names)
    with open_bindings(tmp_path / "copy.sqlite", create=True) as copy:
        import_table(copy, io.BytesIO(exported(bindings, format)), format=format)
        assert all_of(copy) == all_of(bindings)
        assert exported(copy, format) == exported(bindings, format)


def test_each_selector_has_a_column(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", alternates={"de": "/2"}, metadata={"what": "=1+1"})
    bindings.bind("ark:12345/b", "/1", alternates={"text/html;en": "/3"})
    first, second = csv.DictReader(io.StringIO(exported(bindings, "csv").decode()))
    assert (first["target[de]"], first["target[text/html;en]"], first["what"]) == ("/2", "", "=1+1")
    assert (second["target[de]"], second["target[text/html;en]"]) == ("", "/3")
    record = json.loads(exported(bindings, "jsonl").splitlines()[0])
    assert (record["passthrough"], record["redirect"], record["what"]) == (False, 302, "=1+1")


@pytest.mark.both_stores
def test_an_export_is_a_consistent_snapshot(bindings: Bindings, tmp_path: Path) -> None:
    import_table(
        bindings, io.BytesIO(b"identifier,target\n" + b"".join(b"ark:12345/x%d,/1\n" % each for each in range(1300)))
    )

    def write(number: int) -> None:
        if number == 1000:
            bindings.relocate("ark:12345/x999", "/2")
            bindings.bind("ark:12345/x9999", "/2")

    out = io.BytesIO()
    assert export_table(bindings, out, progress=write).bindings == 1300
    assert b",/2," not in out.getvalue()
    assert export_table(bindings, io.BytesIO()).bindings == 1301


def test_closed_bindings_cannot_be_exported(bindings: Bindings) -> None:
    bindings.close()
    with pytest.raises(BindingsUnavailable):
        exported(bindings, "csv")


class Nowhere(io.RawIOBase):
    def write(self, octets: Any, /) -> int:
        return len(octets)


def test_memory_does_not_grow_with_the_number_of_bindings(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    peaks = []
    for number in (200, 800):
        bindings = open_store(tmp_path / f"{number}.sqlite")
        lines = (b"ark:12345/x%d,/1,%s\n" % (each, b"A title " * 20) for each in range(number))
        import_table(bindings, io.BytesIO(b"identifier,target,what\n" + b"".join(lines)))
        tracemalloc.start()
        export_table(bindings, Nowhere())  # type: ignore[arg-type]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 100_000


def fill(bindings: Bindings) -> set[str]:
    """Mint names, bind some of them, and set rules; the minted names."""
    numbered = mint(bindings, "12345/x5", length=2, digits=True, sequential=True, count=5)
    checked = mint(bindings, "12345/x6", length=2, check=True, sequential=True, count=3)
    drawn = mint(bindings, "12345/t1", length=2, digits=True, count=40)
    bindings.bind(numbered[1], "/1", metadata={"what": "Été"})
    bindings.bind(drawn[0], "/2")
    bindings.withdraw(drawn[0], reason="Lost")
    bindings.rules.set("ark:12345/", "https://example.org/${content}")
    bindings.rules.set("ark:12345/x7", "/things?id=${value}", redirect=307)
    return {*numbered, *checked, *drawn}


def require_the_same(copy: Bindings, bindings: Bindings, minted: set[str]) -> None:
    assert all_of(copy) == all_of(bindings)
    assert [rule.as_dict() | {"changed": ""} for rule in copy.rules.list()] == [
        rule.as_dict() | {"changed": ""} for rule in bindings.rules.list()
    ]
    name = naming.read("ark:12345/x7abc")
    asked = copy.source.binding_by_rule(name), bindings.source.binding_by_rule(name)
    assert [(ruled.binding.target, ruled.binding.redirect) for ruled in asked if ruled] == [
        ("/things?id=x7abc", 307)
    ] * 2
    for rule in copy.rules.list():
        copy.rules.remove(rule.prefix)
    again = mint(copy, "12345/x5", length=2, digits=True, sequential=True, count=5)
    assert again == [f"ark:12345/x5{number:02}" for number in range(5, 10)]
    more = mint(copy, "12345/t1", length=2, digits=True, count=60)
    checked = mint(copy, "12345/x6", length=2, check=True, sequential=True, count=3)
    assert minted.isdisjoint([*again, *more, *checked])


@every_format
def test_a_copy_mints_no_name_twice_and_has_the_same_rules(format: Format, bindings: Bindings, tmp_path: Path) -> None:
    with open_bindings(tmp_path / "other.sqlite", create=True) as other:
        minted = fill(other)
        out = io.BytesIO()
        progress: list[int] = []
        written = export_table(other, out, format=format, progress=progress.append)
        # Two bindings, the other 46 minted names, two rules and two counters.
        assert written == (2, 46, 2, 2, 0)
        assert progress == [52]
        summary = import_table(bindings, io.BytesIO(out.getvalue()), format=format)
        assert (summary.lines, summary.reserved, summary.rules, summary.settings, summary.refused) == (52, 46, 2, 2, [])
        assert import_table(bindings, io.BytesIO(out.getvalue()), format=format).unchanged == 52
        again = io.BytesIO()
        export_table(bindings, again, format=format)
        assert again.getvalue() == out.getvalue()
        require_the_same(bindings, other, minted)


@pytest.mark.both_stores
@every_format
def test_any_database_can_be_copied_to_another(format: Format, bindings: Bindings, tmp_path: Path) -> None:
    minted = fill(bindings)
    file = tmp_path / f"all.{format}"
    file.write_bytes(exported(bindings, format))
    with open_bindings(tmp_path / "copy.sqlite", create=True) as copy:
        import_table(copy, file)
        require_the_same(copy, bindings, minted)
    with open_bindings(file) as served:
        assert exported(served, format) == file.read_bytes()


@pytest.mark.parametrize("number", [999, 1000])
def test_progress_counts_rows_and_not_the_header(number: int, bindings: Bindings) -> None:
    lines = b"".join(b"ark:12345/x%d,/1\n" % each for each in range(number))
    import_table(bindings, io.BytesIO(b"identifier,target\n" + lines))
    told: list[int] = []
    export_table(bindings, io.BytesIO(), progress=told.append)
    assert told == ([999] if number == 999 else [1000, 1000])
