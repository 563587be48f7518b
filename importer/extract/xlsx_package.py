"""The parts of an XLSX package: which sheets there are, whether they are shown, and where each lies in the zip."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import parse  # type: ignore[import-untyped]  # it has no stubs


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A worksheet: its title, its path in the zip, whether a person sees its tab."""

    title: str
    path: str
    visible: bool


def sheet_parts(archive: zipfile.ZipFile) -> tuple[SheetPart, ...]:
    """The worksheets in tab order, of the transitional and the strict form alike; chart sheets are left out.

    Raises:
        KeyError: a part that the package needs is not there.
    """
    book = _office_document(archive)
    targets = {relation.get("Id"): relation for relation in _relations(archive, book)}
    return tuple(_sheet_parts(archive, book, targets))


def _sheet_parts(archive: zipfile.ZipFile, book: str, targets: dict[str | None, Element]) -> Iterator[SheetPart]:
    with archive.open(book) as part:
        root = parse(part).getroot()
    for sheet in (element for element in root.iter() if local_name(element) == "sheet"):
        relation = targets.get(_relation_id(sheet))
        if relation is not None and (relation.get("Type") or "").endswith("/worksheet"):
            path = _resolved(book, relation.get("Target") or "")
            yield SheetPart(sheet.get("name") or "", path, sheet.get("state", "visible") == "visible")


def _office_document(archive: zipfile.ZipFile) -> str:
    for relation in _relations(archive, ""):
        if (relation.get("Type") or "").endswith("/officeDocument"):
            return _resolved("", relation.get("Target") or "")
    raise KeyError("officeDocument")


def _relations(archive: zipfile.ZipFile, part: str) -> Iterator[Element]:
    folder, name = posixpath.split(part)
    with archive.open(posixpath.join(folder, "_rels", f"{name}.rels")) as rels:
        yield from parse(rels).getroot()


def _resolved(part: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), target)).lstrip("/")


def _relation_id(sheet: Element) -> str | None:
    return next((value for key, value in sheet.attrib.items() if key.endswith("}id")), None)


def local_name(element: Element) -> str:
    """The tag without its namespace, which differs between transitional and strict workbooks."""
    return str(element.tag).rpartition("}")[2]
