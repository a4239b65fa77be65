"""The Link fields of a redirect and of a served page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..bindings.model import NOTHING
from ..views.signposting import links_of_name

if TYPE_CHECKING:
    from ..resolution.result import Resolution


def describedby(info: str) -> str:
    """Return the value of the Link field that leads from a response to the description of the name (POL-032).

    >>> describedby("/ark:12345/x?info")
    '</ark:12345/x?info>; rel="describedby"'
    """
    return f'<{info}>; rel="describedby"'


def links_of_resolution(resolution: Resolution, root: str) -> tuple[str, str]:
    """Return the values of the Link fields of a bound name: to its description, and the links for programs.

    ``root`` is the beginning of links.
    """
    # Each redirect calls this function, so it makes few calls itself.
    address, binding, container = f"{root}/{resolution.key}", resolution.binding, resolution.container
    recorded = NOTHING if binding is None else binding.metadata
    return f'<{address}?info>; rel="describedby"', links_of_name(address, recorded, container and f"{root}/{container}")
