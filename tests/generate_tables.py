"""Write the spreadsheets in tests/data/tables: tables of two museums as LibreOffice saves them.

openpyxl writes the cells, their formats, links and merged ranges. LibreOffice computes the formulas, and saves the
workbook as .ods, .xls and .xlsx, and its second sheet as CSV (Windows-1252, semicolons) and TSV (UTF-16). The tests do
not run it: ``soffice`` of Debian's package libreoffice-calc wrote the files in the repository.
"""

from __future__ import annotations

import subprocess
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openpyxl import Workbook

FOLDER = Path(__file__).parent / "data" / "tables"

HOURS = timedelta(hours=27, minutes=5)

GERMAN = (
    "Objekte",
    ("Inventarnummer", "Titel", "Künstler", "Datierung", "Weblink", "Wert", "Anteil", "Dauer", "Blatt"),
    [
        (
            1,
            "Große Glocke",
            "Müller, Käthe",
            (date(1925, 5, 1), "mmm\\-yy"),
            1234.5,
            0.25,
            HOURS,
        ),
        (2, "Vase, blau", None, (date(1901, 3, 2), "yyyy"), 980, 0.1, timedelta(minutes=90)),
        (3, "Straßenszene", None, (date(1912, 12, 24), "dd\\.mm\\.yyyy"), 12, 0.5, timedelta(hours=1)),
        (4, "Ölskizze", "Unbekannt", ("um 1900", "General"), 7, 1, timedelta(0)),
        (5, "Teller", "Unbekannt", (date(1925, 5, 1), "mmmm"), 7, 1, timedelta(0)),
    ],
    ("Objektliste 2026", "Summe"),
    "https://museum.example/objekt/",
)
FRENCH = (
    "Objets",
    ("Cote", "Titre", "Auteur", "Date", "Lien", "Valeur", "Part", "Durée", "Feuille"),
    [
        (
            1,
            "Œuvre « Été »",
            "Élise Faure",
            (date(1925, 5, 1), "mmm\\-yy"),
            1234.5,
            0.25,
            HOURS,
        ),
        (2, "Vase à fleurs", None, (date(1901, 3, 2), "yyyy"), 980, 0.1, timedelta(minutes=90)),
        (3, "Scène de rue", None, (date(1912, 12, 24), "dd\\/mm\\/yyyy"), 12, 0.5, timedelta(hours=1)),
        (4, "Esquisse", "Inconnu", ("vers 1900", "General"), 7, 1, timedelta(0)),
        (5, "Assiette", "Inconnu", (date(1925, 5, 1), "mmmm"), 7, 1, timedelta(0)),
    ],
    ("Liste des objets 2026", "Total"),
    "https://musee.example/objet/",
)


def workbook(sheet: str, headings: Any, rows: Any, words: tuple[str, str], address: str) -> Workbook:
    """Return a workbook with a cover sheet, title rows, a hidden row, merged cells, links, formulas and an error."""
    book = Workbook()
    book.worksheets[0].title = "Info"
    book.worksheets[0].append([words[0]])
    page = book.create_sheet(sheet)
    page.append([words[0]])
    page.append([])
    page.append(headings)
    for at, (number, title, who, (when, code), value, part, duration) in enumerate(rows, 4):
        page.append(
            [number, title, who, when, f"{words[0]} {number}", value, part, duration, f'=CONCATENATE("B ",A{at})']
        )
        page.cell(at, 1).number_format = '"INV "00000'
        page.cell(at, 4).number_format = code
        page.cell(at, 5).hyperlink = f"{address}{number}"
        page.cell(at, 6).number_format = "#,##0.00"
        page.cell(at, 7).number_format = "0%"
        page.cell(at, 8).number_format = "[h]:mm"
    last = 3 + len(rows)
    page.merge_cells("C4:C6")
    page.cell(last, 9).value = "=1/0"
    page.row_dimensions[last].hidden = True
    page.append([words[1], None, None, None, None, f"=SUM(F4:F{last})"])
    return book


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, table in (("objekte", GERMAN), ("objets", FRENCH)):
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.xlsx"
            workbook(*table).save(path)
            for kind in ("ods", "xls", "xlsx"):
                convert(path, kind)
            # Token 12 is the sheet, counted from 1.
            convert(path, "csv:Text - txt - csv (StarCalc):59,34,ANSI,1,,0,false,false,true,false,false,2")
            convert(path, "tsv:Text - txt - csv (StarCalc):9,34,65535,1,,0,false,false,true,false,false,2")
            for kind in ("csv", "tsv"):
                [written] = FOLDER.glob(f"{name}-*.{kind}")
                written.replace(FOLDER / f"{name}.{kind}")


def convert(path: Path, kind: str) -> None:
    """Let LibreOffice save a workbook in another format."""
    options = ("--headless", f"-env:UserInstallation=file://{path.parent}/profile", "--convert-to", kind, "--outdir")
    subprocess.run(["soffice", *options, str(FOLDER), str(path)], check=True, capture_output=True)


if __name__ == "__main__":
    main()
