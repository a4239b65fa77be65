"""Resolve an identifier on a site without a request: where it leads, with passthrough, rules, holds and delegation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Unpack

from ...bindings.names import naming
from ...bindings.names.corrections import MISTYPED
from ...bindings.names.errors import BindingError
from ...identifiers.suggestions import suggestions
from .negotiation import ANYTHING, Accepted
from .resolver import resolve as resolved
from .result import Resolution
from .settings import Settings, SettingsArguments
from .source import BindingSource, settings_of, source_of

if TYPE_CHECKING:
    from ...bindings.collection import Bindings
    from ...bindings.names.binding import Binding
    from ...identifiers import Ark, EmbeddedArk, Urn

MAX_CORRECTED = 1000
"""The number of characters of an identifier above which no correction is looked up."""


def resolve(
    bindings: Bindings | BindingSource,
    identifier: str | Ark | EmbeddedArk | Urn,
    *,
    accept: str | None = None,
    accept_language: str | None = None,
    **settings: Unpack[SettingsArguments],
) -> Resolution:
    """Return where an identifier leads on a site with these bindings, as :class:`.ResolverMiddleware` answers it.

    - ``identifier``: an ARK or URN in any spelling, with its query; or the address of one at this resolver.
    - ``accept``, ``accept_language``: the header fields of the client, if the choice of a target depends on them.
    - ``settings``: those of the middleware, such as ``prefix``, ``naans`` and ``forward``.

    A refusal, such as 404 for an unknown name, is a result with a ``problem``. Raises BindingsUnavailable if the
    bindings cannot be read, and ValueError for a wrong setting.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings, resolve
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.bind("ark:12345/x5a", "https://example.org/a", passthrough=True)
    'bound'
    >>> found = resolve(b, "ark:/12345/x5a/page1")
    >>> found.status, found.target, found.container
    (302, 'https://example.org/a/page1', 'ark:12345/x5a')
    >>> missing = resolve(b, "ark:12345/x9")
    >>> missing.status, missing.problem.code
    (404, 'not-bound')
    >>> b.close(); folder.cleanup()
    """
    stated = settings_of(bindings, settings)
    given = str(identifier)
    given = stated.own_identifier(given) or given
    return answer_for(given, source_of(bindings), stated, Accepted(accept, accept_language))


def answer_for(
    given: str,
    source: BindingSource,
    settings: Settings,
    accepted: Accepted = ANYTHING,
    fetch: Callable[[Iterable[str]], Mapping[str, Binding]] | None = None,
) -> Resolution:
    """Resolve an identifier as received with the bindings, rules, records and holds of a source. ``fetch`` replaces
    that of the source. Raises BindingsUnavailable.
    """
    return with_hint(
        resolved(
            given,
            fetch or source.fetch,
            source.binding_by_rule,
            settings,
            accepted,
            source.prefix_records,
            source.holds(),
            source.now,
        ),
        source,
    )


def with_hint(resolution: Resolution, source: BindingSource) -> Resolution:
    """Return a resolution unchanged, but the refusal of an unknown or invalid name with ``correction``, the intended
    name. The message of its problem states a probable typing error.
    """
    problem, identifier = resolution.problem, resolution.identifier
    if problem is None or not (problem.code == "not-bound" or resolution.status == HTTPStatus.BAD_REQUEST):
        return resolution
    if identifier is not None and source.is_mistyped(identifier):
        problem = replace(problem, message=MISTYPED)
    return replace(resolution, problem=problem, correction=_correction(resolution.given, identifier, source))


def _correction(given: str, identifier: Ark | Urn | None, source: BindingSource) -> str | None:
    """Return the key of the live name that a text probably means: a damaged copy of it, or with a typing error."""
    if len(given) > MAX_CORRECTED:
        return None
    meant: dict[str, Ark | Urn] = {}
    for each in suggestions(given, guesses=True):
        with suppress(BindingError):
            name = naming.read(each.identifier)
            meant.setdefault(naming.key(name), name)
    bound = source.fetch(list(meant)) if meant else {}
    live = (key for key in meant if key in bound and bound[key].is_live)
    typed = [*([] if identifier is None else [identifier]), *meant.values()]
    return next(live, None) or next(filter(None, map(source.correction, typed)), None)
