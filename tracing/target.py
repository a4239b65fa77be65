"""Prepare an identifier for a request to a resolver (ARK draft, section 7.1; decisions R-03 and R-06)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..bindings.names import origins
from ..bindings.names.targets import percent_encoded
from ..identifiers import Ark, EmbeddedArk, IdentifierError, Problem, Urn, parse
from ..identifiers.ark import embedded
from ..identifiers.ark import parser as ark
from ..identifiers.ark.grammar import RESERVED_NAAN
from ..identifiers.problems import problem
from ..identifiers.text import iri
from ..identifiers.text.translatable import Translatable
from .events import Note
from .known_resolvers import ExpectedResolver, expected_of_text, find_resolver

_WITHOUT_IDENTIFIER = ("no-ark-label", "label-in-query")
# Problems of identifiers that are valid but must not be requested (ARK draft, section 3.1; A-07).
_REFUSED = ("naan-reserved-invalid", "dot-segment")
# RFC 3986, section 3.3 and 3.4: the characters of a path, a query and a fragment
_SENDABLE = re.compile(rf"{iri.run(iri.PCHAR + '/?')}(?:#{iri.run(iri.PCHAR + '/?', least=0)})?")


@dataclass(frozen=True, slots=True)
class ResolutionTarget:
    """The parts of an identifier that a trace sends or displays. ``request_path`` is the text after the resolver prefix
    and a slash, with the query, in ASCII, and ``fragment`` is not sent. ``inflection`` is the query with its question
    mark, in normal form, or "". ``notes`` are what the trace removed or changed.
    """

    request_path: str
    fragment: str | None
    inflection: str
    naan: str | None
    expected: ExpectedResolver | None
    notes: tuple[Note, ...]


def prepare(identifier: str, *, normalize: bool, test_naans: Collection[str] = ()) -> ResolutionTarget:
    """Parse an identifier, or a URL that contains it, and return the form in which a trace requests it: as written, or
    ``normalize`` it. Source: ARK draft, section 7.1; ARK-092 to ARK-095.

    A text that begins like an ARK is requested as written, too, if the rest is not valid: its resolver decides. Names
    of ``test_naans`` are requested although they are only for tests (decision X-06). Raises
    :class:`~ararat.identifiers.problems.IdentifierError` if it cannot be parsed or must not be requested.

    >>> prepare("ark:/12-345/c37-0#p", normalize=False).request_path
    'ark:/12345/c37-0'
    >>> prepare("https://n2t.net/ark:/12-345/c37-0", normalize=True).request_path
    'ark:12345/c370'
    """
    try:
        parsed = parse(identifier)
    except IdentifierError as error:
        if (outside := _outside(identifier, error.problem, test_naans)) is not None:
            return outside
        raise
    name: Ark | Urn = parsed.ark if isinstance(parsed, EmbeddedArk) else parsed
    allowed = _REFUSED[:1] if isinstance(name, Ark) and name.normal_naan in test_naans else ()
    if refused := next((each for each in name.problems if each.code in _REFUSED and each.code not in allowed), None):
        raise IdentifierError(identifier, refused)
    written = name.normal_form if normalize else name.text
    # "resolution is only directly applicable to Extended ARKs with no URI fragment"
    written, mark, fragment = written.partition("#")
    notes = []
    if mark:
        notes.append(
            Note(
                "fragment-not-sent",
                Translatable("The fragment is not sent; the browser uses it after the last redirect."),
            )
        )
    if isinstance(name, Ark) and not normalize and "-" in name.naan:
        # remove "-" from the NAAN. By the grammar it is not allowed there in a Basic ARK.
        naan = next(segment for segment in name.segments if segment.part == "naan")
        written = written[: naan.start] + name.naan.replace("-", "") + written[naan.end :]
        text = Translatable("The NAAN is sent without its hyphens (ARK draft, section 4).")
        notes.append(Note("naan-hyphens", text))
    if not written.isascii():
        # "ARKs that contain non-ASCII characters must be percent-encoded before resolution"
        notes.append(
            Note(
                "percent-encoded",
                Translatable("Characters outside of ASCII are sent percent-encoded (ARK draft, section 7.1)."),
            )
        )
    return ResolutionTarget(
        iri.encode(written),
        iri.encode(fragment) if mark else None,
        name.inflection,
        name.normal_naan if isinstance(name, Ark) else None,
        find_resolver(name),
        tuple(notes),
    )


def link_origin(text: str) -> str | None:
    """Return the origin of a URL without an ARK or URN, which a trace can request as it is, or None for other texts.

    >>> link_origin("https://example.org/page?x=1"), link_origin("https://n2t.net/ark:12345/x"), link_origin("x5")
    ('https://example.org', None, None)
    """
    if text[:4].lower() != "http":
        return None
    try:
        parse(text)
    except IdentifierError as error:
        if error.problem.code not in _WITHOUT_IDENTIFIER:
            return None
    else:
        return None
    try:
        text.encode()  # A lone surrogate cannot be sent.
        parts = urlsplit(text)
        return origins.check_prefix(f"{parts.scheme}://{parts.netloc}") if parts.netloc else None
    except ValueError:
        return None


def prepare_link(text: str) -> ResolutionTarget:
    """Return the form in which a URL without an ARK or URN is requested. Call it only if :func:`link_origin` returns an
    origin. Characters that no URI has are percent-encoded, as a browser does.

    >>> prepare_link("https://example.org/my page#top").request_path
    'my%20page'
    """
    parts = urlsplit(text)
    path = percent_encoded(f"{parts.path[1:]}{'?' if parts.query else ''}{parts.query}")
    note = Note("link", Translatable("The address has no ARK or URN, so it is requested as it is."))
    fragment = percent_encoded(parts.fragment) if parts.fragment else None
    return ResolutionTarget(path, fragment, "", None, None, (note,))


def _outside(text: str, found: Problem, test_naans: Collection[str]) -> ResolutionTarget | None:
    """Prepare a text that begins like an ARK but breaks the grammar, as written. Return None for other texts."""
    written = embedded.from_label(text)
    naan = written and ark.naan_at_start(written)
    if not written or not naan:
        return None
    if f"ark:{naan}/" == RESERVED_NAAN and naan not in test_naans:
        raise IdentifierError(text, problem("naan-reserved-invalid", found.start, found.end))
    start = written.index("/", 5)
    sent = iri.encode(written[: 5 if written[4] == "/" else 4] + naan + written[start:])
    if _SENDABLE.fullmatch(sent) is None or iri.has_dot_segment(sent.partition("#")[0].partition("?")[0]):
        return None
    sent, mark, fragment = sent.partition("#")
    why = Translatable("This text is not a valid ARK (%(problem)s); it is sent as written.", problem=found.message)
    note = Note("not-valid", why)
    query = sent.partition("?")
    return ResolutionTarget(
        sent, fragment if mark else None, "".join(query[1:]), naan, expected_of_text(naan, sent), (note,)
    )
