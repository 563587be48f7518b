"""XML of a stranger's file: a document type or an entity is refused, names come without their namespace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]  # it has no stubs
from defusedxml.ElementTree import iterparse, parse  # type: ignore[import-untyped]  # it has no stubs

from importer.extract.hazards import DamagedError

# With a document type come entities, and with these bombs and foreign files.
DOCUMENT_TYPE: Final = "a document type is declared"


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
    """Each element of a large document as it ends, children first. The caller clears what it has done with.

    Raises: as `parsed`.
    """
    with _refusals():
        for _, element in iterparse(part, forbid_dtd=True):
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
