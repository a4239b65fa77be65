"""``ararat conformance``: test vectors, put to any command that answers them, and our own answers.

The two speak JSON Lines over a pipe, one line for each vector, in order (docs/vectors.md):

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

from . import conformance_answers, streams
from .errors import DONE, FAILURE, NO, Refused, write
from .output import Sheet, words

_LONGEST = 1024 * 1024


class _Vector(NamedTuple):
    id: str
    kind: str
    input: Any
    expect: dict[str, Any]


@click.group("conformance", short_help="Put test vectors to an implementation.")
def conformance_command() -> None:
    """Test vectors of ARKs, URNs, policies and schemes: put to any command, and answered by Ararat."""


@conformance_command.command("answer", short_help="Answer vectors from standard input.")
def answer_command() -> int:
    """Read one JSON object a line (id, kind, input), write one a line (id, result).

    What cannot be answered has an error in place of the result: the kind is unknown, or needs a site.

    Exit code: 0 whatever was asked.
    """
    stream = streams.standard_input()
    while line := stream.readline(_LONGEST + 1):
        streams.dump(_answered(line))
        # Who asks may wait for each answer before the next question.
        sys.stdout.flush()
    return DONE


@conformance_command.command(
    "run", short_help="Put vectors to a command.", context_settings={"ignore_unknown_options": True}
)
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Vectors of this kind alone; repeatable.")
@click.option("--seconds", type=click.IntRange(1, 3600), default=10, show_default=True, help="To wait for each answer.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each vector.")
def run_command(file: str, command: tuple[str, ...], kinds: tuple[str, ...], seconds: int, as_json: bool) -> int:
    """Put the vectors of FILE to COMMAND, which reads and writes JSON Lines, and compare its answers.

    Without --kind, those kinds are put that need neither a site nor the network.

    Exit code: 0 all agree, 1 some do not, 2 FILE holds no vectors, 3 the command cannot be run, or falls silent.

    \b
      ararat conformance run tests/data/vectors.jsonl -- ararat conformance answer
    """
    wanted = set(kinds) or set(conformance_answers.KINDS)
    vectors = [vector for vector in _vectors(file) if vector.kind in wanted]
    if not vectors:
        raise Refused(
            "no vector of these kinds is in the file", ("Expected", ", ".join(sorted(conformance_answers.KINDS)))
        )
    counted: Counter[tuple[str, bool]] = Counter()
    for vector, said in _put(vectors, command, seconds):
        agreed = conformance_answers.agrees(vector.expect, said.get("result"))
        counted[vector.kind, agreed] += 1
        if as_json:
            streams.dump({"id": vector.id, "kind": vector.kind, "agrees": agreed, "expect": vector.expect} | said)
        elif not agreed:
            write(_difference(vector, said))
    failed = sum(count for (_, agreed), count in counted.items() if not agreed)
    if not as_json:
        _summary(counted, len(vectors), failed)
    return NO if failed else DONE


def _answered(line: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(line)
        number, kind, given = asked["id"], asked["kind"], asked["input"]
        if not isinstance(number, str) or not isinstance(kind, str):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        return {"id": None, "error": "this line is no JSON object with id, kind and input"}
    if kind not in conformance_answers.KINDS:
        return {"id": number, "error": "this kind is not answered here"}
    try:
        return {"id": number, "result": conformance_answers.answer(kind, given)}
    except ValueError as error:
        return {"id": number, "error": str(error)}


def _vectors(file: str) -> Iterator[_Vector]:
    with click.open_file(file, "rb") as lines:
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
                raise Refused(f"{file}, line {number:,}: this is no test vector") from None


def _put(
    vectors: Iterable[_Vector], command: tuple[str, ...], seconds: int
) -> Iterator[tuple[_Vector, dict[str, Any]]]:
    """Each vector with what the command said to it, one question at a time."""
    try:
        # No shell: the words are the command's own.
        process = subprocess.Popen([*command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Refused(f"{words(command[0], most=200)} cannot be run: {why}", exit_code=FAILURE) from None
    asked, answers = process.stdin, process.stdout
    if asked is None or answers is None:
        raise Refused("the command has no standard input and output", exit_code=FAILURE)
    said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(answers, said), daemon=True).start()
    try:
        for vector in vectors:
            question = {"id": vector.id, "kind": vector.kind, "input": vector.input}
            with suppress(OSError):
                asked.write(json.dumps(question).encode() + b"\n")
                asked.flush()
            yield vector, _heard(vector, said, seconds)
    finally:
        with suppress(OSError):
            asked.close()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listen(answers: IO[bytes], said: queue.SimpleQueue[bytes]) -> None:
    with answers:
        while line := answers.readline(_LONGEST + 1):
            said.put(line)
    said.put(b"")


def _heard(vector: _Vector, said: queue.SimpleQueue[bytes], seconds: int) -> dict[str, Any]:
    try:
        line = said.get(timeout=seconds)
    except queue.Empty:
        raise Refused(f"{vector.id}: no answer within {seconds} s", exit_code=FAILURE) from None
    if not line:
        raise Refused(f"{vector.id}: the command ended without an answer", exit_code=FAILURE)
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or answer.get("id") != vector.id:
        what = f"{vector.id}: the answer is no JSON object with this id: {words(line[:200].decode('utf-8', 'replace'))}"
        raise Refused(what, exit_code=FAILURE)
    return {name: answer[name] for name in ("result", "error") if name in answer}


def _difference(vector: _Vector, said: dict[str, Any]) -> list[str]:
    sheet = Sheet.of(sys.stdout)
    got = json.dumps(said.get("result", said.get("error")))
    return [
        *sheet.prose(f"{words(vector.id)}  {words(vector.kind)}", style="bad"),
        *sheet.field("Asked", words(json.dumps(vector.input), most=400)),
        *sheet.field("Expected", words(json.dumps(vector.expect), most=400)),
        *sheet.field("Answered", words(got, most=400)),
    ]


def _summary(counted: Counter[tuple[str, bool]], put: int, failed: int) -> None:
    sheet = Sheet.of(sys.stdout)
    for kind in dict.fromkeys(kind for kind, _ in counted):
        agreed = counted[kind, True]
        write(sheet.prose(f"{kind}: {agreed} of {agreed + counted[kind, False]}"))
    write(sheet.prose(f"{put - failed} of {put} agree.", style="bad" if failed else "good"))
