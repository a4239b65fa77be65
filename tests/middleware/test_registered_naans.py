"""Names under a NAAN that nobody is registered for."""

from __future__ import annotations

import io

import pytest

from ararat.middleware import BindingError, import_table
from ararat.middleware.registered_naans import Watched

TABLE = b"identifier,target\nark:12148/a,/1\nark:/54-321/b,/1\nark:98765/c,/1\nark:98765/d,/1\nurn:example:e,/1\n"


def test_each_naan_that_is_neither_registered_nor_ones_own_is_noted_once(bindings) -> None:
    watched = Watched(bindings, own=["98765"])
    assert import_table(watched, io.BytesIO(TABLE)).written
    assert watched.unregistered == ["54321"]
    assert watched.bind("ark:54321/x", "/x") == "bound"
    assert watched.unregistered == ["54321"]
    assert bindings.lookup("ark:54321/b") is not None


def test_strictly_nothing_of_such_a_table_is_written(bindings) -> None:
    watched = Watched(bindings, own=["98765"], strict=True)
    with pytest.raises(BindingError) as refused:
        import_table(watched, io.BytesIO(TABLE))
    assert (refused.value.code, refused.value.identifier) == ("naan-unregistered", "ark:54321/b")
    assert bindings.lookup("ark:12148/a") is None
    with pytest.raises(BindingError):
        watched.bind("ark:54321/x", "/x")
    assert bindings.lookup("ark:54321/x") is None
    assert watched.bind("ark:98765/x", "/x") == "bound"
