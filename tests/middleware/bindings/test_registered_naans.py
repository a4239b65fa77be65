"""Names under a NAAN that nobody is registered for."""

from __future__ import annotations

import io

import pytest

from ararat.middleware import BindingError, import_table
from ararat.middleware.bindings.registered_naans import RegisteredNaans

TABLE = b"identifier,target\nark:12148/a,/1\nark:/54-321/b,/1\nark:98765/c,/1\nark:98765/d,/1\nurn:example:e,/1\n"


def test_each_unregistered_naan_is_noted_once(bindings) -> None:
    bindings.check_change = naans = RegisteredNaans(bindings.check_change, own=["98765"])
    assert import_table(bindings, io.BytesIO(TABLE)).written
    assert naans.unregistered == ["54321"]
    assert bindings.bind("ark:54321/x", "/x") == "bound"
    assert naans.unregistered == ["54321"]
    assert bindings.lookup("ark:54321/b") is not None


def test_strict_writes_nothing_of_a_table_with_an_unregistered_naan(bindings) -> None:
    bindings.check_change = RegisteredNaans(bindings.check_change, own=["98765"], strict=True)
    summary = import_table(bindings, io.BytesIO(TABLE))
    assert not summary.written
    assert [(noted.line, noted.code) for noted in summary.refused] == [(3, "naan-unregistered")]
    assert bindings.lookup("ark:12148/a") is None
    with pytest.raises(BindingError, match="NAAN 54321 is not registered"):
        bindings.bind("ark:54321/x", "/x")
    assert bindings.lookup("ark:54321/x") is None
    assert bindings.bind("ark:98765/x", "/x") == "bound"
