"""Reads texts, e-mail addresses and web addresses, or says why a text is not valid."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit

from email_validator import EmailNotValidError, validate_email
from phonenumbers import SUPPORTED_REGIONS

from importer.mapping import CellPattern, ResolvedValue
from importer.models import Row
from importer.problems import CellPlace, LinePlace, Place, Problem, Unread
from importer.text.normalize import normalize, pieces_with, visible

_SHOWN = 80  # characters of a cell in a message


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """What is wrong with a text and how to fix it: a problem without its cell."""

    code: str
    message: str
    hint: str
    unread: Unread | None = None

    def at(self, place: Place) -> Problem:
        return Problem(self.code, self.message, self.hint, place, unread=self.unread)


def quoted(text: str) -> str:
    """A cell's text as a message shows it: on one line, in quotes, shortened if it is long."""
    line = visible(" ".join(text.split()))
    return f"'{line}'" if len(line) <= _SHOWN else f"'{line[:_SHOWN]}…'"


def undeclared(row: Row, blank: Mapping[int, frozenset[str]]) -> tuple[Problem, ...]:
    """The problems of a row and of those merged into it, without error values (`#N/A`) that the mapping declares as an
    empty cell. blank: such words, normalized, by the index of their column.
    """
    cells = {(one.origin, one.number): one.cells for one in (row, *row.members)}

    def is_declared(place: Place | None) -> bool:
        if not isinstance(place, CellPlace) or place.column is None or (place.origin, place.row) not in cells:
            return False
        index = place.column.index
        return normalize(cells[place.origin, place.row][index]) in blank.get(index, ())

    return tuple(one for one in row.problems if one.code != "cell-error" or not is_declared(one.place))


def in_mapping(place: LinePlace) -> str:
    """A line of the mapping file as a hint names it."""
    return f"in {place.file}:{place.line}"


def into_table(value: ResolvedValue) -> str:
    """How a text becomes known in the value table of a value, or is left out."""
    place = value.table.place if value.table else value.place
    return f"or add it under values: {in_mapping(place)}{or_leave_out(value)}"


def or_leave_out(value: ResolvedValue) -> str:
    """How a text is left out; nothing if the value is required: without it, the row cannot be sent."""
    return "" if value.field.required else "; to leave it out, add it under missing:"


def matched(pattern: CellPattern, text: str, place: LinePlace) -> Mapping[str, str | None] | InvalidValue:
    """The texts of the named groups of a pattern, or why it has none. place: of the pattern."""
    hint = f"correct it, or change pattern: {in_mapping(place)}"
    try:
        groups = pattern.groups_of(text)
    except TimeoutError:
        message = f"the pattern takes too long for {quoted(text)}, or for cells before it"
        return InvalidValue("pattern-slow", message, hint)
    if groups is None:
        return InvalidValue("pattern-mismatch", f"{quoted(text)} does not match the pattern", hint)
    return groups


# Zero-width characters and direction marks say nothing between digits; U+202E does, as it shows them in reverse.
WITHOUT_EFFECT = (
    "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u2060\u2066\u2067\u2068\u2069\ufeff"
)
_TO_PLAIN = dict.fromkeys(map(ord, WITHOUT_EFFECT)) | {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_DIGIT = re.compile(r"\d")


def plain_digits(text: str) -> str:
    """The text with the digits of every script as 0 to 9, full-width signs as ASCII, without invisible characters."""
    if text.isascii():
        return text
    return _DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text.translate(_TO_PLAIN))


# --- plain texts ----------------------------------------------------------------------------------

_ALLOWED_CONTROLS = frozenset("\n\r\t")
_REVERSING = "\u202e"  # what a person sees after it is not what would be sent
_BREAKS = re.compile(r"\s*[\n\r\t\v\f\u2028\u2029]\s*")
_ESCAPED_FORMULA = re.compile(r"'+[=+\-@\t\r]")


_DITTO = re.compile(  # ″, -"-
    r"\W*[\"”“″〃]\W*|\W*(?:(?:same )?as above|dito|(?:siehe|wie) oben|jak wyżej|yukarıdaki gibi)\W*", re.IGNORECASE
)


def read_text(text: str, typed: bool) -> str | InvalidValue:
    """The text unchanged; control characters other than line breaks and tabs, lone surrogates and U+202E are not valid.

    Nor is the quote of a formula escape: it is removed only from results files that still have an import_ column.
    """
    if text[:1] == "'" and _ESCAPED_FORMULA.match(text):
        message = f"{quoted(text)} begins with the quote that results files put before characters like = or +"
        return InvalidValue(
            "formula-escape-left", message, "remove the quote, or keep the import_ columns in the results file"
        )
    if _DITTO.fullmatch(text):
        return InvalidValue("text-ditto", f"{quoted(text)} refers to the cell above", "write what it stands for")
    if text.isprintable():
        return text
    for character in text:
        if character == _REVERSING or (
            character not in _ALLOWED_CONTROLS and unicodedata.category(character) in ("Cc", "Cs")
        ):
            message = f"{quoted(text)} contains the character U+{ord(character):04X}, which cannot be sent"
            return InvalidValue("control-character", message, "remove it")
    return text


def read_line(text: str, typed: bool) -> str | InvalidValue:
    """The text in one line: line breaks and tabs, with the spaces around them, become a space."""
    return read_text(text if text.isprintable() else _BREAKS.sub(" ", text), typed)


# --- e-mail addresses -----------------------------------------------------------------------------

# Nearly every address has this form, and its local part needs no further checks.
_PLAIN_EMAIL = re.compile(r"([A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)@([A-Za-z0-9.-]+)")
_LONGEST_PLAIN = 64  # the whole address; far below the limits of the library


def email_reader(value: ResolvedValue) -> Callable[[str, bool], str | InvalidValue]:
    """The reader of e-mail addresses; the refusal of an address in another text says how to pick it."""

    def read(text: str, typed: bool) -> str | InvalidValue:
        found = read_email(text, typed)
        pieces = pieces_with("@", text) if isinstance(found, InvalidValue) else None
        if not isinstance(found, InvalidValue) or not pieces or pieces == [text]:
            return found
        if len(pieces) > 1 and not any(isinstance(read_email(piece, False), InvalidValue) for piece in pieces):
            hint = f"write one address, or set split: and take: first_valid {in_mapping(value.place)}"
            return replace(found, message=f"{quoted(text)} contains several e-mail addresses", hint=hint)
        if len(pieces) > 1 or isinstance(read_email(pieces[0], False), InvalidValue):
            return found
        way = f'; to take {quoted(pieces[0])} out of such cells, set pick: "@" {in_mapping(value.place)}'
        return replace(found, hint=found.hint + way)

    return read


def read_email(text: str, typed: bool) -> str | InvalidValue:
    """One address, with its domain in lower case; no DNS lookup is made.

    Not valid are a display name, and characters that look like others.
    """
    plain = _PLAIN_EMAIL.fullmatch(text) if len(text) <= _LONGEST_PLAIN else None
    domain = _read_domain(plain.group(2)) if plain else None
    if plain and domain:
        return f"{plain.group(1)}@{domain}"
    address, error = _read_address(text)
    if address and _is_disguised(text):
        address, error = "", "it mixes letters of several scripts"
    elif address.startswith(("'", "’", "‘", "`")):  # a spreadsheet program writes it in front of a text
        address, error = "", "it begins with an apostrophe"
    elif not (local := address.partition("@")[0]).isascii() and local.isupper():  # İPEK@ of a program is ipek@
        address, error = "", "its capitals may stand for other letters: write it in small ones, as its owner does"
    message = f"{quoted(text)} is not a valid e-mail address: {error}"
    return address or InvalidValue("email-invalid", message, "write one address like name@example.com")


def _is_disguised(text: str) -> bool:
    """Whether it has full-width characters, or a word with Latin and with Cyrillic or Greek letters that look alike."""
    if unicodedata.normalize("NFKC", text) != text:
        return True
    local, _, domain = text.partition("@")
    words = (filter(str.isalpha, word) for word in (local, *domain.split(".")))
    scripts = ({unicodedata.name(letter, "").partition(" ")[0] for letter in word} for word in words)
    return any(len(found & {"LATIN", "CYRILLIC", "GREEK"}) > 1 for found in scripts)


def _read_address(text: str) -> tuple[str, str]:
    """The normalized address and "", or "" and why it is not valid."""
    try:
        found = validate_email(text, check_deliverability=False, strict=True)
    except EmailNotValidError as error:
        reason = str(error).rstrip(".")
        return "", reason[:1].lower() + reason[1:]
    if len(found.domain.rpartition(".")[2]) < 2:
        return "", "the part after the last dot is too short"
    return found.normalized, ""


@lru_cache(maxsize=4096)
def _read_domain(domain: str) -> str | None:
    """The normalized domain, or None if it is not valid; cached, as many addresses share a few domains."""
    return _read_address(f"a@{domain}")[0].removeprefix("a@") or None


# --- web addresses --------------------------------------------------------------------------------

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(/|$))")  # host:8080 has no scheme
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.[^\W\d_][\w-]*|[0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-f:]+:[0-9a-f.:]*")
_NOT_IN_URLS = re.compile(r"[\s<>\"{}|\\^`]|[.,;:!'»]$|[,;](?=https?:|www\.|[\w-]+\.[a-z])|(?<![/=?&:%])https?://")
# Endings of names that are addresses even without https:// or www.; cv.pdf, ada.nur and Node.js are none.
# fmt: off
_ENDINGS = frozenset((
    "com", "org", "net", "edu", "gov", "info", "biz", "name", "pro", "dev", "app", "tech", "online", "site", "website",
    "blog", "space", "xyz", "page", "link", "digital", "cloud", "design", "studio", "art", "photo", "media", "agency",
    "works", "world", "life", "live", "social", "academy", "jobs", "careers", "eu", "uk", "рф", "укр",
))
# fmt: on


def read_url(text: str, typed: bool) -> str | InvalidValue:
    """One http or https address; https:// is added to an address without a scheme, such as `linkedin.com/in/ada`.

    Not valid are user names and passwords (`ada@example.com` is an e-mail address), punctuation behind the address,
    several addresses, and without https:// or www. a name whose ending is neither a country's nor a common one.
    """
    has_scheme = _SCHEME.match(text)
    address = text if has_scheme else f"https://{text.removeprefix('//')}"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return _invalid_url(text)
    if parts.scheme.lower() not in ("http", "https"):
        return _invalid_url(text, f": {parts.scheme}: addresses cannot be sent")
    if host is None or port == 0 or not _HOST.fullmatch(host) or not address.isprintable() or "@" in parts.netloc:
        return _invalid_url(text)
    if _NOT_IN_URLS.search(address, len("https://")) or unicodedata.normalize("NFKC", address) != address:
        return _invalid_url(text)
    is_bare = not has_scheme and parts.path in ("", "/")
    if is_bare and _NO_SITE.fullmatch(host):
        return _invalid_url(text)
    if not has_scheme and not host.startswith("www.") and not _is_known_ending(host.rpartition(".")[2]):
        return _invalid_url(text)
    return address


_NO_SITE = re.compile(r"www\.[^.]*|[a-z]\.[a-z]{2,3}")  # www.x, and M.Sc


def _is_known_ending(ending: str) -> bool:
    return ending in _ENDINGS or ending.startswith("xn--") or ending.upper() in SUPPORTED_REGIONS


def linked_url(text: str, link: str) -> str | InvalidValue:
    """The address of a hyperlink cell: of its link where its text is not an address.

    If both are addresses and differ, neither is valid: one of them is not what a person saw.
    """
    shown, target = read_url(text, False), read_url(link, False)
    if isinstance(target, InvalidValue) or not link.lower().startswith(("http://", "https://")):
        return shown
    if isinstance(shown, InvalidValue):
        return target
    if _compared(shown) == _compared(target):
        return shown
    return InvalidValue(
        "link-differs",
        f"{quoted(text)} has a link to another address, {quoted(target)}",
        "make the text and the link of the cell the same; in report.xlsx, write the right address (with / at its end)",
    )


def _compared(address: str) -> str:
    return with_case(address).removeprefix("www.").rstrip("/")


def with_case(text: str) -> str:
    """A text to be compared with its case; of a web address without its scheme, and without the case of its host."""
    address = text.partition("://")[2] or text
    host, slash, path = address.partition("/")
    return f"{host.casefold()}{slash}{path}" if slash or address != text else text


def _invalid_url(text: str, reason: str = "") -> InvalidValue:
    hint = "write the address, such as https://example.com/ada"
    if sum("." in piece for piece in text.split()) > 1 or text.count("://") > 1:
        hint = "write one address; to take one of several, set pick: or split: in the mapping"
    elif re.fullmatch(r"\W+[^\s@]+\.[^\s@]+|[^\s@]+\.[^\s@]+[^\w\s]+", text.rstrip("/")):
        hint = "write it without the signs around it"
    elif re.fullmatch(r"[^\s@/:]+\.[^\s@]+", text):
        hint = "write it with https:// in front"
    return InvalidValue("url-invalid", f"{quoted(text)} is not a valid web address{reason}", hint)
