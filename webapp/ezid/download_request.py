"""The form of a request for a batch download, and the names that it selects (EZID API, version 2, "Batch download")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import parse_qsl

from ...bindings.imports.sources.record import read_instant
from ...bindings.names import validation
from ...bindings.names.binding import Status
from ...bindings.names.selection import Selection
from .answers import bad_request
from .download_formats import Compression, Format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...bindings.names.binding import Binding
    from ..accounts.model import Caller

FORM_TYPE = "application/x-www-form-urlencoded"

_STATES: Mapping[str, Status] = {"public": "live", "reserved": "reserved", "unavailable": "withdrawn"}
# Ararat has no names of the schemes doi and uuid.
_TYPES = {"ark": "ark:", "urn": "urn:", "doi": "doi:", "uuid": "uuid:"}
_TIMES = {
    "createdAfter": "created_since",
    "createdBefore": "created_before",
    "updatedAfter": "changed_since",
    "updatedBefore": "changed_before",
}
_YES_OR_NO = ("convertTimestamps", "exported")
# Without an effect: the profile, groups and deposits of EZID select nothing here, and no mail is sent.
_IGNORED = ("crossref", "datacite", "notify", "ownergroup", "profile")
_REPEATABLE = ("column", "status", "type", "owner", *_IGNORED)
_FIELDS = frozenset({"format", "compression", "permanence", *_REPEATABLE, *_TIMES, *_YES_OR_NO})
_MAX_COLUMNS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """A request for a file with many identifiers. An empty tuple of states, schemes or owners selects all.

    - ``columns``: the names of the columns of a CSV file.
    - ``times``: the conditions on times, by their names in :class:`Selection`.
    - ``is_test``: selects names for tests, which do not exist here.
    - ``listed``: whether the names are listed, which EZID calls ``exported``; None selects all.
    """

    format: Format
    compression: Compression
    columns: tuple[str, ...]
    states: tuple[Status, ...]
    schemes: tuple[str, ...]
    times: Mapping[str, datetime]
    is_test: bool
    owners: tuple[str, ...] = ()
    listed: bool | None = None
    converts_times: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the request for JSON: its attributes as members, tuples as lists, and times in ISO 8601."""
        return {
            "format": self.format,
            "compression": self.compression,
            "columns": list(self.columns),
            "states": list(self.states),
            "schemes": list(self.schemes),
            "times": {name: time.isoformat() for name, time in self.times.items()},
            "is_test": self.is_test,
            "owners": list(self.owners),
            "listed": self.listed,
            "converts_times": self.converts_times,
        }

    @classmethod
    def of_dict(cls, stored: Mapping[str, Any]) -> Download:
        """Return the request for a download that :meth:`as_dict` stored."""
        return cls(
            format=stored["format"],
            compression=stored["compression"],
            columns=tuple(stored["columns"]),
            states=tuple(stored["states"]),
            schemes=tuple(stored["schemes"]),
            times={name: datetime.fromisoformat(time) for name, time in stored["times"].items()},
            is_test=stored["is_test"],
            owners=tuple(stored.get("owners", ())),
            listed=stored.get("listed"),
            converts_times=stored.get("converts_times", False),
        )

    def selections(self, prefixes: Iterable[str] | None) -> Iterator[Selection]:
        """Yield selections that do not overlap, of all requested names with one of the prefixes; None means any."""
        if self.is_test:
            return
        common = replace(Selection(status=self.states[0] if len(self.states) == 1 else None), **self.times)
        for prefix in _within(prefixes, self.schemes):
            yield replace(common, prefix=prefix)

    def includes(self, binding: Binding) -> bool:
        """Return whether a name of one of the selections has a requested state and the requested listing."""
        is_wanted = self.listed is None or binding.listed == self.listed
        return is_wanted and (not self.states or binding.status in self.states)


def read(body: bytes) -> Download:
    """Return the request that a form (``application/x-www-form-urlencoded``) describes. Raises
    :class:`~.answers.Failed` for an unknown field or a wrong value.

    >>> read(b"format=csv&column=_id&column=erc.who&status=public").columns
    ('_id', 'erc.who')
    """
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_COLUMNS)
    except ValueError:
        raise bad_request(f"the body is not a form with at most {_MAX_COLUMNS} fields in UTF-8") from None
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if name not in _FIELDS:
            raise bad_request(f"unrecognized form field '{validation.quote(name)}'")
        if name in given and name not in _REPEATABLE:
            raise bad_request(f"the form field {name} is given twice")
        given.setdefault(name, []).append(value)
    form = cast("Format", _one(given, "format", get_args(Format)))
    columns = tuple(given.get("column", ()))
    if (form == "csv") != bool(columns) or not all(columns):
        raise bad_request("the form field column is required for the format csv, and not permitted for others")
    return Download(
        format=form,
        compression=cast("Compression", _one(given, "compression", get_args(Compression), "gzip")),
        columns=columns,
        states=tuple(_STATES[each] for each in _several(given, "status", _STATES)),
        schemes=tuple(_TYPES[each] for each in _several(given, "type", _TYPES)),
        times={condition: _time(given, name) for name, condition in _TIMES.items() if name in given},
        is_test=_one(given, "permanence", ("test", "real"), "real") == "test",
        owners=tuple(given.get("owner", ())),
        listed=_yes_or_no(given, "exported"),
        converts_times=form == "csv" and bool(_yes_or_no(given, "convertTimestamps")),
    )


def prefixes_of(caller: Caller) -> list[str] | None:
    """Return the prefixes that the account and its token can change, whose names a download has, or None for all.
    A reader cannot change names, and gets all names, or those of the prefixes of its token.
    """
    account, token = caller.account, caller.token
    own = None if account.role in ("administrator", "reader") else account.prefixes
    limit = token.prefixes if token else None
    if own is None:
        return None if limit is None else list(limit)
    if limit is None:
        return list(own)
    both = ((one, other) for one in own for other in limit if one.startswith(other) or other.startswith(one))
    return [max(pair, key=len) for pair in both]


def _within(prefixes: Iterable[str] | None, schemes: tuple[str, ...]) -> list[str | None]:
    """Return the prefixes with one of these schemes, without those that are below another one."""
    if prefixes is None:
        return list(schemes) or [None]
    found = sorted(prefix for prefix in {*prefixes} if not schemes or prefix.startswith(schemes))
    distinct: list[str | None] = []
    for prefix in found:
        if not distinct or not prefix.startswith(str(distinct[-1])):
            distinct.append(prefix)
    return distinct


def _one(given: Mapping[str, list[str]], name: str, values: tuple[str, ...], default: str | None = None) -> str:
    if name not in given and default is not None:
        return default
    value = given.get(name, [""])[0]
    if value not in values:
        raise bad_request(f"the form field {name} must have one of these values: {', '.join(values)}")
    return value


def _yes_or_no(given: Mapping[str, list[str]], name: str) -> bool | None:
    if name not in given:
        return None
    if given[name][0].lower() not in ("yes", "no"):
        raise bad_request(f"the form field {name} must be yes or no")
    return given[name][0].lower() == "yes"


def _several(given: Mapping[str, list[str]], name: str, values: Mapping[str, object]) -> list[str]:
    found = list(dict.fromkeys(given.get(name, ())))
    if not all(value in values for value in found):
        raise bad_request(f"the form field {name} must have one of these values: {', '.join(values)}")
    return found


def _time(given: Mapping[str, list[str]], name: str) -> datetime:
    time = read_instant(given[name][0])
    if time is None:
        raise bad_request(f"the form field {name} is not a time; expected Unix seconds or YYYY-MM-DDTHH:MM:SSZ")
    return time
