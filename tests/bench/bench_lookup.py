"""Measure the lookup of one name in small and large stores, with the file in the page cache."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path
from runpy import run_path

from ararat.bindings.open import database_at
from ararat.bindings.storage.store import create_database
from ararat.middleware import open_bindings

filling = run_path(str(Path(__file__).with_name("filling.py")))

TURNS, LOOKUPS = 40, 250
PARTITIONS, PARTITIONED = (0, 8, 32, 64), 100_000


def bench_lookup(tell, plot, filled, name, most, in_turns):
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000) if size <= most]
    stores = {size: open_bindings(filled(size), create=True) for size in sizes}
    medians, slowest = ({size: [] for size in sizes} for _ in range(2))
    draw = random.Random(20201004)  # noqa: S311 - the same names each time
    for turn, size in in_turns(sizes, TURNS + 1):
        taken = []
        for number in [draw.randrange(size) for _ in range(LOOKUPS)]:
            key = name % number
            begun = time.perf_counter()
            found = stores[size].fetch((key,))
            taken.append((time.perf_counter() - begun) * 1e6)
            assert found[key].target == f"https://example.org/{number}"
        # The first turn loads the pages of the upper levels of the tree into memory.
        if turn:
            medians[size].append(statistics.median(taken))
            slowest[size].append(statistics.quantiles(taken, n=100)[-1])
    tell(
        "Look up one random name, SQLite, file in the page cache",
        ["p50 us", "p99 us"],
        {f"among {size:,}": [medians[size], slowest[size]] for size in sizes},
        "among 10,000",
        budget="p50 among 10 million at most 1.5 times that among 10,000, which is 0.67 here",
    )
    plot(
        "growth-bindings",
        "One lookup by number of bindings, SQLite",
        "bindings",
        "us",
        {"median": [(size, statistics.median(medians[size])) for size in sizes]},
        tenfold=True,
    )
    for bindings in stores.values():
        bindings.close()


def bench_partitions(tell, cluster, in_turns, on_one_processor):
    stores = {}
    for partitions in PARTITIONS:
        url = cluster.new_schema()
        create_database(database_at(url), partitions=partitions)
        filling["fill"](url, 0, PARTITIONED)
        stores[partitions] = open_bindings(url)
    hits, misses = ({partitions: [] for partitions in stores} for _ in range(2))
    draw = random.Random(20201004)  # noqa: S311 - the same names each time
    with on_one_processor(cluster):
        for turn, partitions in in_turns(stores, TURNS + 1):
            keys = [filling["key"](draw.randrange(PARTITIONED)) for _ in range(LOOKUPS // 5)]
            # The containers and variants of an unknown name, which are looked up with one statement.
            above = [[f"{key}x/a/b.c", f"{key}x/a/b", f"{key}x/a", f"{key}x"] for key in keys]
            for turns, asked, expected in ((hits, [[key] for key in keys], 1), (misses, above, 0)):
                taken = []
                for wanted in asked:
                    begun = time.perf_counter()
                    found = stores[partitions].fetch(wanted)
                    taken.append((time.perf_counter() - begun) * 1e6)
                    assert len(found) == expected
                if turn:
                    turns[partitions].append(statistics.median(taken))
    for title, turns in (("one name", hits), ("four names that are not bound", misses)):
        rows = {f"{partitions} partitions" if partitions else "one table": [turns[partitions]] for partitions in stores}
        budget = "1 / 1.3 = 0.77 of one table"
        tell(f"Look up {title}, PostgreSQL, {PARTITIONED:,} names", ["p50 us"], rows, "one table", budget=budget)
    for bindings in stores.values():
        bindings.close()
