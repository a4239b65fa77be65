"""The command ``trace``: resolve an identifier over HTTP and print each hop when it arrives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ..identifiers import IdentifierError
from ..tracing.events import End, Event
from . import streams
from .errors import DONE, FAILURE, UNREADABLE, UNSPECIFIED, read_name, write
from .options import (
    ALLOW_NETWORK,
    DEFAULT_RESOLVER,
    NETWORK_CODES,
    WholeNumber,
    network_options,
    resolver_option,
    test_naans,
    test_naans_option,
)
from .output import Sheet

if TYPE_CHECKING:
    from ..net.allowed_addresses import Destinations

_CODES = {"success": DONE, "refused": UNREADABLE, "failure": FAILURE, "unspecified": UNSPECIFIED}
_DIFFERENT = 1


@click.command("trace", short_help="Resolve an identifier and show each HTTP request.")
@click.argument("identifier", metavar="ID")
@resolver_option
@click.option(
    "--method",
    type=click.Choice(["GET", "HEAD"], case_sensitive=False),
    default="GET",
    show_default=True,
    help="The HTTP method of every request.",
)
@click.option(
    "--max-redirects",
    type=WholeNumber(),
    metavar="N",
    default=10,
    show_default=True,
    help="Follow at most N redirects, 5 to 20.",
)
@click.option(
    "--compare",
    "other",
    metavar="URL",
    help="Trace with this second resolver too, and compare the results.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON, as in the web API.")
@network_options()
@test_naans_option
def trace_command(
    identifier: str,
    resolver: str | None,
    method: str,
    max_redirects: int,
    other: str | None,
    destinations: Destinations,
    as_json: bool,
) -> int:
    """Resolve the identifier ID by the reference algorithm of the ARK draft.

    Each hop, which is a request with its response, is printed when it arrives.

    Requests go to public addresses at the ports 80 and 443 only. --allow-network permits other networks. A trace of
    a link to an identifier starts at this link. With --resolver, the identifier is resolved there instead.

    Exit code: 0 success, 1 --compare found different targets, 2 ID is not valid, 3 failure, 4 a response that the draft
    does not define.

    \b
      ararat trace ark:/12148/btv1b8449691v
      ararat trace ark:/12148/btv1b8449691v --compare registry
      ararat trace ark:12345/x8rd4 --resolver http://127.0.0.1:8000 --allow-network 127.0.0.0/8
    """
    # The HTTP client loads slowly. Other commands do not need it.
    from ..net.http_client import GuardedClient
    from ..tracing.algorithm import TraceError, trace
    from ..tracing.comparison import compare_ends

    fetch = GuardedClient.to(destinations)
    prefixes = {"--resolver": resolver or _default(identifier)} | ({"--compare": other} if other else {})
    resolvers = [_prefix(each, identifier, option) for option, each in prefixes.items()]
    try:
        # Check both resolvers before the first request.
        runs = [
            trace(
                identifier,
                fetch=fetch,
                resolver=each,
                method=method.upper(),
                max_redirects=max_redirects,
                test_naans=test_naans(),
            )
            for each in resolvers
        ]
    except TraceError as error:
        raise click.UsageError(str(error)) from None
    if not as_json:
        _require_identifier(identifier)
    traces = [_print_events(events, as_json) for events in runs]
    codes = [_CODES[end.outcome] for *_, end in traces if isinstance(end, End)]
    if len(traces) == 1:
        return codes[0]
    compared = compare_ends(*traces)
    if as_json:
        streams.dump(compared.as_dict())
    else:
        sheet = Sheet.of(sys.stdout)
        write(["", *sheet.prose(compared.sentence, style="good" if compared.same else "warning")])
    return codes[0] if compared.same else _DIFFERENT


def _require_identifier(text: str) -> None:
    """Exit with the position of the error if the text cannot be traced. With --json the event has the position."""
    from ..tracing.target import prepare

    try:
        prepare(text, normalize=False, test_naans=test_naans())
    except IdentifierError:
        read_name(text)


def _default(identifier: str) -> str:
    """Return the resolver of a trace without --resolver: that of a link, the official one of ARKs, or that of a URN."""
    from ..tracing.known_resolvers import namespace_of, no_resolver, pasted_prefix, prefix_for

    if (pasted := pasted_prefix(identifier)) is not None:
        return pasted
    if (namespace := namespace_of(identifier)) is None:
        return DEFAULT_RESOLVER
    if (official := prefix_for(identifier)) is None:
        raise click.UsageError(f"{no_resolver(namespace)}; give its URL with --resolver")
    return official


def _prefix(resolver: str, identifier: str, option: str) -> str:
    from ..tracing.known_resolvers import REGISTRY_KEYWORD, prefix_for

    if resolver != REGISTRY_KEYWORD:
        return resolver
    if (official := prefix_for(identifier)) is None:
        raise click.BadParameter("no resolver is known for this identifier; give its URL", param_hint=option)
    return official


def _print_events(events: Iterator[Event], as_json: bool) -> list[Event]:
    """Print the events of a trace when they arrive, and return them all."""
    from .render import traces

    sheet, received = Sheet.of(sys.stdout), []
    for event in events:
        received.append(event)
        if as_json:
            streams.dump(event.as_dict())
        else:
            write(traces.event_lines(event, sheet))
        sys.stdout.flush()
        if isinstance(event, End) and event.code in NETWORK_CODES:
            advice = ALLOW_NETWORK[0].lower() + ALLOW_NETWORK[1:].rstrip(".")
            write(Sheet.of(sys.stderr).prose(f"ararat: {advice}"), to=sys.stderr)
    return received
