"""The Link fields of a redirect and of a served page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...bindings.names.binding import NOTHING
from .signposting import links_by_metadata, links_of_name

if TYPE_CHECKING:
    from ..resolution.result import Resolution


def describedby(info: str) -> str:
    """Return the value of the Link field that leads from a response to the description of the name (POL-032).

    >>> describedby("/ark:12345/x?info")
    '</ark:12345/x?info>; rel="describedby"'
    """
    return f'<{info}>; rel="describedby"'


def links_of_resolution(resolution: Resolution, root: str) -> tuple[str, str]:
    """Return the values of the two Link fields of the bound name of a resolution. Links begin with ``root``.

    They are described at :func:`~ararat.middleware.views.signposting.links_of_name`.
    """
    binding, container = resolution.binding, resolution.container
    recorded = links_by_metadata(NOTHING if binding is None else binding.metadata)
    return links_of_name(f"{root}/{resolution.key}", recorded, container and f"{root}/{container}")
