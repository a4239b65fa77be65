"""The command ``check --trace``: resolve many identifiers over HTTP, and keep results to resume from."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, assert_never

import click

from ...identifiers.report import OFFICIAL_PREFIX
from ...identifiers.text import display
from ...tracing.bulk import CSV_HEADER, GOOD, OPEN, VERDICTS, BulkTraceRow, trace_all
from ...tracing.events import Event
from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, NO, NO_INPUT, CommandError, write, writing
from ..options import ALLOW_NETWORK, NETWORK_CODES, test_naans
from ..output import Sheet, Style, identifier
from ..progress import Progress

if TYPE_CHECKING:
    from ...middleware import Bindings
    from ...net.allowed_addresses import Destinations
    from ...net.retry_after import RetryAfter
    from ...tracing.own_names import OwnNames

Form = Literal["text", "csv", "json"]
"""The form of the results."""

_AT_ONCE = 8
_WIDTH = 13


def check_by_trace(
    file: str | None,
    database: str | None,
    form: Form,
    *,
    resume: str | None,
    resolver: str | None,
    prefix: str | None,
    destinations: Destinations,
    pause: float,
) -> int:
    """Resolve many identifiers over HTTP, print each result, and return the exit code of ``check --trace``.

    The identifiers are those in ``file``, one a line, or the names of ``database`` that are not withdrawn. Without a
    ``resolver`` (prefix), ``database`` resolves its own names, n2t.net other ARKs, and the usual resolver other URNs.
    ``resume`` is the file of the results, to continue after an interruption. ``prefix`` is the address of this site.
    ``pause`` is the time between two requests to the same host, in seconds.
    """
    from ...net.http_client import GuardedClient
    from ...net.retry_after import RetryAfter
    from ...net.throttle import PausableClock, PerHostThrottle
    from ...tracing.algorithm import TraceError, refused_trace, trace
    from ...tracing.known_resolvers import REGISTRY_KEYWORD, namespace_of, no_resolver, prefix_for
    from ...tracing.own_names import OwnNames

    if file is None and database is None:
        raise click.UsageError("no identifiers are given; give FILE, - or --database URL")
    stop = threading.Event()
    retry_after = RetryAfter()
    fetch = retry_after.wrap(GuardedClient.to(destinations, stop=stop))
    throttle = PerHostThrottle(pause, stop=stop)

    own: OwnNames | None = None
    resolvers: dict[str, str] = {}

    def run(text: str) -> Iterable[Event]:
        clock = PausableClock()
        polite = throttle.wrap(fetch, clock)
        chosen, ask = OFFICIAL_PREFIX, polite
        if resolver is not None and resolver != REGISTRY_KEYWORD:
            chosen = resolver
        elif resolver is None and own is not None and own.knows(text):
            chosen, ask = own.prefix, own.asking(polite)
        elif (namespace := namespace_of(text)) is not None:
            if (official := prefix_for(text)) is None:
                return refused_trace(text, f"N{no_resolver(namespace)[1:]}; give its URL with --resolver.")
            chosen = official
        elif resolver == REGISTRY_KEYWORD:
            chosen = prefix_for(text) or OFFICIAL_PREFIX
        if resolver in (None, REGISTRY_KEYWORD):
            resolvers[text] = chosen if ask is polite else "the database"
        return trace(text, fetch=ask, resolver=chosen, clock=clock, test_naans=test_naans())

    try:
        if resolver not in (None, REGISTRY_KEYWORD):
            # Report an invalid resolver before anything else is done.
            trace("ark:12345/x", fetch=fetch, resolver=resolver)
    except TraceError as error:
        raise click.UsageError(str(error)) from None
    with ExitStack() as open_files:
        earlier, result_file = open_files.enter_context(_result_file(resume)) if resume else ([], None)
        bindings: Any = None
        if database is not None and (file is None or resolver is None):
            bindings = open_files.enter_context(open_store(database, reading=True))
            own = OwnNames(bindings, prefix)
            open_files.enter_context(_kept_pauses(bindings, retry_after))
        texts = dict.fromkeys(_of_file(file) if file is not None else _of_database(bindings))
        result = _Result(form, len({*texts, *(each.identifier for each in earlier)}))
        for each in earlier:
            result.add(each)
            texts.pop(each.identifier, None)
        rows = open_files.enter_context(closing(trace_all(texts, run, at_once=_AT_ONCE, stop=stop)))
        try:
            for each in rows:
                if each.code == "not-asked" and prefix is None:
                    each = replace(each, sentence=f"{each.sentence} To set it, pass --prefix URL.")
                if result_file is not None:
                    with writing(resume or ""):
                        result_file.write(json.dumps(each.as_dict()) + "\n")
                        result_file.flush()
                result.add(each, resolvers.get(each.identifier))
        except KeyboardInterrupt:
            stop.set()
            result.end()
            fix = f"; run the same command to continue from {display.escape(resume)}" if resume else ""
            sys.stderr.write(f"ararat: interrupted{fix}\n")
            raise
        result.end()
    return NO if result.failed else DONE


@contextmanager
def _kept_pauses(bindings: Bindings, retry_after: RetryAfter) -> Iterator[None]:
    """Keep the pauses that hosts asked for in a database, so that the next command sends them no request before."""
    from ...bindings.names.errors import BindingsUnavailable, ReadOnlyBindings
    from ...tracing.links.store import Links

    if bindings.kind != "database":
        yield
        return
    links = Links(bindings)
    for host, seconds in links.pauses().items():
        retry_after.pause(host, seconds)
    try:
        yield
    finally:
        with suppress(BindingsUnavailable, ReadOnlyBindings):
            links.record_pauses(retry_after.remaining)


class _Result:
    """Prints each result when it arrives, and counts the verdicts."""

    def __init__(self, form: Form, total: int) -> None:
        self.form: Form = form
        self.total = total
        self.counts: Counter[str] = Counter()
        self.resolvers: Counter[str] = Counter()
        self.failed = 0
        self.sheet = Sheet.of(sys.stdout)
        # If the rows are printed to the same terminal, they show the progress.
        self.progress = Progress(shown=not sys.stdout.isatty())
        if form == "csv":
            sys.stdout.write(CSV_HEADER)

    def add(self, each: BulkTraceRow, resolver: str | None = None) -> None:
        """Print one result. ``resolver`` is its resolver, if the user did not name one."""
        if resolver is not None and each.hops:
            self.resolvers[resolver] += 1
        self.counts[each.verdict] += 1
        self.counts["downgraded"] += each.downgraded
        self.failed += not each.ok
        match self.form:
            case "json":
                streams.dump(each.as_dict())
            case "csv":
                sys.stdout.write(each.as_csv())
            case "text":
                write(_lines(each, self.sheet))
            case _:
                assert_never(self.form)
        sys.stdout.flush()
        self.progress.show(f"{self._count_traced():,} of {self.total:,} traced")

    def end(self) -> None:
        """Clear the progress, and print the count of each verdict and resolver."""
        self.progress.clear()
        if self.form == "text":
            listed = [f"{self.counts[word]:,} {word}" for word in (*VERDICTS, "downgraded") if self.counts[word]]
            write(self.sheet.prose(f"{self._count_traced():,} traced{': ' if listed else ''}{', '.join(listed)}."))
            if self.resolvers:
                chosen = ", ".join(f"{resolver} for {times:,}" for resolver, times in sorted(self.resolvers.items()))
                write(self.sheet.prose(f"Resolver: {chosen}."))

    def _count_traced(self) -> int:
        return self.counts.total() - self.counts["downgraded"]


def _lines(each: BulkTraceRow, sheet: Sheet) -> Iterator[str]:
    style: Style = "good" if each.ok else "warning" if each.verdict in OPEN else "error"
    yield f"{sheet.paint(each.verdict.ljust(_WIDTH), style)}{sheet.paint(identifier(each.identifier))}"
    if each.verdict not in GOOD:
        yield from sheet.prose(each.sentence, indent=_WIDTH, style="soft")
        if each.code in NETWORK_CODES:
            yield from sheet.prose(ALLOW_NETWORK, indent=_WIDTH, style="soft")
        return
    yield from sheet.prose(f"-> {identifier(each.url or '')}", indent=_WIDTH, style="soft")
    if each.downgraded:
        yield from sheet.prose("A redirect leads from https to http.", indent=_WIDTH, style="warning")


def _of_file(file: str) -> list[str]:
    return [item.text.strip() for item in streams.lines(file)]


def _of_database(bindings: Bindings) -> list[str]:
    # Read all names at once. Tracing takes hours, and a snapshot must not stay open that long.
    with bindings.store.snapshot() as snapshot:
        return [binding.identifier for binding in snapshot.bindings() if binding.status != "withdrawn"]


@contextmanager
def _result_file(name: str) -> Iterator[tuple[list[BulkTraceRow], TextIO]]:
    """Yield the results of an earlier run and the file to append to. Results with the verdict undone are dropped."""
    path = Path(name)
    try:
        content = path.read_bytes() if path.exists() else b""
        # A process that was killed while writing leaves an incomplete line.
        whole = content[: content.rfind(b"\n") + 1]
        results = [_read(line, number, name) for number, line in enumerate(whole.splitlines(), 1)]
        # An overloaded host may answer now.
        earlier = [each for each in results if each.verdict not in ("undone", "unclear")]
        if len(whole) < len(content) or len(earlier) < len(results):
            # The results took hours. They must survive a kill and a full disk at any moment.
            with writing(name), streams.replace_file(name) as new:
                new.writelines(f"{json.dumps(each.as_dict())}\n".encode("ascii") for each in earlier)
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror or error}", exit_code=NO_INPUT) from None
    with writing(name):
        stream = path.open("a", encoding="ascii")
    try:
        yield earlier, stream
    finally:
        # After a failure, the rest of the buffer cannot be written either.
        with suppress(OSError):
            stream.close()


def _read(line: bytes, number: int, name: str) -> BulkTraceRow:
    try:
        return BulkTraceRow.of_dict(json.loads(line))
    except (ValueError, RecursionError) as error:
        is_json = not isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError)
        why = str(error) if is_json else "not JSON"
        expected = "the output of `ararat check --trace` with --json or --resume"
        raise CommandError(f"{name}, line {number}: {why}", ("Expected", expected)) from None
