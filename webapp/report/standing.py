"""The answer that a visitor gets for an identifier of this site: whether its link works, and the next step.
The inspector and the page of a name at the desk show the same. The content of a reserved name is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit

from ...bindings.names.binding import rfc3339
from ...bindings.names.metadata.metadata import without_code
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable, join_texts

if TYPE_CHECKING:
    from datetime import datetime

    from ...bindings.names.binding import Binding, Hold
    from ...bindings.storage.rows import LastTrace
    from ...middleware import Resolution
    from .site_record import SiteRecord

Status = Literal["good", "warn", "bad", "plain"]

StandingCode = Literal[
    "withdrawn", "on-hold", "link-dead", "link-moved", "recorded", "part", "delegated", "retired", "not-known"
]

MAX_TITLE = 160
"""The maximum length of a title in a headline, in characters."""

TAGS: Mapping[StandingCode, tuple[Status, str]] = {
    "withdrawn": ("warn", Translatable("withdrawn")),
    "on-hold": ("warn", Translatable("recorded here, on hold")),
    "link-dead": ("bad", Translatable("link is dead")),
    "link-moved": ("warn", Translatable("link has moved")),
    "recorded": ("good", Translatable("valid, recorded here")),
    "part": ("good", Translatable("valid, answered here")),
    "delegated": ("plain", Translatable("kept elsewhere")),
    "retired": ("bad", Translatable("prefix is retired")),
    "not-known": ("bad", Translatable("not known here")),
}
"""The status and the tag of each standing."""

OF_LINK: Mapping[str, StandingCode] = {"dead": "link-dead", "moved": "link-moved"}
"""The standing of a live name by the state of the last trace of its target. Other states do not change it."""

_TITLES = ("erc.what", "dc.title")
_PARTS = ("located", "related", "described", "served")


class Standing(NamedTuple):
    """The answer that a visitor gets for an identifier of this site: fields of :class:`.verdict.IdentifierVerdict`.
    ``headline`` is the title of the thing, or the fact, or "" for a recorded name without a title. ``correction`` is
    the identifier that replaces it or that was probably meant.
    """

    code: StandingCode
    status: Status
    tag: str
    headline: str
    sentence: str
    correction: str | None = None


def standing(record: SiteRecord) -> Standing | None:
    """Return what a visitor gets for an identifier, or None if it does not belong to this site."""
    if record.binding is not None:
        return _of_name(record, record.binding)
    resolution = record.resolution
    if resolution is None:
        return None
    code = "" if resolution.problem is None else resolution.problem.code
    if code in ("container-withdrawn", "hidden"):
        return _withdrawn(None, resolution.successor)
    if resolution.outcome == "held" or resolution.outcome in _PARTS:
        return _part(resolution, title_of(record.above), record.last)
    if resolution.outcome == "prefix" and resolution.record is not None:
        headline = _short(resolution.record.what or resolution.record.who or "")
        sentence = Translatable("It is the beginning of names of this site. Its link leads to their description.")
        return Standing("recorded", "good", Translatable("prefix of this site"), headline, sentence)
    return _unknown(record, resolution)


def title_of(binding: Binding | None) -> str:
    """Return the recorded title of a public name in at most :data:`MAX_TITLE` characters, or "" without a title."""
    if binding is None or binding.is_reserved:
        return ""
    texts = (without_code(binding.metadata.get(element, "").strip()) for element in _TITLES)
    return _short(next(filter(None, texts), ""))


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= MAX_TITLE else f"{shown[: MAX_TITLE - 3]}..."


def _of_name(record: SiteRecord, binding: Binding) -> Standing:
    if not binding.is_live:
        return _withdrawn(binding, binding.successor)
    title, about = title_of(binding), _about(binding)
    if record.hold is not None:
        return Standing(
            "on-hold", *TAGS["on-hold"], title, join_texts(about, _hold_text(record.hold, is_recorded=True))
        )
    host = host_of(binding.target)
    code = "recorded" if record.last is None else OF_LINK.get(record.last.state, "recorded")
    if record.last is not None and code == "link-dead":
        return Standing(code, *TAGS[code], title, join_texts(about, _dead(record.last, host)))
    if record.last is not None and code == "link-moved":
        moved = Translatable(
            "The link has moved since %(date)s: it now ends at %(host)s.",
            date=_day(record.last.since),
            host=host_of(record.last.url) or host,
        )
        return Standing(code, *TAGS[code], title, join_texts(about, moved))
    works = ""
    if record.last is not None and record.last.state == "works":
        works = Translatable("The link worked on %(date)s.", date=_day(record.last.traced))
    # the registry states that such a name must not be bound. This site has set test_naans.
    test = Translatable("It is only a test.") if binding.is_test else ""
    sentence = join_texts(about, _leads(binding.kind, host), works, test)
    return Standing("recorded", *TAGS["recorded"], title, sentence)


def _about(binding: Binding) -> str:
    """Return who made the thing, and when."""
    texts = (without_code(binding.metadata.get(name, "")) for name in ("erc.who", "erc.when"))
    about = ", ".join(" ".join(text.split())[:MAX_TITLE].rstrip(".") for text in texts if text)
    return f"{about}." if about else ""


def _leads(kind: str, host: str) -> str:
    shown = host or Translatable("this site")
    match kind:
        case "served":
            return Translatable("The name is recorded here, and this site shows the thing.")
        case "described":
            return Translatable("The name is recorded here, and visitors see its description.")
        case "related":
            return Translatable("The name is recorded here, and leads to a page about it at %(host)s.", host=shown)
        case _:
            return Translatable("The name is recorded here, and leads to %(host)s.", host=shown)


def _hold_text(hold: Hold, *, is_recorded: bool) -> str:
    until = Translatable("Its redirect is on hold until %(until)s.", until=_minute(hold.until))
    if is_recorded:
        until = Translatable(
            "The name is recorded here. Its redirect is on hold until %(until)s.", until=_minute(hold.until)
        )
    return join_texts(until, display.percent(hold.reason)) if hold.reason else until


def _dead(last: LastTrace, host: str) -> str:
    shown, since = host or Translatable("this site"), _day(last.since)
    if last.status is None:
        dead = Translatable("The link has been dead since %(date)s: %(host)s does not answer.", date=since, host=shown)
    else:
        dead = Translatable(
            "The link has been dead since %(date)s: %(host)s answers %(status)s.",
            date=since,
            host=shown,
            status=str(last.status),
        )
    return join_texts(dead, Translatable("The identifier is right. Its institution has to record a new address."))


def _withdrawn(binding: Binding | None, successor: str | None) -> Standing:
    title = title_of(binding)
    headline = Translatable("Withdrawn: %(title)s", title=title) if title else Translatable("This name was withdrawn")
    sentence = f"{binding.reason.strip().rstrip('.')}." if binding is not None and binding.reason else ""
    sentence = sentence or Translatable("The name still belongs to the same thing, and is never given to another one.")
    return Standing("withdrawn", *TAGS["withdrawn"], headline, sentence, successor)


def _part(resolution: Resolution, title: str, last: LastTrace | None) -> Standing:
    """Return the standing of an identifier without a record for which a container, a rule or a hold answers."""
    headline = Translatable("Part of %(title)s", title=title) if title else ""
    if resolution.hold is not None and resolution.outcome == "held":
        said = _hold_text(resolution.hold, is_recorded=False)
        return Standing("on-hold", "warn", Translatable("on hold"), headline, said)
    host = host_of(resolution.target) or Translatable("this site")
    if resolution.rule is not None:
        sentence = Translatable(
            "It has no record of its own. A rule for names that begin with %(prefix)s leads to %(host)s.",
            prefix=display.percent(resolution.rule),
            host=host,
        )
        return Standing("part", *TAGS["part"], "", sentence)
    above = resolution.container or (resolution.binding and resolution.binding.identifier) or ""
    sentence = Translatable(
        "It has no record of its own. It is part of %(container)s, which leads to %(host)s.",
        container=display.percent(above),
        host=host,
    )
    if last is not None and last.state == "dead":
        dead = Translatable(
            "The link of %(container)s has been dead since %(date)s.",
            container=display.percent(above),
            date=_day(last.since),
        )
        return Standing("part", "warn", TAGS["part"][1], headline, join_texts(sentence, dead))
    return Standing("part", *TAGS["part"], headline, sentence)


def _unknown(record: SiteRecord, resolution: Resolution) -> Standing | None:
    prefix = record.prefix
    if prefix is not None and prefix.state == "delegated":
        values = {"prefix": display.percent(prefix.prefix)}
        headline = Translatable("Names that begin with %(prefix)s are kept by another resolver", **values)
        if prefix.who:
            headline = Translatable(
                "Names that begin with %(prefix)s are kept by %(who)s", who=_short(prefix.who), **values
            )
        host = host_of(resolution.target)
        sentence = Translatable("This site leads visitors to %(host)s.", host=host) if host else ""
        return Standing("delegated", *TAGS["delegated"], headline, sentence)
    if record.near is not None:
        headline = Translatable(
            "Not known here. Did you mean %(title)s?",
            title=title_of(record.near) or display.percent(record.near.identifier),
        )
    elif not record.is_own:
        return None
    else:
        headline = Translatable("Not known here")
    missing = Translatable("The identifier is well-formed, but it is not recorded here: its link answers 404.")
    if prefix is not None and prefix.state == "retired":
        retired = Translatable(
            "Names that begin with %(prefix)s are no longer assigned.", prefix=display.percent(prefix.prefix)
        )
        near = None if record.near is None else record.near.identifier
        return Standing("retired", *TAGS["retired"], headline, join_texts(missing, retired), near)
    if prefix is not None and prefix.who:
        owner = Translatable(
            "Names that begin with %(prefix)s belong to %(who)s.",
            prefix=display.percent(prefix.prefix),
            who=_short(prefix.who),
        )
        missing = join_texts(missing, owner)
    status: Status = "warn" if prefix is None and record.near is None else "bad"
    near = None if record.near is None else record.near.identifier
    return Standing("not-known", status, TAGS["not-known"][1], headline, missing, near)


def host_of(address: str | None) -> str:
    """Return the host of a URL in printable ASCII, or "" for a path or None.

    >>> host_of("https://example.org/a"), host_of("/a"), host_of(None)
    ('example.org', '', '')
    """
    try:
        host = urlsplit(address or "").hostname
    except ValueError:
        return ""
    return display.percent(host) if host else ""


def _day(time: datetime) -> str:
    return rfc3339(time)[:10]


def _minute(time: datetime) -> str:
    # A hold usually ends at midnight: a day alone would be read as the last one of the hold.
    return f"{rfc3339(time)[:16].replace('T', ' ')} UTC"
