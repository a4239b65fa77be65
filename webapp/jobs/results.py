"""The result of an import, as the job of the import keeps it."""

from __future__ import annotations

from typing import Any

from ...bindings.imports.summary import Summary

COUNTS = (
    *("added", "unchanged", "updated", "claimed", "relocated", "withdrawn", "reserved"),
    *("rules", "prefixes", "settings"),
)
"""The numbers of lines by outcome."""


def result_of(summary: Summary) -> dict[str, Any]:
    """Return the result of an import for JSON."""
    return {
        "operation": summary.operation,
        "written": summary.written,
        "counts": {name: number for name in COUNTS if (number := getattr(summary, name))},
        "refusals": summary.refusals,
        "refused": [noted._asdict() for noted in summary.refused],
        "warnings": summary.warnings,
        "warned": [noted._asdict() for noted in summary.warned],
    }
