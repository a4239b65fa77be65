"""Test the public values of the middleware: immutable, with names for all arguments, and complete as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from ararat.middleware import Binding, Resolution

NAME = "ark:12345/x6np1"


@pytest.mark.parametrize("kind", [Binding, Resolution])
def test_every_argument_needs_its_name(kind: type[Binding | Resolution]) -> None:
    with pytest.raises(TypeError, match="positional"):
        kind(NAME)  # type: ignore[call-arg, misc]


def test_no_field_can_be_set(binding: Callable[..., Binding]) -> None:
    with pytest.raises(FrozenInstanceError):
        binding(NAME).target = "/other"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        Resolution(given=NAME, status=404, outcome="refused").status = 200  # type: ignore[misc]


def test_the_json_of_a_binding_has_all_fields(binding: Callable[..., Binding]) -> None:
    assert list(binding(NAME).as_dict()) == [field.name for field in fields(Binding) if field.compare]


def test_equal_bindings_have_one_hash(binding: Callable[..., Binding]) -> None:
    first = binding(NAME, "/a", metadata={"who": "A"})
    assert hash(first) == hash(replace(first)) != hash(replace(first, revision=2))
