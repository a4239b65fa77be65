"""Measure the lookup of one name in small and large stores, with the file in the page cache."""

from __future__ import annotations

import random
import statistics
import time

from ararat.middleware import open_bindings

TURNS, LOOKUPS = 40, 250


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
