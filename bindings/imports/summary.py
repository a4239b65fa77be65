"""The result of an import or a dry run: the numbers of lines, their effects, their errors and their warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..names.binding import Binding
from ..names.error_codes import ErrorCode, error_code
from ..tables.other_rows import OtherRow
from ..tables.text_stream import ReadAs

MAX_LISTED = 100
"""The maximum number of listed lines for each outcome. All lines are counted."""


class ImportEffect(NamedTuple):
    """The effect of one line of an imported table on its name.

    - ``outcome``: what the line does, such as "added" or "relocated".
    - ``before``: None for a new name. ``after``: for the outcome "set", the parsed rule, prefix record or counter.
    - ``minted``: whether the name is new and was drawn for this line. A dry run draws names that are not kept.
    """

    line: int
    outcome: str
    before: Binding | None
    after: Binding | OtherRow
    minted: bool = False


class NotedLine(NamedTuple):
    """A line of an imported table that has an error or a warning. ``identifier`` is the text in its column
    "identifier", or else its resource, cut after 100 characters.
    """

    line: int
    identifier: str
    code: str
    message: str

    @property
    def entry(self) -> ErrorCode:
        """The description of the error or warning in the catalogue: its title and what is expected."""
        return error_code(self.code)


Report = Callable[[str, NotedLine, Mapping[str, str]], object]
"""A callback with "refused" or "warning", the line, and its cells."""

Effect = Callable[[ImportEffect], object]
"""A callback with the effect of each line without an error, also of a line that changes nothing."""


Expect = Callable[[ImportEffect], str | None]
"""A callback with the effect of each line without an error. It returns why the line is refused, or None."""


@dataclass(slots=True)
class Summary:
    """The result of an import or a dry run. Most fields are numbers of lines; the lists have the first hundred.

    - ``added``: new public names. ``unchanged``: names whose values are recorded already.
    - ``published``: reserved names that become public, because their line has the status "live".
    - ``updated``, ``claimed``, ``relocated``: names with new metadata, with a first resource, with a new place.
    - ``minted``: new names of lines without a name. They are counted as added or reserved too.
    - ``reserved``, ``rules``, ``prefixes``, ``settings``: new reserved names, rules, prefix records and counters.
    - ``refusals``: the number of lines with an error; ``refused``: the first of them.
    - ``warnings``, ``warned``: the same for warnings: invisible or non-ASCII characters (A-09), personal data, names
      that software can confuse (A-08), a date before 1970, a probable mistake
      (:mod:`~ararat.bindings.checks.new_names`), a line break that became a space, or UTF-8 that was read in another
      encoding.
    - ``listed``: the effects of lines, except "unchanged". Lines of a batch that was rolled back are not included.
    - ``written``: False after a dry run, and if the check refused a line. If lines are left out, as those of a dump or
      those refused since the check, it is False only if all are refused.
    - ``kept``: the number of lines, from the first, that are committed. Without batches it is all lines or 0.
    - ``read_as``: the detected encoding, delimiter and columns of the file.
    - ``continued``: whether the import continued one that was interrupted.
    - ``operation``: the number of the import among the operations; None if no binding was changed.
    """

    lines: int = 0
    added: int = 0
    published: int = 0
    unchanged: int = 0
    updated: int = 0
    claimed: int = 0
    relocated: int = 0
    withdrawn: int = 0
    minted: int = 0
    reserved: int = 0
    rules: int = 0
    prefixes: int = 0
    settings: int = 0
    refusals: int = 0
    refused: list[NotedLine] = field(default_factory=list)
    warnings: int = 0
    warned: list[NotedLine] = field(default_factory=list)
    listed: list[ImportEffect] = field(default_factory=list)
    written: bool = False
    kept: int = 0
    read_as: ReadAs = field(default_factory=ReadAs)
    continued: bool = False
    operation: int | None = None
