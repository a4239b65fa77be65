"""Check the templates of rules, and create targets from them."""

from __future__ import annotations

import re
from dataclasses import replace

from ....identifiers.registries import target_templates
from ....identifiers.registries.target_templates import Template, TemplateParts
from ....identifiers.text import iri
from ....identifiers.text.translatable import Translatable
from .. import targets, validation
from ..errors import BindingError

MAX_TEMPLATE = 2000
"""The maximum length of a template in characters."""

_HERE = "https://localhost"
# The variable as the last segment of a path, which can have a query or a fragment after it.
_LAST_SEGMENT = re.compile(r"(?<=/)\$\{suffix(?::given)?\}(?=\?|#|$)")
_SAMPLES = ("ark:12345/0", "ark:12345/0/0.0")


def check_template(template: str) -> str:
    """Return the template of a redirect rule in stored form: an http(s) address or a path of this site, with one
    variable after the host. Raises :class:`BindingError` (``rule-template``, ``reserved-target``).

    >>> check_template("https://example.org/things/${value}"), check_template("/show?id=${content}")
    ('https://example.org/things/${value}', '/show?id=${content}')
    """
    validation.check(template, "rule-template", Translatable("Template"), MAX_TEMPLATE)
    read = target_templates.read(_HERE + template if template.startswith("/") else template)
    # Rules of a site can use private hosts.
    flaws = [flaw for flaw in read.flaws if flaw != "reserved-host"]
    if flaws:
        # Braces are also invalid characters of an address, but the unknown variable is the cause.
        worst = "unknown-variable" if "unknown-variable" in flaws else flaws[0]
        raise BindingError("rule-template", Translatable(target_templates.FLAWS[worst].pattern))
    stored = read.text.removeprefix(_HERE) if template.startswith("/") else read.text
    for sample in _SAMPLES:
        address = expand(stored, sample, "ark:12345/") or ""
        targets.check(address, "located")
        if address.startswith("/") and targets.is_reserved(address):
            raise BindingError(
                "reserved-target",
                Translatable(
                    "%(template)s leads back to the resolver; use a path outside /ark: and /urn:",
                    template=validation.quote(template),
                ),
            )
    return stored


def expand(stored: str, key: str, prefix: str, given: str = "") -> str | None:
    """Return the target that the template of a rule makes for a name, or None if it is invalid. ``prefix`` is that of
    the rule, and ``given`` the name as received. In a URN, the namespace identifier is in the place of the NAAN.

    The prefix alone gives ``${suffix}`` an empty value, so it has a target only if the value is the last segment of a
    path: such a path is often the page of the collection.

    >>> expand("https://example.org/${suffix:given}", "ark:12345/x5ab", "ark:12345/x5", "ark:12345/x5a-b")
    'https://example.org/a-b'
    >>> expand("https://example.org/?id=${suffix}", "ark:12345/x5", "ark:12345/x5") is None
    True
    >>> expand("https://example.org/${suffix}", "ark:12345/x5", "ark:12345/x5")
    'https://example.org/'
    >>> expand("https://example.org/${value}", "urn:nbn:se:uu:diva-1", "urn:nbn:")
    'https://example.org/se:uu:diva-1'
    """
    if key == prefix and "${suffix" in _LAST_SEGMENT.sub("", stored):
        return None
    label, separator = ("urn:", ":") if key.startswith("urn:") else ("ark:", "/")
    spelled = given[4:] if label == "urn:" else given[4:].removeprefix("/")
    parts = TemplateParts(label, key[4:], "", given=iri.encode(spelled.partition("?")[0].partition("#")[0]))
    return _read(stored).expand(parts, prefix[4:].partition(separator)[2]).address


def _read(stored: str) -> Template:
    """Parse the stored form of the template of a rule, without checking it again."""
    if stored.startswith("/"):
        return Template(stored, ())
    return replace(target_templates.read(stored), flaws=())
