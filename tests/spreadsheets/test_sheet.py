"""Read uploaded files as lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ararat.bindings.names.errors import TableError
from ararat.spreadsheets import columns, guesses, sheet

ROWS = 1000


@pytest.mark.parametrize(
    ("content", "encoding", "separator"),
    [
        pytest.param("ARK,URL\na,b\n".encode("utf-8-sig"), "utf-8", ",", id="byte order mark"),
        pytest.param("ARK\tURL\na\tb\n".encode("utf-16"), "utf-16", "\t", id="Unicode text of Excel"),
        pytest.param("ARK;URL\na;b,5\n".encode("cp1252"), "utf-8", ";", id="decimal comma"),
        pytest.param("ARK;B\u00fccher\na;b\n".encode("cp1252"), "windows-1252", ";", id="Windows"),
        pytest.param(b"\r\n||\r\nARK|URL\r\na|b\r\n", "utf-8", "|", id="vertical line after empty lines"),
        pytest.param(b'"ARK, new";"URL"\na;b\n', "utf-8", ";", id="separator in quotes"),
    ],
)
def test_encoding_and_separator_are_detected(content: bytes, encoding: str, separator: str) -> None:
    data, reading, _ = sheet.convert_upload(content, "names.csv")
    assert (reading.encoding, reading.separator) == (encoding, separator)
    assert [len(line.fields) for line in sheet.lines(data, reading, "names.csv")] == [2, 2]


@pytest.mark.parametrize(
    ("encoding", "headings"),
    [
        ("windows-1250", "Numer inwentarzowy;Tytuł;Autor;Datowanie;Adres strony"),
        ("windows-1251", "Инвентарный номер;Название;Автор;Ссылка"),
        ("windows-1255", "מספר קטלוגי;כותרת;אמן;קישור"),
        ("windows-1256", "رقم الجرد;العنوان;الفنان;الرابط"),
        ("windows-1252", "Inventarnummer;Titel;Künstler;Weblink"),
    ],
)
def test_the_encoding_of_the_headings_is_detected(encoding: str, headings: str) -> None:
    content = f"{headings}\r\n{headings}\r\n".encode(encoding)
    proposal = sheet.convert_upload(content, "a.csv")
    assert proposal.reading.encoding == encoding
    assert next(sheet.lines(proposal.content, proposal.reading, "a.csv")).fields == headings.split(";")


def test_a_cell_of_a_million_characters_is_refused_with_its_line() -> None:
    data, reading, _ = sheet.convert_upload(b"ARK,URL\na,b\nc," + b"x" * 1_000_000 + b"\n", "names.csv")
    with pytest.raises(TableError) as caught:
        list(sheet.lines(data, reading, "names.csv"))
    assert (caught.value.code, caught.value.line) == ("table-too-long", 3)


def test_too_many_rows_are_refused() -> None:
    sheet.convert_upload(b"ARK\n" + b"a\n" * ROWS, "names.csv", ROWS)
    for content, name in (
        (b"ARK\n" + b"a\n" * (ROWS + 1), "names.csv"),
        (b'{"a": "b"}\n' * (ROWS + 1), "a.jsonl"),
    ):
        with pytest.raises(TableError, match="more than 1,000 rows"):
            sheet.convert_upload(content, name, ROWS)


def test_each_choice_of_columns_is_a_column() -> None:
    for choice in columns.CHOICES - {"identifier"}:
        assert columns.check(["identifier", choice], ["a", "b"]) == {}


TABLES = {
    "title rows": ("Objektliste 2026;;\n\nInventarnummer;Titel;Datierung\nINV 1;Vase;1901\n", 3, 0),
    "a title in one cell": ("Liste\nCote;Titre;Lien\nA 1;Vase;https://m.example/1\n", 2, 0),
    "totals": ("Titel;Wert\nVase;3\nTeller;4\nSumme:;7\n", 1, 3),
    "a note after an empty row": ("Titel;Wert;Ort\nVase;3;\n\nQuelle: Inventar;;\n", 1, 2),
    "headings that are not known": ("Nummer;Wert;Notiz\nA 1;3;x\n", 1, 0),
    "texts wider than the headings": ("a;;c\nVase;rot;gut\n", 1, 0),
    "two rows of headings": ("Objekt;;Herkunft\nNummer;Titel;Ort\nA 1;Vase;Holm\n", 2, 0),
    "labels above field codes": (
        "Inventarnummer;Titel;Link\nf_inv;f_titel;f_link\nA 1;Vase;https://m.example/1\nA 2;Krug;https://m.example/2\n",
        2,
        0,
    ),
    "sep": ("sep=;\nTitel;Wert\nVase;3\n", 1, 0),
}


@pytest.mark.parametrize(("text", "heading_row", "last_row"), TABLES.values(), ids=TABLES.keys())
def test_the_rows_of_headings_and_of_totals_are_proposed(text: str, heading_row: int, last_row: int) -> None:
    reading = sheet.convert_upload(text.encode(), "objekte.csv").reading
    assert (reading.separator, reading.heading_row, reading.last_row) == (";", heading_row, last_row)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Inventarnummer;Titel;Link\nf_inv;f_tx;f_li\nA 1;Vase;https://m.example/1\nA 2;Krug;https://m.example/2\n",
            ["resource", "what", "target"],
            id="labels above field codes",
        ),
        pytest.param(
            "Objekt;;;Künstler;\nNummer;Titel;Jahr;Name;Lebensdaten\nA 1;Vase;1901;Held;1870-1910\n",
            ["resource", "what", "when", "who", ""],
            id="groups",
        ),
    ],
)
def test_the_columns_below_two_rows_of_headings_are_guessed(text: str, expected: list[str]) -> None:
    reading = sheet.convert_upload(text.encode(), "a.csv").reading
    assert list(reading.columns) == expected


@pytest.mark.parametrize(
    ("first", "second", "columns"),
    [
        pytest.param(
            "Identification;;Description;;Online",
            "Inv. no.;Former no.;Title;Maker;URL",
            ["resource", "former_numbers", "what", "who", "target"],
            id="groups",
        ),
        pytest.param(
            "Objekt;;Herkunft;;Web",
            "Nummer;Titel;Ort;Datum;Link",
            ["resource", "what", "where", "when", "target"],
            id="German groups",
        ),
        pytest.param(
            "Inventarnummer;Alte Nr.;Titel;K\u00fcnstler;Weblink",
            "object_number;old_number;title;creator;url",
            ["resource", "former_numbers", "what", "who", "target"],
            id="labels above names of fields",
        ),
    ],
)
def test_two_rows_of_headings_are_read(first: str, second: str, columns: list[str]) -> None:
    rows = "".join(f"A {at};X {at};Vase {at};183{at};https://m.example/{at}\n" for at in range(3))
    if "Maker" in second or "creator" in second:
        rows = rows.replace(";183", ";Roe 183")
    if "Ort" in second:
        rows = rows.replace(";X ", ";Krug ").replace(";Vase ", ";Holm ")
    proposal = sheet.convert_upload(f"{first}\n{second}\n{rows}".encode(), "a.csv")
    assert (proposal.reading.heading_row, proposal.rows, [*proposal.reading.columns]) == (2, 3, columns)


def test_rows_have_the_numbers_of_the_spreadsheet() -> None:
    content = b'sep=;\nTitel;Wert\n"Vase\nrot";1\n\nTeller;2\n'
    reading = sheet.convert_upload(content, "a.csv").reading
    assert [line.number for line in sheet.lines(content, reading, "a.csv")] == [1, 2, 4]


GUESSES = {
    "de": ("Titel;Künstler;Datierung;Weblink;Inventarnummer", "what who when target resource"),
    "fr": ("Titre;Auteur;Date;Lien;Cote", "what who when target resource"),
    "es": ("Título;Autor;Fecha;Enlace;Número de inventario", "what who when target resource"),
    "it": ("Titolo;Autore;Datazione;Collegamento;N. inventario", "what who when target resource"),
    "nl": ("Titel;Vervaardiger;Datering;Webadres;Inventarisnummer", "what who when target resource"),
    "pt": ("Título;Criador;Datação;Endereço;Cota", "what who when target resource"),
    "pl": ("Tytuł;Twórca;Datowanie;Odnośnik;Nr inwentarzowy", "what who when target resource"),
    "cs": ("Název;Tvůrce;Datace;Odkaz;Inventární číslo", "what who when target resource"),
    "ar": ("العنوان;الفنان;التاريخ;الرابط;رقم الجرد", "what who when target resource"),
    "he": ("כותרת;אמן;תאריך;קישור;מספר קטלוגי", "what who when target resource"),
    "ja": ("タイトル;作者;日付;リンク;登録番号", "what who when target resource"),
    "zh": ("标题;作者;日期;链接;登记号", "what who when target resource"),
    "en": ("Title;Creator;Date;URL;Accession no.", "what who when target resource"),
    "twice": ("ARK;PID;Title;Title", "identifier  what "),
    "soft hyphens": ("Künst\u00adler;Titel\u200b;Web\u00adadresse", "who what target"),
    "private": ("Versicherungswert;Standort;Zustand", "  "),
}


@pytest.mark.parametrize(("names", "expected"), GUESSES.values(), ids=GUESSES.keys())
def test_columns_are_guessed_from_headings(names: str, expected: str) -> None:
    assert guesses.columns(names.split(";"), []) == expected.split(" ")


@pytest.mark.parametrize(
    ("row", "rows"),
    [
        pytest.param(b'x,"one\ntwo\nthree"\n' * (ROWS // 2), ROWS // 2, id="cells of several lines"),
        pytest.param(b"x,y\n" + b",\n" * ROWS, 1, id="empty rows"),
    ],
)
def test_rows_are_counted_and_not_lines(row: bytes, rows: int) -> None:
    assert sheet.convert_upload(b"identifier,what\n" + row, "a.csv", ROWS)[2] == rows


def test_rows_are_counted_again_with_another_separator() -> None:
    content = b'identifier,"what"\n' + b'x,"one\ntwo\nthree"\n' * (ROWS // 2)
    stored, reading, _ = sheet.convert_upload(content, "a.csv")
    with pytest.raises(TableError, match="more than 1,000 rows"):
        list(sheet.lines(stored, replace(reading, separator="|"), "a.csv", most_rows=ROWS))
