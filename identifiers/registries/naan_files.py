"""Read the registry of NAANs in its official forms: JSON (version 2, with shoulders) and text (ANVL). Contacts, postal
addresses, test identifiers and locations are dropped, because some holders are persons. Source: ARK draft, section 3.1
(ARK-013, ARK-020); the comment at the start of the text file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..ark.grammar import ARK_UNRESERVED, BASE29
from ..text import anvl
from . import target_templates
from .source import RegistryFile, collect, day_of, text_of
from .tables import NAANS, SHOULDERS, Authority, Table

JSON_SOURCE = "https://cdluc3.github.io/naan_reg_priv/naan_records.json"
TEXT_SOURCE = "https://n2t.net/e/pub/naan_registry.txt"

# A shoulder is the start of a Name without hyphens. One registered shoulder contains a dot.
_KEY = re.compile(rf"[{BASE29}]{{1,32}}(?:/[{ARK_UNRESERVED}.]{{1,64}})?")
_STATUSES = (301, 302, 303, 307, 308)
_CODE = re.compile("[A-Z]{2}")
_SPACE = re.compile(r"[ \t\r\n]*")


def read_json(file: RegistryFile) -> list[Table[Authority]]:
    """Parse the JSON form of the registry of NAANs. Return the table of NAANs and that of shoulders, if it has some.
    Raises RegistryError for another form, and an invalid or repeated record.
    """
    try:
        whole = json.loads(file.text)
    except json.JSONDecodeError as error:
        raise file.error(f"the file is not JSON: {error.msg}", error.lineno, error.colno) from None
    except (ValueError, RecursionError):
        raise file.error("the file is not JSON: a number is too long or the nesting too deep") from None
    if not isinstance(whole.get("data"), list) or not isinstance(whole.get("metadata"), dict):
        raise file.error("expected an object with metadata and data", 1, 1)

    def place(number: int) -> tuple[int, int]:
        return file.place(_offset(file.text, number))

    def authorities() -> Iterator[tuple[int, Authority]]:
        for number, record in enumerate(whole["data"]):
            try:
                yield number, _authority(record)
            except ValueError as error:
                raise file.error(f"in the record that begins here: {error}", *place(number)) from None

    records = collect(file, authorities(), place)
    snapshot = file.snapshot(_metadata_day(file, whole["metadata"]), JSON_SOURCE)
    tables = [Table.of(NAANS, snapshot, (each for each in records if "/" not in each.key))]
    if shoulders := [each for each in records if "/" in each.key]:
        tables.append(Table.of(SHOULDERS, snapshot, shoulders))
    return tables


def read_anvl(file: RegistryFile) -> Table[Authority]:
    """Parse the text form (ANVL) of the registry of NAANs, and return the table of NAANs. Private labels, with an
    exclamation mark, are ignored. Raises RegistryError for another form, and an invalid or repeated record.
    """
    head: list[anvl.Record] = []
    try:
        records = collect(file, _from_anvl(file, head), lambda line: (line, None))
    except anvl.AnvlError as error:
        raise file.error(error.message, error.line) from None
    when = _first(head[0], "when") if head else None
    try:
        day = day_of(when)
    except ValueError as error:
        raise file.error(f"the date of the registry: {error}", head[0].line) from None
    where = _first(head[0], "where") if head else None
    source = where if where and re.fullmatch(r"https?://[!-~]{1,200}", where) else TEXT_SOURCE
    return Table.of(NAANS, file.snapshot(day, source), records)


def _from_anvl(file: RegistryFile, head: list[anvl.Record]) -> Iterator[tuple[int, Authority]]:
    for record in anvl.parse(file.text):
        label = record.elements[0].label
        if label == "erc" and not head:
            head.append(record)
        elif label == "naa":
            try:
                yield record.line, _naan(record)
            except ValueError as error:
                raise file.error(f"in the record that begins here: {error}", record.line) from None
        else:
            raise file.error("expected a record that begins with naa:", record.line)


def _authority(record: Any) -> Authority:
    """Convert a record of the JSON form. Raises ValueError if it is invalid."""
    record = _object(record, "the record")
    who, target = _object(record.get("who"), "who"), _object(record.get("target"), "target")
    terms = _object(record.get("na_policy") or {}, "na_policy")
    key = _key(record.get("what"))
    return Authority(
        key=key,
        name=_read_named("who.name", text_of, who.get("name")) or key,
        native_name=_read_named("who.name_native", text_of, who.get("name_native")),
        acronym=_read_named("who.acronym", text_of, who.get("acronym")),
        since=_read_named("when", day_of, record.get("when")),
        where=_read_named("where", text_of, record.get("where")),
        template=_read_named("target.url", text_of, target.get("url")),
        status=_status(target.get("http_code", 302)),
        organization=_organization(terms.get("orgtype")),
        policy=_policy(terms.get("policy")),
        policy_url=_read_named("na_policy.policy_url", text_of, terms.get("policy_url")),
    )


def _naan(record: anvl.Record) -> Authority:
    """Convert a record of the text form. Raises ValueError if it is invalid."""
    for label in ("who", "what", "when", "how"):
        if len(record.values(label)) > 1:
            raise ValueError(f"there is more than one {label}")
    key = _key(_first(record, "what"))
    native, name, acronym = _names(_first(record, "who") or "")
    where = text_of(_first(record, "where"))
    status, template = target_templates.from_base(where) if where else (302, None)
    how = [part.strip() for part in (_first(record, "how") or "").split("|")] + [""] * 4
    return Authority(
        key=key,
        name=name or key,
        native_name=native,
        acronym=acronym,
        since=_read_named("when", day_of, _first(record, "when")),
        where=where,
        template=template,
        status=status,
        organization=_organization(how[0]),
        policy=_policy(how[1]),
        policy_url=text_of(how[3]),
    )


def _names(who: str) -> tuple[str | None, str | None, str | None]:
    """Split "Native (=) English (=) ACRONYM", "Name (=) ACRONYM" or "Name" into native name, name and acronym."""
    parts = [text_of(part) for part in who.split("(=)")]
    if len(parts) == 1:
        return None, parts[0], None
    return (parts[-3] if len(parts) > 2 else None), parts[-2], parts[-1]


def _first(record: anvl.Record, label: str) -> str | None:
    elements = record.values(label)
    return elements[0].value if elements else None


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return value


def _read_named(name: str, read: Callable[[object], str | None], value: object) -> str | None:
    try:
        return read(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _key(what: object) -> str:
    if not isinstance(what, str) or not _KEY.fullmatch(what):
        shown = repr(what[:80]) if isinstance(what, str) else "nothing"
        raise ValueError(f"what: {shown} is neither a NAAN nor a NAAN, a slash and a shoulder")
    return what


def _status(code: object) -> int:
    if type(code) is not int or code not in _STATUSES:
        raise ValueError("target.http_code: expected the status of a redirect")
    return code


def _organization(code: object) -> str | None:
    return code if code in ("NP", "FP") else None


def _policy(value: object) -> tuple[str, ...]:
    """Return the codes of a policy: from a list, "NR, OP", or a list in Python syntax. Ignore prose."""
    items = value if isinstance(value, list) else value.strip("[] ").split(",") if isinstance(value, str) else []
    codes = (item.strip(" '\"") for item in items if isinstance(item, str))
    return tuple(dict.fromkeys(code for code in codes if _CODE.fullmatch(code)))


def _metadata_day(file: RegistryFile, metadata: Mapping[str, Any]) -> str | None:
    try:
        return day_of(metadata.get("date_modified"))
    except ValueError as error:
        raise file.error(f"metadata.date_modified: {error}") from None


def _offset(text: str, number: int) -> int:
    """Return the offset of a record in the array "data". ``text`` must be a valid JSON object."""
    decode = json.JSONDecoder().raw_decode
    data, place = 0, text.index("{")
    # The text is valid, so name, colon and value follow each other. Of repeated names the last one counts.
    while text[place] != "}":
        name, place = decode(text, _skip(text, place + 1))
        place = _skip(text, _skip(text, place) + 1)
        data = place if name == "data" else data
        place = _skip(text, decode(text, place)[1])
    for _ in range(number):
        data = _skip(text, decode(text, _skip(text, data + 1))[1])
    return _skip(text, data + 1)


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place
