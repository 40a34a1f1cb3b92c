"""A check of limits as JUnit XML, which continuous integration shows as tests."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from secant._host.escaping import printable
from secant.report.page import write_text
from secant.tasks.checking import Check, CheckedLimit


def write_junit(path: Path | str, check: Check) -> None:
    """Write a check as one XML file, one test case a limit."""
    write_text(path, junit(check))


def junit(check: Check) -> str:
    """A check as the text of a JUnit XML file."""
    zero, one = (printable(name) for name in check.sample_names)
    suite = ElementTree.Element(
        "testsuite",
        name=f"secant check {zero} {one}",
        tests=str(len(check.rows)),
        failures=str(len(check.failed)),
        errors="0",
        time=f"{check.seconds:.3f}",
    )
    for row in check.rows:
        _case(suite, row)
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, row: CheckedLimit) -> None:
    # Control characters are not allowed in XML, not even escaped.
    name = printable(f"{row.name} {row.limit.text}")
    case = ElementTree.SubElement(suite, "testcase", classname="secant.check", name=name)
    found = f"found {row.value_text}"
    if row.interval is not None:
        found += f", interval {row.interval_text}"
    if row.passed:
        ElementTree.SubElement(case, "system-out").text = printable(found)
        return
    failure = ElementTree.SubElement(case, "failure", type="LimitFailed", message=printable(found))
    failure.text = printable(f"{row.name} must be {row.limit.text}; {found}.")
