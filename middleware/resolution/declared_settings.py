"""Declare settings once: the fields of a dataclass, each with its default, its text and its option. The arguments,
docstrings, options and variables of the resolver and of the inspector, and docs/settings.md, come from them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, field, fields
from difflib import get_close_matches
from typing import Any, NamedTuple


def setting(
    default: Any = None,
    text: str = "",
    details: str = "",
    *,
    metavar: str | None = None,
    shown: str | None = None,
    factory: Callable[[], Any] | None = None,
    is_secret: bool = False,
    option: str | None = None,
    choices: tuple[str, ...] = (),
    limits: tuple[int, int] | None = None,
) -> Any:
    """Declare a setting: its default and its description. The result is a field of a dataclass.

    - ``text``: what the setting does, for ``ararat serve``, docstrings and docs/settings.md. ``details``: further
      sentences, for the last two.
    - ``metavar``: the name of the value of the option. Without it, only a bool, and a setting with ``choices``, has an
      option.
    - ``shown``: the default in words. ``limits``: the least and the largest number that the option permits.
    - ``factory``: a function that creates a default that can be changed, such as a list.
    - ``option``: the name of the option, if it is not that of the setting. ``is_secret``: left out of ``repr()``.
    """
    metadata = {"text": text, "details": details, "metavar": metavar, "shown": shown}
    metadata |= {"option": option, "choices": choices, "limits": limits}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, repr=not is_secret, metadata=metadata)


class SettingDescription(NamedTuple):
    """The description of a setting in texts for people. The others are arguments of :func:`setting`."""

    name: str
    type: str
    default: str
    text: str
    details: str
    metavar: str | None
    option: str
    choices: tuple[str, ...]
    limits: tuple[int, int] | None
    value: Any

    @property
    def is_list(self) -> bool:
        """Whether the setting can have several values."""
        return any(kind in self.type for kind in ("Iterable[", "Collection[", "Sequence["))

    @property
    def has_option(self) -> bool:
        """Whether ``ararat serve`` has an option for it."""
        return bool(self.metavar or self.choices) or (self.type == "bool" and self.metavar is None)


_TYPES = {
    "Collection[str | OwnScheme]": "collection of str and OwnScheme",
    "bool | Iterable[str]": "bool or list of str",
    "Mapping[str, WSGIApplication]": "mapping of str to WSGI application",
    "Callable[[End], object] | None": "function or None",
}


def describe_settings(settings: type) -> Iterator[SettingDescription]:
    """Yield the description of each setting of a class that declares settings, in the order of its declarations.

    >>> from ararat.middleware.resolution.settings import Settings
    >>> next(describe_settings(Settings))[:3]
    ('prefix', 'str | None', 'none')
    """
    for each in fields(settings):
        if each.init:
            value = None if each.default is MISSING else each.default
            default = each.metadata["shown"]
            if default is None:
                default = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value or "none")
            stated = {name: each.metadata[name] for name in ("text", "details", "metavar", "choices", "limits")}
            option = each.metadata["option"] or f"--{each.name.replace('_', '-')}"
            yield SettingDescription(
                name=each.name, type=str(each.type), default=default, option=option, value=value, **stated
            )


def parameters(settings: type) -> str:
    """Return the lines ``:param NAME: TYPE, default DEFAULT. TEXT`` for the docstring of a function or class."""
    lines: list[str] = []
    for each in describe_settings(settings):
        kind = _TYPES.get(each.type) or each.type.replace(" | ", " or ").replace("[", " of ").replace("]", "").replace(
            "str, str", "str to str"
        )
        start = f":param {each.name}: {kind[:1].lower()}{kind[1:]}, default {each.default}."
        texts = f"{start} {each.text} {each.details}".rstrip()
        lines += textwrap.wrap(texts, 120, initial_indent="    ", subsequent_indent=" " * 8, break_on_hyphens=False)
    return "\n".join(lines).lstrip()


def require_known(arguments: Iterable[str], settings: type) -> None:
    """Raise TypeError with the most similar setting if one of the names is not a field of ``settings``.

    >>> from .settings import Settings
    >>> require_known(["prefix", "max_lenght"], Settings)
    Traceback (most recent call last):
    TypeError: there is no setting max_lenght; did you mean max_length?
    """
    known = [each.name for each in fields(settings) if each.init]
    for name in arguments:
        if name not in known:
            close = get_close_matches(name, known, 1)
            raise TypeError(f"there is no setting {name}" + (f"; did you mean {close[0]}?" if close else ""))
