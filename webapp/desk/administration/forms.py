"""The fields of the forms for tokens and accounts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ....bindings.names import validation
from ....bindings.names.errors import BindingError
from ....bindings.names.naming import NO_RULES, NamingRules
from ....identifiers.text.translatable import Translatable, sentence
from ...accounts.model import AccountError, read_prefix
from ..forms import FieldProblem

MAX_PREFIXES = 100
"""The maximum number of prefixes in one form."""

# On the desk, these fixes replace the ones for the command line.
_FIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "account-last": Translatable("make another account an administrator first"),
        "account-program": Translatable("use tokens, or make it the account of a person first"),
        "grant-unknown": Translatable("load the page again"),
        "token-unknown": Translatable("load the page again"),
    }
)


def account_problem(error: AccountError) -> FieldProblem:
    """Return the problem to show in a form for an error of accounts: what is wrong, and how to fix it."""
    fix = _FIXES.get(error.code, error.fix)
    return FieldProblem(Translatable("%(problem)s %(fix)s", problem=sentence(error.message), fix=sentence(fix)))


def read_prefixes(text: str, rules: NamingRules = NO_RULES) -> tuple[list[str], FieldProblem | None]:
    r"""Return the prefixes in the lines of a text in normal form, sorted, and None. If a line is wrong, or there are
    more than :data:`MAX_PREFIXES`, return an empty list and the first problem.

    >>> read_prefixes("12345/x5\n\nark:/12345/x-5")
    (['ark:12345/x5'], None)
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_PREFIXES:
        found_more = Translatable.counted("There is %(number)s prefix.", "There are %(number)s prefixes.", len(lines))
        most = Translatable.counted("at most %(number)s prefix", "at most %(number)s prefixes", MAX_PREFIXES)
        return [], FieldProblem(found_more, most)
    found: list[str] = []
    for line in lines:
        try:
            found.append(read_prefix(line, rules))
        except BindingError as error:
            problem = FieldProblem.of(error)
            shown = validation.quote(line, 100)
            if shown in problem.message:
                return [], problem
            message = Translatable("%(prefix)s: %(message)s", prefix=shown, message=error.message).sentence()
            return [], FieldProblem(message, error.expected)
    return sorted({*found}), None
