"""The result of one check of ``ararat doctor``, and its lines on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ..output import Sheet, Style, format_count

State = Literal["ok", "warning", "error"]
"""``ok`` needs no change, ``warning`` may be intended, ``error`` must be fixed."""

Part = Literal["url", "app", "registry", "database", "log", "edge"]


class ProbeHop(NamedTuple):
    """One HTTP request of ``ararat doctor`` and its answer.
    Untrusted text is escaped. ``server`` has the fields Via and Server, and the state of a cache (Age, X-Cache).
    """

    method: str
    url: str
    status: int | None
    location: str | None
    server: str | None

    def line(self) -> str:
        """Return the request and its answer as one line for a terminal.

        >>> ProbeHop("GET", "http://a.example/ark:12345/x", 301, "https://a.example/ark:12345/x", "nginx").line()
        'GET http://a.example/ark:12345/x: 301 to https://a.example/ark:12345/x (nginx)'
        """
        answer = "no answer" if self.status is None else str(self.status)
        where = f" to {self.location}" if self.location else ""
        return f"{self.method} {self.url}: {answer}{where}{f' ({self.server})' if self.server else ''}"


class HealthFinding(NamedTuple):
    """The result of one check of ``ararat doctor``: what is right or wrong, and how to fix it.
    ``code`` names the check and never changes; ``shown`` is its label. ``reference`` is the broken rule. ``remedy`` has
    the line of the configuration if it is known. ``sent`` is the identifier of a probe, ``seen`` the received one. In
    ``message``, untrusted text is escaped. ``hops`` are the requests for a bound name.
    """

    part: Part
    code: str
    state: State
    shown: str
    message: str
    remedy: str | None = None
    reference: str | None = None
    sent: str | None = None
    seen: str | None = None
    hops: tuple[ProbeHop, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the result of the check as JSON values, without ``shown`` and the fields that are None."""
        members = self._asdict()
        del members["shown"]
        members["hops"] = [
            {name: value for name, value in hop._asdict().items() if value is not None} for hop in self.hops
        ] or None
        return {name: value for name, value in members.items() if value is not None}


_STYLES: dict[State, Style] = {"ok": "good", "warning": "warning", "error": "error"}
_STATE = 10
_SHOWN = 16


def finding_lines(finding: HealthFinding, sheet: Sheet) -> Iterator[str]:
    r"""Yield the lines of one result of ``ararat doctor`` for a terminal: its state, its label and its message.

    >>> print(*finding_lines(HealthFinding("url", "head", "ok", "HEAD", "The same as GET."), Sheet()), sep="\n")
    ok        HEAD            The same as GET.
    """
    word = sheet.paint(finding.state.ljust(_STATE), _STYLES[finding.state])
    beside = f"{finding.shown.ljust(_SHOWN - 1)} "
    indent = _STATE + len(beside)
    if sheet.width < 60:
        indent = 4
        yield (word + sheet.paint(finding.shown)).rstrip()
        yield from sheet.prose(finding.message, indent=indent)
    else:
        first, *others = sheet.prose(finding.message, indent=indent)
        yield f"{word}{sheet.paint(beside, 'soft')}{first[indent:]}"
        yield from others
    for hop in finding.hops:
        yield from sheet.prose(hop.line(), indent=indent, style="soft")


def summary_lines(findings: Sequence[HealthFinding], sheet: Sheet) -> Iterator[str]:
    """Yield the last lines of ``ararat doctor``: each fix once, with the labels of its findings, then the counts."""
    remedies: dict[str, list[HealthFinding]] = {}
    for finding in findings:
        if finding.remedy is not None:
            remedies.setdefault(finding.remedy, []).append(finding)
    for remedy, asking in remedies.items():
        must = any(finding.state == "error" for finding in asking)
        yield ""
        yield from sheet.prose(
            f"{'To change' if must else 'To consider'}, for {', '.join(dict.fromkeys(each.shown for each in asking))}:",
            style="error" if must else "warning",
        )
        yield from sheet.prose(remedy, indent=4)
        rules = dict.fromkeys(each.reference for each in asking if each.reference)
        if rules:
            yield from sheet.prose(f"({'; '.join(rules)})", indent=4, style="soft")
    counts = {state: sum(finding.state == state for finding in findings) for state in _STYLES}
    warnings = format_count(counts["warning"], "warning")
    yield ""
    if counts["error"]:
        yield from sheet.prose("The page docs/troubleshooting.md lists causes by what you see.", style="soft")
        # One change can fix several findings.
        errors = (finding for finding in findings if finding.state == "error")
        changes = len({finding.remedy or number for number, finding in enumerate(errors)})
        yield from sheet.prose(f"{changes} to change, {warnings}.", style="error")
    else:
        yield from sheet.prose(f"No errors, {warnings}.", style="warning" if counts["warning"] else "good")
