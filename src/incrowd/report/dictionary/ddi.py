"""A data dictionary as DDI-Codebook 2.5, which archives of surveys and studies read."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from incrowd.report.dictionary.described import DATE, DATETIME, NUMBER, NUMERIC, OTHER, Column, Dictionary

NAMESPACE = "ddi:codebook:2_5"
_FILE = "F1"
# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def ddi_text(described: Dictionary) -> str:
    book = Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    study = SubElement(book, "stdyDscr")
    title = SubElement(SubElement(study, "citation"), "titlStmt")
    _add(title, "titl", described.file)
    _add(SubElement(study, "stdyInfo"), "abstract", described.promise)
    file = SubElement(SubElement(book, "fileDscr", {"ID": _FILE}), "fileTxt")
    _add(file, "fileName", described.file)
    algorithm, _, digest = described.digest.partition(":")
    print_of = SubElement(file, "dataFingerprint", {"type": "dataFile"})
    _add(print_of, "digitalFingerprintValue", digest)
    _add(print_of, "algorithmSpecification", algorithm)
    size = SubElement(file, "dimensns")
    _add(size, "caseQnty", described.records)
    _add(size, "varQnty", len(described.columns))
    data = SubElement(book, "dataDscr")
    for number, column in enumerate(described.columns, 1):
        _add_column(data, number, column)
    indent(book, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(book, encoding="unicode")}\n'


def _add_column(data: Element, number: int, column: Column) -> None:
    """A variable; its elements stand in the order that the schema of DDI gives them."""
    interval = "contin" if column.kind == NUMBER else "discrete"
    about = {"ID": f"V{number}", "name": _legal(column.name), "files": _FILE, "intrvl": interval}
    variable = SubElement(data, "var", about)
    _add(variable, "labl", column.name)
    if column.bounds is not None:
        low, high = column.bounds
        SubElement(SubElement(variable, "valrng"), "range", {"min": low, "max": high})
    for kind, count in (("vald", column.records), ("invd", column.missing)):
        _add(variable, "sumStat", count, type=kind)
    _add(variable, "txt", column.about)
    for value in column.values:
        category = SubElement(variable, "catgry")
        _add(category, "catValu", value.text)
        if value.meaning:
            _add(category, "labl", value.meaning)
        _add(category, "catStat", value.records, type="freq")
    form = {"type": "numeric" if column.kind in NUMERIC else "character"}
    if column.kind in (DATE, DATETIME):
        form["category"] = "date"
    _add(variable, "varFormat", "" if column.kind == OTHER else column.kind, **form)


def _add(parent: Element, name: str, text: str | int, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = _legal(str(text))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
