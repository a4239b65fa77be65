"""Fixtures of bindings in memory, without a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ararat.bindings.names.binding import Binding
from ararat.bindings.names.metadata import metadata
from ararat.middleware import BindingSource


class Held(BindingSource):
    """Bindings in memory. `asked` contains the keys of each lookup."""

    def __init__(self, *bindings: Binding) -> None:
        self._bindings = {binding.identifier: binding for binding in bindings}
        self.asked: list[list[str]] = []

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        self.asked.append(list(keys))
        return {key: self._bindings[key] for key in self.asked[-1] if key in self._bindings}


@pytest.fixture(scope="session")
def binding() -> Callable[..., Binding]:
    """binding(identifier, target, **fields) creates a Binding like a store. The default is located and live."""

    def make(identifier: str, target: str | None = None, **fields: object) -> Binding:
        kind = "located" if target else "described"
        usual = {
            "kind": kind,
            "status": "live",
            "redirect": 302,
            "listed": True,
            "resource": None,
            "passthrough": False,
            "scope": "name",
        }
        usual |= {
            "alternates": {},
            "metadata": {},
            "reason": None,
            "successor": None,
            "spelling": identifier,
            "created": datetime(2026, 10, 4, 12, tzinfo=UTC),
            "changed": datetime(2026, 10, 4, 12, tzinfo=UTC),
            "revision": 1,
        }
        made = Binding(identifier=identifier, target=target, **usual | fields)  # type: ignore[arg-type]
        full = {metadata.full_name(name): text for name, text in made.metadata.items()}
        return replace(made, metadata=full)

    return make


@pytest.fixture(scope="session")
def held() -> type[Held]:
    """held(*bindings) returns bindings in memory."""
    return Held
