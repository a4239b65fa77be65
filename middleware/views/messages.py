"""The texts for visitors that templates select by a code and translate: first sentences, labels and notes. The sentence
of the problem, its code and its rule, which follow on an error page, are for operators.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...bindings.names.metadata import metadata, persistence
from ...identifiers.text.translatable import Translatable
from .catalogues import translatable

NO_STATEMENT = translatable("no statement known")
"""The value of the element persistence without a statement (ARK-007)."""


TEST = translatable("This identifier is only for tests. It can stop working at any time. Do not cite it.")
"""The note on a name for tests (decision X-06)."""


class Sentence(NamedTuple):
    """The words of an error page for visitors: the first sentence, and the advice after it, or ""."""

    headline: str
    advice: str = ""


_INVALID = Sentence(
    translatable("This address does not contain a valid identifier."),
    translatable("It probably has a typing error. Compare it with the place where you found it."),
)
_GONE = translatable("This item was withdrawn.")
MOVED = translatable("This item has a new identifier.")
"""The headline of a withdrawn name with a successor."""


_SENTENCES = {
    "elsewhere": Sentence(
        translatable("This identifier belongs to %(holder)s."),
        translatable("This site does not know it. Look for it at the resolver of its institution."),
    ),
    "not-bound": Sentence(
        translatable("This identifier is not known here."),
        translatable("Check it for typing errors. It can also belong to another site, or be published later."),
    ),
    "mistyped": Sentence(
        translatable("This identifier is not known here."),
        translatable("Its check character does not match, so it probably has a typing error."),
    ),
    "unknown-inflection": Sentence(
        translatable("The end of this address is not known here."),
        translatable("The address of the item ends before the question mark."),
    ),
    "withdrawn": Sentence(
        _GONE, translatable("Its identifier still belongs to it, and is never given to another item.")
    ),
    "hidden": Sentence(_GONE, translatable("Its identifier still belongs to it, and is never given to another item.")),
    "container-withdrawn": Sentence(_GONE, translatable("It was part of an item that was withdrawn.")),
    "target-unusable": Sentence(
        translatable("The location of this item cannot be used."),
        translatable("Please report this problem to the institution."),
    ),
    "method-not-allowed": Sentence(translatable("This kind of request is not possible for an identifier.")),
    "bindings-unavailable": Sentence(
        translatable("Identifiers cannot be looked up at the moment."),
        translatable("Please try again in a few seconds."),
    ),
    "internal-error": Sentence(
        translatable("An error occurred while this identifier was looked up."),
        translatable("Please try again later, or report this problem to the institution."),
    ),
    "naan-reserved-invalid": Sentence(
        translatable("This identifier is an example and belongs to no item."),
    ),
    "too-long": Sentence(translatable("This address is too long for an identifier.")),
}


def sentence(code: str) -> Sentence:
    """Return the first sentence of an error page, and the advice for visitors, for the code of a problem. An unknown
    code has the sentence of an invalid identifier.

    >>> sentence("double-slash").headline
    'This address does not contain a valid identifier.'
    """
    return _SENTENCES.get(code, _INVALID)


LABELS = {
    "who": translatable("Who"),
    "what": translatable("What"),
    "when": translatable("When"),
    "where": translatable("Where"),
    "how": translatable("How"),
    "persistence": translatable("Persistence"),
    "availability": translatable("Availability"),
    "variance": translatable("Variance"),
    "allocated": translatable("Allocated"),
    "policy": translatable("Policy"),
}
"""The labels of the metadata elements with a short name."""

DUBLIN_CORE = {
    "title": translatable("Title"),
    "creator": translatable("Creator"),
    "subject": translatable("Subject"),
    "description": translatable("Description"),
    "publisher": translatable("Publisher"),
    "contributor": translatable("Contributor"),
    "date": translatable("Date"),
    "type": translatable("Type"),
    "format": translatable("Format"),
    "identifier": translatable("Identifier"),
    "source": translatable("Source"),
    "language": translatable("Language"),
    "relation": translatable("Relation"),
    "coverage": translatable("Coverage"),
    "rights": translatable("Rights"),
}
"""The labels of the elements of Dublin Core, by their names without the prefix."""

RESOURCE_TYPES = {
    "text": translatable("text"),
    "image": translatable("image"),
    "audio": translatable("sound"),
    "video": translatable("video"),
    "data": translatable("data"),
    "code": translatable("software"),
    "term": translatable("term"),
    "system": translatable("system"),
    "event": translatable("event"),
    "physobj": translatable("physical object"),
}
"""The words for the codes ``(:mtype ...)`` of the kernel (ANVL and ERC, "Kernel Metadata", type of a thing)."""

_DUBLIN_CORE = ("dc", "dcterms", "DC")
_MTYPE = re.compile(r"\(:mtype\s+([A-Za-z]+)\)\s*")
_WORD = re.compile("[A-Z]++[a-z0-9]*+|[a-z0-9]++")


def label_of(element: str) -> str:
    """Return the label of a metadata element: a translatable one of the kernel or of Dublin Core, or else the words of
    its English name.

    >>> label_of("who"), label_of("dc.rights"), label_of("dcterms.isPartOf"), label_of("mods.related_item")
    ('Who', 'Rights', 'Is part of', 'Related item')
    """
    scheme, _, name = element.partition(".")
    label = LABELS.get(element) or (DUBLIN_CORE.get(name.lower()) if scheme in _DUBLIN_CORE else None)
    if label is not None:
        return Translatable(label)
    words = " ".join(_WORD.findall(name or scheme)).lower()
    return f"{words[:1].upper()}{words[1:]}" or element


class CodedValue(NamedTuple):
    """A value that begins with a code: the words for the code, and the ``rest`` of the value."""

    words: str
    rest: str


def coded_value(value: str) -> CodedValue | None:
    """Return the words for the code with which a value begins, such as ``(:unkn)``, or None.

    >>> coded_value("(:mtype image) photograph"), coded_value("(:unkn)"), coded_value("a photograph")
    (CodedValue(words='image', rest='photograph'), CodedValue(words='known to be unknown', rest=''), None)
    """
    if meaning := metadata.code_meaning(value):
        return CodedValue(meaning, metadata.without_code(value))
    found = _MTYPE.match(value)
    word = RESOURCE_TYPES.get(found[1].lower()) if found else None
    return None if found is None or word is None else CodedValue(word, value[found.end() :])


MEANINGS = {
    "availability": translatable("how long the item is available"),
    "variance": translatable("how the item can change"),
    "allocated": translatable("when the name was assigned"),
    "policy": translatable("the rules for assigning and keeping such names"),
}
"""Notes on the elements that state how long a name and its item last."""

TERMS_OF = frozenset(persistence.TERMS)
"""The elements whose values have terms, which the catalogues have with their definitions."""

NO_STATEMENT_LIVE = translatable("The identifier works today. How long it will work is not stated.")
NO_STATEMENT_WITHDRAWN = translatable("How long the identifier would work was not stated.")

VALUE_CODES = {
    "(:unac)": translatable("temporarily inaccessible"),
    "(:unal)": translatable("unallowed, suppressed intentionally"),
    "(:unap)": translatable("not applicable, makes no sense"),
    "(:unas)": translatable("value unassigned"),
    "(:unav)": translatable("value unavailable, possibly unknown"),
    "(:unkn)": translatable("known to be unknown"),
    "(:none)": translatable("never had a value, never will"),
    "(:null)": translatable("explicitly and meaningfully empty"),
    "(:tba)": translatable("to be assigned or announced later"),
    "(:etal)": translatable("too numerous to list"),
}
"""The notes on the codes of values, as :data:`ararat.bindings.names.metadata.metadata.VALUE_CODES`."""

OPEN = {
    "located": translatable("Open the item"),
    "related": translatable("Open the page about the item"),
    "served": translatable("Open the item"),
}
"""The label of the link to the item, by the kind of the binding."""

ASSOCIATIONS = {
    "located": translatable("The item is at this address:"),
    "related": translatable("A page about the item is at this address:"),
    "described": translatable("The item has no page. This is its description."),
    "served": translatable("This site shows the item at the address of the identifier."),
}
"""The relation between an identifier and its item, by the kind of the binding."""

HINTS = {
    "elsewhere": translatable("Look there"),
    "item": translatable("The item is at this address:"),
    "description": translatable("Its description"),
    "withdrawn": translatable("The description of the withdrawn item"),
    "container": translatable("The nearest item above it"),
    "successor": translatable("Its successor"),
    "suggestion": translatable("Did you mean"),
    "inspect": translatable("Examine it in the inspector"),
}
"""The labels of the links of an error page."""
