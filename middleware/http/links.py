"""The Link fields of a redirect and of a served page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..bindings.model import NOTHING
from ..views.signposting import links_by_metadata, links_of_name

if TYPE_CHECKING:
    from ..resolution.result import Resolution


def describedby(info: str) -> str:
    """Return the value of the Link field that leads from a response to the description of the name (POL-032).

    >>> describedby("/ark:12345/x?info")
    '</ark:12345/x?info>; rel="describedby"'
    """
    return f'<{info}>; rel="describedby"'


def links_of_key(key: str | None, recorded: str, container: str | None, root: str) -> tuple[str, str]:
    """Return the values of the Link fields of a bound name: to its description, and the links for programs.

    - ``key``: the key of the name; ``container``: the key of the name above it that made its binding, or None.
    - ``recorded``: the links of its metadata, as :func:`~ararat.middleware.views.signposting.links_by_metadata`.
    - ``root``: the beginning of links.
    """
    # Each redirect calls this function, so it makes few calls itself.
    address = f"{root}/{key}"
    return (
        f'<{address}?info>; rel="describedby"',
        links_of_name(address, recorded, container and f"{root}/{container}"),
    )


def links_of_resolution(resolution: Resolution, root: str) -> tuple[str, str]:
    """Return the values of the Link fields of the bound name of a resolution, as :func:`links_of_key`."""
    binding = resolution.binding
    recorded = links_by_metadata(NOTHING if binding is None else binding.metadata)
    return links_of_key(resolution.key, recorded, resolution.container, root)
