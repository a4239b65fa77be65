"""Write the results of a check as a JUnit file, with the elements that Jenkins and GitLab read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from ...identifiers.text import xml_text
from .. import streams
from ..errors import writing


class JUnitCase(NamedTuple):
    """A test in a JUnit report: its name, the group of its name, the reasons of its failure, and notes."""

    name: str
    group: str
    failures: Sequence[str] = ()
    notes: Sequence[str] = ()


def document(suite: str, cases: Sequence[JUnitCase]) -> bytes:
    """Return a JUnit report as an XML document in UTF-8."""
    failed = str(sum(bool(case.failures) for case in cases))
    counts = {"name": xml_text.valid(suite), "tests": str(len(cases)), "failures": failed, "errors": "0"}
    root = ET.Element("testsuites", counts)
    group = ET.SubElement(root, "testsuite", counts | {"skipped": "0"})
    for case in cases:
        names = {"name": xml_text.valid(case.name), "classname": xml_text.valid(case.group), "time": "0"}
        element = ET.SubElement(group, "testcase", names)
        if case.failures:
            message = xml_text.valid(case.failures[0].partition("\n")[0])
            failure = ET.SubElement(element, "failure", {"message": message, "type": "failure"})
            failure.text = xml_text.valid("\n\n".join(case.failures))
        if case.notes:
            ET.SubElement(element, "system-out").text = xml_text.valid("\n".join(case.notes))
    ET.indent(root)
    return ET.tostring(root, "utf-8", xml_declaration=True) + b"\n"


def write_junit(file: str, suite: str, cases: Sequence[JUnitCase]) -> None:
    """Write a JUnit report to a file. Raises :class:`~ararat.cli.errors.CommandError` if it cannot be written."""
    with writing(file), streams.replace_file(file) as stream:
        stream.write(document(suite, cases))
