"""Shared fixtures: settings of a resolver with metrics, and the numbers that it publishes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.test import Client

from ararat.middleware import Bindings, ResolverMiddleware, import_table, open_bindings

Numbers = dict[tuple[str, ...], float]

TABLE = b"""identifier,target,kind,passthrough
ark:12345/x1,https://example.org/1,,
ark:12345/x2,/page,served,
ark:12345/x3,,described,
ark:12345/x4,https://example.org/4,related,
ark:12345/c,https://example.org/c,,yes
ark:67890/y,https://example.org/y,,
urn:isbn:9780451450524,https://example.org/isbn,,
"""


@pytest.fixture(scope="session")
def site() -> Any:
    """A WSGI application."""

    def answer(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"the site"]

    return answer


@pytest.fixture(scope="session")
def authorized() -> Mapping[str, str]:
    """The header fields of a client with the token."""
    return {"Authorization": "Bearer a-token-of-the-tests"}


@pytest.fixture(scope="session")
def metrics(tmp_path_factory: pytest.TempPathFactory, authorized: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of a resolver with metrics."""
    path: Path = tmp_path_factory.mktemp("metrics") / "token"
    path.write_text(authorized["Authorization"].removeprefix("Bearer ") + "\n", "utf-8")
    return {"metrics": "/metrics", "metrics_token_file": str(path)}


@pytest.fixture(scope="session")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bindings]:
    """Names of all kinds, below a shoulder with a record, in a NAAN with a rule, and others."""
    with open_bindings(tmp_path_factory.mktemp("metrics") / "b.sqlite", create=True) as opened:
        import_table(opened, io.BytesIO(TABLE))
        opened.prefixes.set("ark:12345/x", what="Maps")
        opened.rules.set("ark:54321/", "https://example.org/${content}")
        yield opened


@pytest.fixture(scope="session")
def client(site: Any, names: Bindings, metrics: Any) -> Client:
    return Client(ResolverMiddleware(site, names, prefix="https://r.example", **metrics))


@pytest.fixture(scope="session")
def read() -> Callable[[str], Numbers]:
    """read(text) returns the samples of a page of metrics, by the name and the values of the labels."""

    def parsed(text: str) -> Numbers:
        samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
        return {(sample.name, *sample.labels.values()): sample.value for sample in samples}

    return parsed


@pytest.fixture
def grown(client: Client, authorized: Mapping[str, str], read: Callable[[str], Numbers]) -> Callable[[str], Numbers]:
    """grown(name) returns by how much the samples of a metric have grown since the test began, by their labels.

    All resolvers of a process share its metrics, so that tests cannot compare the numbers themselves.
    """
    before = read(client.get("/metrics", headers=dict(authorized)).text)

    def difference(name: str) -> Numbers:
        now = read(client.get("/metrics", headers=dict(authorized)).text)
        of_name = {key: value for key, value in now.items() if key[0] == name}
        return {key[1:]: value - before.get(key, 0) for key, value in of_name.items() if value != before.get(key, 0)}

    return difference
