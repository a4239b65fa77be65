"""The command ``conformance``: run test vectors against a command, and answer test vectors.

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
from contextlib import suppress
from typing import IO, Any, NamedTuple

import click

from .. import streams
from ..errors import DONE, FAILURE, NO, CommandError, write
from ..options import WholeNumber
from ..output import Sheet, words

_MAX_LINE = 1024 * 1024


class _Vector(NamedTuple):
    id: str
    kind: str
    input: Any
    expect: dict[str, Any]


@click.group("conformance", short_help="Run test vectors against an implementation.")
def conformance_command() -> None:
    """Run test vectors of ARKs, URNs, policies and schemes against any command, or answer them."""


@conformance_command.command("answer", short_help="Answer vectors from standard input.")
def answer_command() -> int:
    """Read test vectors (id, kind, input) from standard input, and print the answers (id, result) as JSON Lines.

    If a kind is unknown or needs a site, the answer has an error instead of a result.

    Exit code: always 0.
    """
    stream = streams.standard_input()
    while line := stream.readline(_MAX_LINE + 1):
        streams.dump(_answered(line))
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


def _answered(line: bytes) -> dict[str, Any]:
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
    with streams.opened(file) as lines:
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
