"""The command ``conformance``: check a resolver, run test vectors against a command, and answer test vectors.

The protocol is JSON Lines over pipes, one line for each vector, in order (docs/vectors.md):

    {"id": "V132", "kind": "ark-equivalent", "input": ["ark:12345/x", "ark:/12345/x"]}
    {"id": "V132", "result": {"equivalent": true}}
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import click

from .. import streams
from ..errors import DONE, FAILURE, NO, CommandError, write, writing
from ..options import WholeNumber, network_options
from ..output import Sheet, Style, words

if TYPE_CHECKING:
    from ...net.allowed_addresses import Destinations
    from .resolver import RequirementResult

_MAX_LINE = 1024 * 1024


class _Vector(NamedTuple):
    id: str
    kind: str
    input: Any
    expect: dict[str, Any]


class _Group(click.Group):
    """A group whose first argument can also be the address of a resolver."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and "://" in args[0]:
            args = ["resolver", *args]
        return super().parse_args(ctx, args)


@click.group("conformance", cls=_Group, short_help="Check a resolver, or an implementation by test vectors.")
def conformance_command() -> None:
    """Check any resolver by the requests of readers, or any command by test vectors.

    `ararat conformance URL` is `ararat conformance resolver URL`.
    """


@conformance_command.command("resolver", short_help="Check the answers of a resolver.")
@click.argument("url", metavar="URL")
@click.option("--name", metavar="IDENTIFIER", help="A name that is bound there.")
@click.option("--target", metavar="URL", help="The target of the name.")
@click.option("--table", metavar="FILE", help="A table of names with their targets, instead of one name.")
@click.option(
    "--pause",
    type=WholeNumber(0, 60),
    metavar="N",
    default=1,
    show_default=True,
    help="The pause between two requests, in seconds.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each requirement.")
@click.option("--junit", metavar="FILE", help="Write a JUnit report for a build server.")
@click.option("--html", metavar="FILE", help="Write a report as an HTML page.")
@network_options()
def resolver_command(
    url: str,
    name: str | None,
    target: str | None,
    table: str | None,
    pause: int,
    as_json: bool,
    junit: str | None,
    html: str | None,
    destinations: Destinations,
) -> int:
    """Send the requests of readers for a bound name to the resolver at URL, and compare the answers with its target.

    The resolver can be any program. Each row is a requirement of the ARK draft, RFC 8141, draft-kunze-ark or HTTP:
    equal answers for equal spellings, temporary redirects, descriptions, parts, unbound names, negotiation and CORS.
    "advice" is a result that no standard requires. One request is sent at a time, and nothing is written there.

    Exit code: 0 all required answers are right, 1 some are wrong, 66 FILE cannot be read, 69 no answer at URL,
    74 a report cannot be written.

    \b
      ararat conformance https://example.org --name ark:12345/x6np1 --target https://example.org/maps/17
      ararat conformance http://127.0.0.1:8000 --table names.csv --allow-network 127.0.0.0/8 --html report.html
    """
    from ...middleware.http.expected_answers import TEMPORARY, ExpectedAnswer
    from ..sites.junit import JUnitCase, write_junit
    from ..sites.names import expected_names
    from ..sites.requests import RunningSite
    from .report import html_page
    from .resolver import examine

    if (name is None) == (table is None) or (name is None) != (target is None):
        raise click.UsageError("pass --name and --target, or --table")
    site = RunningSite(url, pause=pause, to=destinations)
    results: list[RequirementResult] = []
    with ExitStack() as stack:
        names = [(name, ExpectedAnswer(TEMPORARY, target))] if name else expected_names(table, None, stack)
        for each, expected in names:
            if expected.target is None:
                continue
            for result in examine(site, each, expected):
                results.append(result)
                if as_json:
                    streams.dump(result._asdict())
                else:
                    write(_result_lines(result))
    if not results:
        raise CommandError("the table contains no name with a target", ("Expected", "identifier, target"))
    if junit is not None:
        write_junit(junit, f"conformance of {site.address}", [
            JUnitCase(f"{each.name} {each.code}", each.reference, [each.words] if each.outcome == "fail" else [],
                      [each.request, each.words])
            for each in results
        ])  # fmt: skip
    if html is not None:
        shown = f"ararat conformance {site.address} " + (
            f"--name {name} --target {target}" if name else f"--table {table}"
        )
        _write(html, html_page(site.address, shown, results, datetime.now(UTC)))
    failed = sum(each.outcome == "fail" for each in results)
    if not as_json:
        passed = sum(each.outcome == "pass" for each in results)
        advice = len(results) - passed - failed
        summary = f"{passed} of {len(results)} answers are right, {failed} wrong, {advice} with advice."
        write(Sheet.of(sys.stdout).prose(summary, style="error" if failed else "good"))
    return NO if failed else DONE


def _result_lines(result: RequirementResult) -> Iterator[str]:
    sheet = Sheet.of(sys.stdout)
    style: Style = {"pass": "good", "fail": "error"}.get(result.outcome, "warning")  # type: ignore[assignment]
    yield f"{sheet.paint(result.outcome.ljust(8), style)}{result.reader}: {words(result.words, most=300)}"
    if result.outcome != "pass":
        yield from sheet.prose(words(result.request, most=400), indent=8, style="soft")
        yield from sheet.prose(result.reference, indent=8, style="soft")


def _write(file: str, content: bytes) -> None:
    with writing(file), streams.replace_file(file) as stream:
        stream.write(content)


@conformance_command.command("answer", short_help="Answer vectors from standard input.")
def answer_command() -> int:
    """Read test vectors (id, kind, input) from standard input, and print the answers (id, result) as JSON Lines.

    If a kind is unknown or needs a site, the answer has an error instead of a result.

    Exit code: always 0.
    """
    stream = streams.standard_input()
    while line := stream.readline(_MAX_LINE + 1):
        streams.dump(_answer_line(line))
        # The caller can wait for each answer before it sends the next vector.
        sys.stdout.flush()
    return DONE


@conformance_command.command(
    "run", short_help="Run vectors against a command.", context_settings={"ignore_unknown_options": True}
)
@click.argument("file", metavar="FILE")
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Run vectors of this kind only. Can be repeated.")
@click.option(
    "--seconds",
    type=WholeNumber(1, 3600),
    metavar="N",
    default=10,
    show_default=True,
    help="The time limit for each answer, in seconds.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each vector.")
def run_command(file: str, command: tuple[str, ...], kinds: tuple[str, ...], seconds: int, as_json: bool) -> int:
    """Send the vectors of FILE to COMMAND as JSON Lines, and compare its answers.

    Without --kind, run all kinds that need neither a site nor the network.

    Exit code: 0 all answers agree, 1 some differ, 2 FILE contains no vectors, 3 COMMAND fails or does not answer, 66
    FILE cannot be read.

    \b
      ararat conformance run tests/data/vectors.jsonl -- ararat conformance answer
    """
    from .answers import KINDS, agrees

    chosen_kinds = set(kinds) or set(KINDS)
    vectors = [vector for vector in _vectors(file) if vector.kind in chosen_kinds]
    if not vectors:
        raise CommandError(f"{file} contains no vector of these kinds", ("Expected", ", ".join(sorted(KINDS))))
    counted: Counter[tuple[str, bool]] = Counter()
    for vector, response in _ask(vectors, command, seconds):
        agreed = agrees(vector.expect, response.get("result"))
        counted[vector.kind, agreed] += 1
        if as_json:
            streams.dump({"id": vector.id, "kind": vector.kind, "agrees": agreed, "expect": vector.expect} | response)
        elif not agreed:
            write(_difference(vector, response))
    failed = sum(count for (_, agreed), count in counted.items() if not agreed)
    if not as_json:
        _summary(counted, len(vectors), failed)
    return NO if failed else DONE


def _answer_line(line: bytes) -> dict[str, Any]:
    try:
        vector = json.loads(line)
        number, kind, given = vector["id"], vector["kind"], vector["input"]
        if not isinstance(number, str) or not isinstance(kind, str):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        return {"id": None, "error": "not a JSON object with id, kind and input"}
    from .answers import KINDS, answer

    if kind not in KINDS:
        return {"id": number, "error": "unknown kind, or a kind that needs a site"}
    try:
        return {"id": number, "result": answer(kind, given)}
    except ValueError as error:
        return {"id": number, "error": str(error)}


def _vectors(file: str) -> Iterator[_Vector]:
    with streams.open_input(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                if (
                    not isinstance(row["expect"], dict)
                    or not isinstance(row["id"], str)
                    or not isinstance(row["kind"], str)
                ):
                    raise TypeError
                yield _Vector(row["id"], row["kind"], row["input"], row["expect"])
            except (ValueError, TypeError, KeyError, RecursionError):
                raise CommandError(f"{file}, line {number:,}: not a test vector") from None


def _ask(
    vectors: Iterable[_Vector], command: tuple[str, ...], seconds: int
) -> Iterator[tuple[_Vector, dict[str, Any]]]:
    """Send the vectors to the command one at a time, and yield each with its answer."""
    try:
        # Without a shell, so that the arguments are passed unchanged.
        process = subprocess.Popen([*command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CommandError(f"cannot run {words(command[0], most=200)}: {why}", exit_code=FAILURE) from None
    questions, answers = process.stdin, process.stdout
    if questions is None or answers is None:
        raise CommandError("the command has no standard input and output", exit_code=FAILURE)
    received: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(answers, received), daemon=True).start()
    try:
        for vector in vectors:
            question = {"id": vector.id, "kind": vector.kind, "input": vector.input}
            with suppress(OSError):
                questions.write(json.dumps(question).encode() + b"\n")
                questions.flush()
            yield vector, _response(vector, received, seconds)
    finally:
        with suppress(OSError):
            questions.close()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listen(answers: IO[bytes], received: queue.SimpleQueue[bytes]) -> None:
    with answers:
        while line := answers.readline(_MAX_LINE + 1):
            received.put(line)
    received.put(b"")


def _response(vector: _Vector, received: queue.SimpleQueue[bytes], seconds: int) -> dict[str, Any]:
    try:
        line = received.get(timeout=seconds)
    except queue.Empty:
        raise CommandError(f"{vector.id}: no answer within {seconds} s", exit_code=FAILURE) from None
    if not line:
        raise CommandError(f"{vector.id}: the command ended without an answer", exit_code=FAILURE)
    try:
        response = json.loads(line)
    except (ValueError, RecursionError):
        response = None
    if not isinstance(response, dict) or response.get("id") != vector.id:
        what = f"{vector.id}: not a JSON object with this id: {words(line[:200].decode('utf-8', 'replace'))}"
        raise CommandError(what, exit_code=FAILURE)
    return {name: response[name] for name in ("result", "error") if name in response}


def _difference(vector: _Vector, response: dict[str, Any]) -> list[str]:
    sheet = Sheet.of(sys.stdout)
    got = json.dumps(response.get("result", response.get("error")))
    return [
        *sheet.prose(f"{words(vector.id)}  {words(vector.kind)}", style="error"),
        *sheet.field("Input", words(json.dumps(vector.input), most=400)),
        *sheet.field("Expected", words(json.dumps(vector.expect), most=400)),
        *sheet.field("Answer", words(got, most=400)),
    ]


def _summary(counted: Counter[tuple[str, bool]], total: int, failed: int) -> None:
    sheet = Sheet.of(sys.stdout)
    for kind in dict.fromkeys(kind for kind, _ in counted):
        agreed = counted[kind, True]
        write(sheet.prose(f"{kind}: {agreed} of {agreed + counted[kind, False]}"))
    write(sheet.prose(f"{total - failed} of {total} agree.", style="error" if failed else "good"))
