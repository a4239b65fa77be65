"""The page ``/policy`` and ``/api/policy``: check addresses or a sitemap against an IRI policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound, RequestEntityTooLarge

from ...identifiers import iri_policy
from ...identifiers.iri_policy import Profile, Verdict
from ...identifiers.text.translatable import FirstWord, NumberWord, Translatable
from ..config import MAX_BYTES, site
from ..errors import HTTPRefusal
from ..navigation import page_title
from ..report import excerpt
from ..report.excerpt import Line
from ..report.standing import Status
from ..report.verdict import capital
from ..request_body import read_text
from ..responses import as_json, represent, wants_json
from ..sitemaps import SitemapError, addresses

blueprint = Blueprint("policy", __name__)

MAX_JUDGED = 1000
"""Maximum number of addresses in one request."""

_MAX_MESSAGES = 10
_LISTED = 200


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """A row of the table: the result for one address, the namespaces that contain it, and the findings.
    ``said`` contains the severity and the message of each finding.
    """

    line: Line
    status: Status
    verdict: str
    namespaces: str
    said: tuple[tuple[str, str], ...]


@blueprint.route("/policy", methods=["GET", "POST"])
def page() -> Response:
    """Check the addresses in ``q``, a sitemap or one per line, against the policy ``profile``. Without ``q``, show a
    form. With ``complete``, addresses whose parent is not in the list are reported. Without a policy, answer 404.
    """
    if not site().settings.profiles:
        # A policy of another organization is of no use to the users of this site.
        raise NotFound
    asked = request.form if request.method == "POST" else request.args
    text, complete = asked.get("q", ""), bool(asked.get("complete"))
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise RequestEntityTooLarge
    profile = _profile(asked.get("profile"))
    fault, truncated, judged = None, False, []
    try:
        judged, truncated = _evaluate(text, profile, complete)
    except SitemapError as error:
        if wants_json():
            raise _no_sitemap(error) from None
        fault = capital(error.args[0])
    return represent(
        _as_json(profile, judged, truncated),
        "inspector/policy.html",
        fragment="inspector/_policy.html",
        title=page_title(Translatable("Policy %(policy)s", policy=profile.name)),
        text=text,
        complete=complete,
        profile=profile,
        profiles=site().settings.profiles,
        fault=fault,
        most=MAX_JUDGED,
        headline=Translatable("The sitemap cannot be read") if fault else _headline(judged),
        entries=[_entry(verdict) for verdict in judged],
    )


@blueprint.route("/api/policy", methods=["GET", "POST"])
def judged_as_json() -> Response:
    """Check addresses, the query parameter ``q`` or the body of a POST request, against an IRI policy.
    Return JSON. Raises :class:`.HTTPRefusal`: 404 if this site has no policy. The status is 400 for a missing text, an
    unknown policy, or an invalid sitemap.
    """
    if not site().settings.profiles:
        sentence = Translatable(
            "This site checks no addresses, because no IRI policy is set. Set policies in create_app()."
        )
        raise HTTPRefusal(404, "no-policy", sentence)
    text = _body() if request.method == "POST" else request.args.get("q")
    if text is None:
        raise HTTPRefusal(
            400, "parameter-missing", Translatable("The parameter %(name)s is missing. Add it to the query.", name="q")
        )
    profile = _profile(request.args.get("profile"))
    try:
        judged, truncated = _evaluate(text, profile, bool(request.args.get("complete")))
    except SitemapError as error:
        raise _no_sitemap(error) from None
    return as_json(_as_json(profile, judged, truncated))


def _as_json(profile: Profile, judged: list[Verdict], truncated: bool) -> dict[str, Any]:
    found = [{"iri": each.iri, "in_scope": each.in_scope, **each.as_dict()} for each in judged]
    return {"profile": profile.name, "truncated": truncated, "found": found}


def _no_sitemap(error: SitemapError) -> HTTPRefusal:
    return HTTPRefusal(400, "no-sitemap", Translatable("The sitemap cannot be read: %(reason)s.", reason=error.args[0]))


def _body() -> str:
    if (request.content_length or 0) > MAX_BYTES:
        raise RequestEntityTooLarge
    return read_text()


def _profile(name: str | None) -> Profile:
    profiles = site().settings.profiles
    for profile in profiles:
        if name in (None, "", profile.name):
            return profile
    raise HTTPRefusal(
        400,
        "policy-unknown",
        Translatable(
            "This policy is not known here. Known policies: %(policies)s.",
            policies=", ".join(each.name for each in profiles),
        ),
    )


def _evaluate(text: str, profile: Profile, complete: bool) -> tuple[list[Verdict], bool]:
    given = addresses(text, most=MAX_JUDGED + 1)
    judged = iri_policy.evaluate_all(given[:MAX_JUDGED], profile, complete=complete)
    return list(judged), len(given) > MAX_JUDGED


def _headline(judged: list[Verdict]) -> str:
    wrong = sum(not each.allocatable or not each.readable for each in judged)
    number = FirstWord(len(judged))
    if not wrong:
        return Translatable.counted(
            "%(number)s identifier, all can be allocated", "%(number)s identifiers, all can be allocated", number
        )
    return Translatable.counted(
        "%(number)s identifier, must not be allocated",
        "%(number)s identifiers, %(wrong)s must not be allocated",
        number,
        wrong=NumberWord(wrong),
    )


def _entry(verdict: Verdict) -> PolicyResult:
    said = tuple(
        (found.severity, Translatable("%(message)s (%(code)s)", message=found.message, code=found.code))
        for found in verdict.findings[:_MAX_MESSAGES]
    )
    status: Status
    if not verdict.readable:
        status, word = "bad", Translatable("not an IRI")
    elif not verdict.in_scope:
        status, word = "plain", Translatable("not covered by this policy")
    elif not verdict.allocatable:
        status, word = "bad", Translatable("must not be allocated")
    else:
        status, word = "warn" if verdict.findings else "good", Translatable("can be allocated")
    return PolicyResult(excerpt.plain(verdict.iri, _LISTED), status, word, ", ".join(verdict.namespaces), said)
