"""What it costs to look one name up, among few bindings and among many.

A million is the most unless ARARAT_BENCH_MOST says otherwise: ARARAT_BENCH_MOST=10000000 takes a minute or two and 2 GB
of disk to make.
"""

from __future__ import annotations

import os
import random
import statistics
import time

from ararat.middleware import open_bindings

MOST = int(os.environ.get("ARARAT_BENCH_MOST", "1000000"))
SIZES = [size for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000) if size <= MOST]
TURNS, LOOKUPS = 40, 250


def bench_lookup(tell, plot, filled, name_of):
    stores = {size: open_bindings(filled(size)) for size in SIZES}
    half, slow = ({size: [] for size in SIZES} for _ in range(2))
    draw = random.Random(20201004)  # noqa: S311 - the same names each time
    for turn in range(TURNS + 1):
        for size, bindings in stores.items():
            taken = []
            for number in [draw.randrange(size) for _ in range(LOOKUPS)]:
                key = name_of(number)
                begun = time.thread_time()
                found = bindings.fetch((key,))
                taken.append((time.thread_time() - begun) * 1e6)
                assert found[key].target == f"https://example.org/{number}"
            # The first turn is for the pages of the upper levels of the tree, which are in memory ever after.
            if turn:
                half[size].append(statistics.median(taken))
                slow[size].append(statistics.quantiles(taken, n=100)[-1])
    tell(
        "Look one name up at random, SQLite",
        ["p50 us", "p99 us"],
        {f"among {size:,}": [half[size], slow[size]] for size in SIZES},
        "among 10,000",
        budget="p50 among 10 million at most 1.5 times that among 10,000",
    )
    plot(
        "growth-bindings",
        "One lookup by number of bindings, SQLite",
        "bindings",
        "us",
        {"median": [(size, statistics.median(half[size])) for size in SIZES]},
        tenfold=True,
    )
    for bindings in stores.values():
        bindings.close()
