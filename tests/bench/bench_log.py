"""Measure the publication of the log, its proofs, its replay, and binds in a database with and without a log."""

from __future__ import annotations

import itertools
import time
from hashlib import sha256

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import initialize, publish, read_state
from ararat.bindings.log.tree.tiles import hash_reader
from ararat.bindings.log.tree.tree import inclusion_proof
from ararat.bindings.log.verification.monitor import Monitor
from ararat.bindings.log.verification.policy import Party, Policy
from ararat.middleware import import_table, open_bindings

EVENTS = 50_000
ROUNDS = 7
BINDS = 200
TEXT = bytes(100)


def _new(folder, events):
    """Return a database with this number of events that are not published, and its empty log."""
    folder.mkdir()
    table = folder / "names.csv"
    rows = (f"ark:12345/n{n},https://example.org/things/{n},inv. {n},Map {n}\n" for n in range(events))
    table.write_text("".join(["identifier,target,resource,what\n", *rows]), "utf-8")
    bindings = open_bindings(folder / "bindings.sqlite", create=True)
    import_table(bindings, table)
    log = LogFolder(folder / "log")
    initialize(bindings.store, log, folder / "log.key", "example.org/log")
    return bindings, log


def bench_publication(tell, tmp_path):
    """Processor time and elapsed time of all steps, with the disk, beside 12 hashes of 100 bytes for each event."""
    rates = {"12 hashes for each event": [[], []], "ararat log publish": [[], []]}
    for number in range(ROUNDS):
        bindings, log = _new(tmp_path / str(number), EVENTS)
        for name, work in (
            ("12 hashes for each event", lambda: [sha256(TEXT).digest() for _ in range(12 * EVENTS)]),
            ("ararat log publish", lambda: publish(bindings.store, log, tmp_path / str(number) / "log.key")),  # noqa: B023
        ):
            begun, processor = time.perf_counter(), time.process_time()
            work()
            rates[name][0].append(EVENTS / (time.process_time() - processor))
            rates[name][1].append(EVENTS / (time.perf_counter() - begun))
        bindings.close()
    title = f"Publication of {EVENTS:,} events"
    columns = ["events/s of processor time", "events/s"]
    tell(title, columns, rates, "12 hashes for each event", True, "50,000 events/s")


def bench_proofs(tell, tmp_path):
    """A proof of inclusion from the tiles on the disk, without tiles in memory."""
    bindings, log = _new(tmp_path / "log", EVENTS)
    publish(bindings.store, log, tmp_path / "log" / "log.key")
    bindings.close()
    times = []
    for index in range(0, EVENTS, EVENTS // 200):
        begun = time.perf_counter()
        inclusion_proof(index, EVENTS, hash_reader(EVENTS, log.read))
        times.append(1000 * (time.perf_counter() - begun))
    tell("A proof of inclusion", ["ms"], {f"of {EVENTS:,} entries": [times]}, budget="1 ms")


def bench_replay(tell, tmp_path):
    """The replay of a whole log by `ararat monitor`, beside 40 hashes of 100 bytes for each entry."""
    bindings, log = _new(tmp_path / "log", EVENTS)
    publish(bindings.store, log, tmp_path / "log" / "log.key")
    policy = Policy(logs=[Party(key=read_state(bindings.store).key)])
    bindings.close()
    rates = {"40 hashes for each entry": [], "replay": []}
    for _ in range(ROUNDS):
        for name, work in (
            ("40 hashes for each entry", lambda: [sha256(TEXT).digest() for _ in range(40 * EVENTS)]),
            ("replay", lambda: list(Monitor(log, policy).findings())),
        ):
            begun = time.process_time()
            work()
            rates[name].append(EVENTS / (time.process_time() - begun))
    columns = {name: [turns] for name, turns in rates.items()}
    tell(f"Replay of {EVENTS:,} entries", ["entries/s"], columns, "40 hashes for each entry", True, "33,334 entries/s")


def bench_binds_with_a_log(tell, in_turns, tmp_path):
    """Binds in a database with a published log, and in one without a log."""
    with_log, log = _new(tmp_path / "log", 1_000)
    publish(with_log.store, log, tmp_path / "log" / "log.key")
    without = open_bindings(tmp_path / "without.sqlite", create=True)
    import_table(without, tmp_path / "log" / "names.csv")
    databases = {"without a log": without, "with a log": with_log}
    rates = {name: [] for name in databases}
    names = itertools.count()
    for _, name in in_turns(rates, 8):
        begun = time.process_time()
        for _ in range(BINDS):
            databases[name].bind(f"ark:12345/b{next(names)}", "https://example.org/")
        rates[name].append(1e6 * (time.process_time() - begun) / BINDS)
    tell("Binds", ["µs"], {name: [turns] for name, turns in rates.items()}, "without a log", budget="1.0")
    for bindings in databases.values():
        bindings.close()
