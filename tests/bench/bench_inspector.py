"""What a page of the inspector costs: the server's time, and what a browser has to load."""

from __future__ import annotations

import gzip
import re

from ararat.webapp import create_app


def bench_page(race, say):
    client = create_app().test_client()
    page = client.get("/?q=ark:/12345/x-5-4/a.b")
    assert page.status_code == 200
    race(
        "the page for one identifier, with werkzeug's test client",
        {
            "an empty page": lambda: client.get("/"),
            "one ARK": lambda: client.get("/?q=ark:/12345/x-5-4/a.b"),
        },
        budget="5,000 us",
    )
    addresses = set(re.findall(r"""(?:src|href)="([^"]*/static/[^"]+)""", page.text))
    assets = {address: len(gzip.compress(client.get(address, buffered=True).data)) for address in addresses}
    say(f"\nall that a page loads, compressed    (budget: 100 kB)\n  {sum(assets.values()) / 1000:12.1f} kB")
