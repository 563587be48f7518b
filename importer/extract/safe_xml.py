"""XML of a stranger's file: a document type or an entity is refused, names come without their namespace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import iterparse, parse  # type: ignore[import-untyped]  # it has no stubs


def parsed(part: IO[bytes]) -> Element:
    """The root of a small document.

    Raises:
        ParseError: it is not well-formed.
        DefusedXmlException: it declares a document type or an entity.
    """
    root: Element = parse(part, forbid_dtd=True).getroot()
    return root


def elements(part: IO[bytes]) -> Iterator[Element]:
    """Each element of a large document as it ends, children first. The caller clears what it has done with.

    Raises: as `parsed`.
    """
    for _, element in iterparse(part, forbid_dtd=True):
        yield element


def local_name(element: Element) -> str:
    """The tag without its namespace, which differs between transitional and strict workbooks."""
    return str(element.tag).rpartition("}")[2]
