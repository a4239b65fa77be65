"""Find the row of headings of a sheet, its totals and notes, and the meaning of headings.

The words are those of museum, library and archive tables in the languages of the public pages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache

from ..bindings.tables.columns import Columns
from ..bindings.tables.delimited import Line

WORDS: Mapping[str, str] = {
    "identifier": """
ark|arks|ark id|ark identifier|pid|urn|persistent id|persistent identifier|identifiant perenne|identifiant ark
identificador persistente|identificatore persistente|identifikator persistenter|persistenter identifikator|permalink id
persistente identifier|permanente identifier|trwaly identyfikator|identyfikator trwaly|trvaly identifikator
المعرف الدائم|מזהה קבוע|永続的識別子|永続識別子|永久标识符|持久标识符""",
    "target": """
url|link|location|address|uri|href|target url|new target|web address|website|web link|weblink|webadresse|internetadresse
adresse|lien|lien web|adresse web|enlace|direccion web|direccion|collegamento|indirizzo|indirizzo web|sito web|ligacao
hiperligacao|endereco|endereco web|koppeling|webadres|odnosnik|lacze|adres|adres www|odkaz|adresa|webova adresa
رابط|الرابط|عنوان الويب|קישור|כתובת אתר|リンク|ウェブアドレス|链接|連結|網址|网址""",
    "status": "state",
    "what": """
title|titel|titre|titulo|titolo|tytul|nazev|object title|object name|name of the object|werktitel|objekttitel
objektbezeichnung|objektname|bezeichnung|intitule|designation|denomination|denominacion|denominazione|denominacao
benaming|objectnaam|nazwa|nazwa obiektu|nazev predmetu
العنوان|عنوان|عنوان العمل|כותרת|שם היצירה|タイトル|題名|作品名|資料名|标题|標題|题名|名称|作品名称""",
    "who": """
creator|author|artist|maker|photographer|kunstler|kunstlerin|kuenstler|urheber|autor|autorin|verfasser|hersteller
fotograf|artiste|auteur|createur|photographe|autora|artista|creador|fotografo|autore|creatore|criador|kunstenaar
vervaardiger|fotograaf|tworca|artysta|wykonawca|tvurce|umelec
المؤلف|الفنان|المنشئ|מחבר|המחבר|יוצר|אמן|作者|制作者|作家|著者|創作者|创作者|艺术家|藝術家""",
    "when": """
date|year|datum|datierung|jahr|entstehungszeit|entstehungsjahr|herstellungsdatum|annee|datation|date de creation|fecha
ano|datacion|data|anno|datazione|datacao|datering|jaar|rok|data powstania|datowanie|datace|rok vzniku
التاريخ|تاريخ|السنة|תאריך|שנה|日付|年|制作年|年代|年月日|日期|年份|创作年代""",
    "where": """
place|place of creation|ort|entstehungsort|herstellungsort|lieu|lieu de creation|lugar|lugar de creacion|luogo
luogo di creazione|local|plaats|plaats van vervaardiging|miejsce|miejsce powstania|misto|misto vzniku
المكان|מקום|場所|制作地|地点|地點|产地""",
    "how": """
object type|type of object|form|objekttyp|objektart|gattung|type d objet|nature|tipo de objeto|tipo di oggetto
objectsoort|typ obiektu|rodzaj obiektu|typ predmetu|druh predmetu|نوع القطعة|סוג פריט|資料種別|种类|類別""",
    "resource": """
inventory number|inventory no|inv no|accession number|accession no|call number|shelf mark|shelfmark|object number
catalogue number|catalog number|object id|inventarnummer|inventarnr|inventar nr|inv nr|objektnummer|objekt nr
sammlungsnummer|zugangsnummer|katalognummer|signatur|kennung|identifikator|cote|numero d inventaire|n d inventaire
no d inventaire|numero inventaire|num inventaire|numero d objet|identifiant|reference|numero de inventario|n inventario
num inventario|signatura|numero di inventario|numero inventario|inventario|segnatura|numero de tombo|cota
inventarisnummer|objectnummer|numer inwentarzowy|nr inwentarzowy|nr inw|sygnatura|inventarni cislo|inv cislo|inv c
رقم الجرد|رقم القيد|رقم التسجيل|מספר מלאי|מספר קטלוגי|מספר אוסף|登録番号|資料番号|所蔵番号|整理番号|收藏号
登记号|总登记号|藏品编号|藏品号|馆藏号|館藏號|登錄號""",
    "reason": "withdrawal reason",
}
"""The words for headings by column, without accents and in lower case."""

_TOTALS = re.compile(
    r"(?:summe|gesamt|gesamtsumme|anzahl|total|totaal|totals?|sum|count|nombre|suma|celkem|razem|totale|somme"
    r"|المجموع|סה\W?כ|合計|合计|总计|總計)\b[\s:]*+[\d.,\s]*+",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:https?://[^/\s]+/)?(?:ark:|urn:)|[0-9]{5}/\S", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_NO_HEADING = re.compile(r"[\d\s.,:/%€$£+-]+|https?://.*|ark:.*|urn:.*", re.IGNORECASE | re.DOTALL)
_LONGEST_HEADING = 60
_SEARCHED = 30
_MOST_AT_END = 3


def folded(heading: str) -> str:
    """Return a heading for a comparison: lower case, without accents, with one space for other signs.

    ``heading`` is the heading of a column.

    >>> folded(" Künstler*in: "), folded("N° d'inventaire"), folded("Název_předmětu")
    ('kunstler in', 'n d inventaire', 'nazev predmetu')
    """
    letters = unicodedata.normalize("NFKD", heading.casefold().replace("ł", "l").replace("°", " "))
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    # Some accents are letters of their own in other scripts, so that the words are composed again.
    return unicodedata.normalize("NFKC", re.sub(r"[\W_]+", " ", plain)).strip()


@cache
def _columns() -> dict[str, str]:
    return {
        folded(word): column for column, words in WORDS.items() for word in words.replace("\n", "|").split("|") if word
    }


def meaning(heading: str) -> str:
    """Return the column of bindings that a heading of a spreadsheet means, or "". ``heading`` is the heading.

    >>> meaning("Künstler"), meaning("Cote"), meaning("dc.title"), meaning("Versicherungswert")
    ('who', 'resource', 'dc.title', '')
    """
    return Columns().find(heading) or _columns().get(folded(heading), "")


def guess(headings: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str]:
    """Return a column of bindings for each heading, or "" for an unknown one. No column is guessed twice.

    ``headings`` are the headings of the table. ``samples`` are the cells of some rows. A column of ARKs or URNs is the
    identifier, and a column of web addresses is the target. A heading such as "identifier" over other values means the
    key of a row.

    >>> guess(["ARK", "Titel", "Adresse", "dc.title"], [])
    ['identifier', 'what', 'target', 'dc.title']
    >>> guess(["Signatur", "x", "identifier"], [["ark:12345/x1", "https://example.org/", "INV 1"]])
    ['identifier', 'target', 'resource']
    """
    values = [[row[place] for row in samples if place < len(row) and row[place]] for place in range(len(headings))]
    found = [meaning(heading) for heading in headings]
    for place, texts in enumerate(values):
        if texts and all(map(_NAME.match, texts)) and found[place] in ("", "resource", "what"):
            found[place] = "identifier"
        elif texts and found[place] == "identifier" and not any(map(_NAME.match, texts)):
            found[place] = "resource"
    for place, texts in enumerate(values):
        if not found[place] and "target" not in found and texts and all(map(_ADDRESS.fullmatch, texts)):
            found[place] = "target"
    return [column if column not in found[:place] else "" for place, column in enumerate(found)]


def heading_row(rows: Sequence[Line]) -> int:
    """Return the number of the row that probably has the headings, or 0 without rows.

    ``rows`` are the first rows of a sheet. The result is the row with the most known headings, or else the first row
    with texts in most columns.

    >>> heading_row([Line(1, ["Objektliste 2026", ""]), Line(3, ["Titel", "Wert"]), Line(4, ["Vase", "3"])])
    3
    """
    first = rows[:_SEARCHED]
    if not first:
        return 0
    width = max(sum(map(bool, row.fields)) for row in first)

    def texts(row: Line) -> int:
        return len({cell for cell in row.fields if cell and len(cell) <= _LONGEST_HEADING and not _is_value(cell)})

    wide = [row for row in first if 2 * texts(row) > width] or [first[0]]
    best = max(wide, key=lambda row: len({each for each in map(meaning, row.fields) if each}))
    known = len({each for each in map(meaning, best.fields) if each})
    return (best if known > 1 or best is wide[0] else wide[0]).number


def _is_value(cell: str) -> bool:
    return _NO_HEADING.fullmatch(cell) is not None


def last_row(rows: Sequence[Line], width: int) -> int:
    """Return the number of the last row of data before totals and notes, or 0 if all rows are data.

    ``rows`` are the last rows of a sheet. ``width`` is the number of headings.

    >>> last_row([Line(5, ["A1", "Vase", "3"]), Line(6, ["", "", "1"]), Line(7, ["Summe", "", "3"])], 3)
    6
    """
    kept = list(rows)
    while len(kept) > 1 and len(rows) - len(kept) < _MOST_AT_END and _is_no_data(kept[-1], kept[-2], width):
        kept.pop()
    return kept[-1].number if len(kept) < len(rows) else 0


def _is_no_data(row: Line, before: Line, width: int) -> bool:
    filled = [cell for cell in row.fields if cell]
    if any(map(_TOTALS.fullmatch, filled[:2])) and 2 * len(filled) <= max(width, 4):
        return True
    # A note after an empty row, such as the source of the table.
    return width > 2 and len(filled) == 1 and row.number > before.number + 1
