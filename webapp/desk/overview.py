"""The first page of the desk."""

from __future__ import annotations

from flask import render_template

from .blueprint import blueprint


@blueprint.get("")
def overview() -> str:
    """Show the overview."""
    return render_template("desk/overview.html")
