"""The parts of an XLSX package: its sheets, whether each is visible, and the path of each in the zip.

All XML of source files is parsed here: document types and entities are rejected, names lose their namespace.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Final
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]  # it has no stubs
from defusedxml.ElementTree import iterparse, parse  # type: ignore[import-untyped]  # it has no stubs

from importer.extract.cell_flags import CellStyles, DamagedError
from importer.extract.sheet import SheetName

_READ = (".rels", "workbook.xml", "sharedstrings.xml", "styles.xml")


@dataclass(frozen=True, slots=True)
class XlsxPackage:
    """The contents of a package. `sheets`: the worksheets in tab order. `paths`: the path of each, by title.

    `is_uncalculated`: it asks the program that opens it to calculate its formulas, as one that no program has opened.
    """

    sheets: tuple[SheetName, ...]
    paths: dict[str, str]
    styles: CellStyles
    is_uncalculated: bool


def read_package(archive: zipfile.ZipFile) -> XlsxPackage:
    """Read the package, in transitional or strict form. Chart sheets are skipped.

    Raises:
        KeyError: a required part is missing.
        ParseError, DamagedError, BadZipFile: a part cannot be read.
    """
    book = _office_document(archive)
    relations = {relation.get("Id"): relation for relation in _relations(archive, book)}
    with archive.open(_member(archive, book)) as part:
        described = list(parsed(part).iter())
    listed = [element for element in described if local_name(element) == "sheet"]
    sheets: list[SheetName] = []
    paths: dict[str, str] = {}
    for sheet in listed:
        relation = relations.get(relation_id(sheet))
        if relation is not None and _type(relation) == "worksheet":
            title = sheet.get("name") or ""
            sheets.append(SheetName(title, sheet.get("state", "visible") == "visible"))
            with suppress(KeyError):  # another sheet may be the one to read
                paths[title] = _member(archive, _resolved(book, relation))
    styles = next((_resolved(book, each) for each in relations.values() if _type(each) == "styles"), None)
    is_1904 = _is_set(described, "workbookPr", "date1904")
    is_uncalculated = _is_set(described, "calcPr", "fullCalcOnLoad")
    cell_styles = _styles(archive, styles, is_1904=is_1904) if styles else CellStyles(is_1904=is_1904)
    return XlsxPackage(tuple(sheets), paths, cell_styles, is_uncalculated)


def check_parts(archive: zipfile.ZipFile) -> None:
    """Unpack every part with cells or texts of cells, so that a damaged part is not silently read in half.

    Raises:
        BadZipFile, zlib.error, EOFError: a part is damaged.
        DamagedError: two parts have the same name, in any case: two readers might read different ones.
    """
    seen: set[str] = set()
    for name in map(_plain_name, archive.namelist()):
        if name in seen and name.endswith((".xml", ".rels")):
            raise DamagedError(f"it has the part {name} twice")
        seen.add(name)
    for name in archive.namelist():
        if name.lower().endswith(_READ):
            with archive.open(name) as part:
                while part.read(1 << 16):
                    pass


def link_targets(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """The addresses outside the workbook that a worksheet links to, by their relation IDs."""
    try:
        relations = list(_relations(archive, part))
    except KeyError:
        return {}
    return {
        each.get("Id") or "": each.get("Target") or "" for each in relations if each.get("TargetMode") == "External"
    }


def _office_document(archive: zipfile.ZipFile) -> str:
    for relation in _relations(archive, ""):
        if _type(relation) == "officeDocument":
            return _resolved("", relation)
    raise KeyError("officeDocument")


def _relations(archive: zipfile.ZipFile, part: str) -> Iterator[Element]:
    folder, name = posixpath.split(part)
    with archive.open(_member(archive, posixpath.join(folder, "_rels", f"{name}.rels"))) as rels:
        yield from parsed(rels)


def _type(relation: Element) -> str:
    return (relation.get("Type") or "").rpartition("/")[2]


def _resolved(part: str, relation: Element) -> str:
    target = (relation.get("Target") or "").replace("\\", "/")
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), target)).lstrip("/")


def _member(archive: zipfile.ZipFile, path: str) -> str:
    """The name in the zip, which some programs write in another case, with a leading slash or with backslashes."""
    wanted = path.lower()
    for name in archive.namelist():
        if _plain_name(name) == wanted:
            return name
    raise KeyError(path)


def _plain_name(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def relation_id(element: Element) -> str | None:
    """The ID of the relation that an element refers to."""
    return next((value for key, value in element.attrib.items() if key.endswith("}id")), None)


def _is_set(elements: Iterable[Element], name: str, attribute: str) -> bool:
    return any(local_name(each) == name and each.get(attribute) in ("1", "true", "on") for each in elements)


def _styles(archive: zipfile.ZipFile, path: str, *, is_1904: bool) -> CellStyles:
    with archive.open(_member(archive, path)) as part:
        root = parsed(part)
    codes: dict[int, str] = {}
    for element in root.iter():
        if local_name(element) == "numFmt" and (element.get("numFmtId") or "").isdecimal():
            codes[int(element.get("numFmtId") or 0)] = element.get("formatCode") or ""
    cell_formats = next((element for element in root if local_name(element) == "cellXfs"), ())
    return CellStyles.of(codes, (int(form.get("numFmtId") or 0) for form in cell_formats), is_1904=is_1904)


# --- XML --------------------------------------------------------------------------------------------


# A document type can declare entities, which can expand without limit or read other files.
DOCUMENT_TYPE: Final = "it declares a document type"


def parsed(part: IO[bytes]) -> Element:
    """The root of a small document.

    Raises:
        ParseError: it is not well-formed.
        DamagedError: it declares a document type.
    """
    with _refusals():
        root: Element = parse(part, forbid_dtd=True).getroot()
    return root


def elements(part: IO[bytes]) -> Iterator[Element]:
    """Each element of a large document as it ends, children first. The caller clears the elements it has used.

    Raises: as `parsed`.
    """
    with _refusals():
        for _, element in iterparse(part, ("end",), forbid_dtd=True):
            yield element


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except DefusedXmlException:
        raise DamagedError(DOCUMENT_TYPE) from None


def local_name(element: Element) -> str:
    """The tag without its namespace, which differs between transitional and strict workbooks."""
    return str(element.tag).rpartition("}")[2]
