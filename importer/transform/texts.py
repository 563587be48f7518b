"""Reads texts, names, e-mail addresses, phone numbers and web addresses, or says why a text is not valid.

The libraries for e-mail addresses and phone numbers load slowly and not every file needs them, so they are imported at
first use.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from importer.mapping import NameRule, ResolvedValue, Surname
from importer.problems import LinePlace, Place, Problem
from importer.text.normalize import normalize, visible

_SHOWN = 80  # characters of a cell in a message
_PADDING = "\u200b\ufeff\u2060 \t\r\n\u00a0\u202f\u3000\v\f"


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """What is wrong with a text and how to fix it: a problem without its cell."""

    code: str
    message: str
    hint: str

    def at(self, place: Place) -> Problem:
        return Problem(self.code, self.message, self.hint, place)


def quoted(text: str) -> str:
    """A cell's text as a message shows it: on one line, in quotes, shortened if it is long."""
    line = visible(" ".join(text.split()))
    return f"'{line}'" if len(line) <= _SHOWN else f"'{line[:_SHOWN]}…'"


def in_mapping(place: LinePlace) -> str:
    """A line of the mapping file as a hint names it."""
    return f"in {place.file}:{place.line}"


def stripped(text: str) -> str:
    """The text without the white space and zero-width characters around it."""
    return text.strip(_PADDING)


# --- plain texts ----------------------------------------------------------------------------------

_ALLOWED_CONTROLS = frozenset("\n\r\t")
_BREAKS = re.compile(r"\s*[\n\r\t\v\f\u2028\u2029]\s*")
_ESCAPED_FORMULA = re.compile(r"'+[=+\-@\t\r]")


def read_text(text: str, typed: bool) -> str | InvalidValue:
    """The text unchanged; control characters other than line breaks and tabs, and lone surrogates, are not valid.

    Nor is the quote of a formula escape: it is removed only from results files that still have an import_ column.
    """
    if text[:1] == "'" and _ESCAPED_FORMULA.match(text):
        message = f"{quoted(text)} begins with the quote that results files put before characters like = or +"
        return InvalidValue(
            "formula-escape-left", message, "remove the quote, or keep the import_ columns in the results file"
        )
    if text.isprintable():
        return text
    for character in text:
        if character not in _ALLOWED_CONTROLS and unicodedata.category(character) in ("Cc", "Cs"):
            message = f"{quoted(text)} contains the character U+{ord(character):04X}, which cannot be sent"
            return InvalidValue("character-not-allowed", message, "remove it")
    return text


def read_line(text: str, typed: bool) -> str | InvalidValue:
    """The text in one line: line breaks and tabs, with the spaces around them, become a space."""
    return read_text(text if text.isprintable() else _BREAKS.sub(" ", text), typed)


# --- names, and full names split by a declared rule -----------------------------------------------

Side = Literal["first", "last"]
_DEFAULT = NameRule()
# Left over from copying from web pages. Joiners (U+200C, U+200D) and direction marks matter in some scripts.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def read_name(text: str, typed: bool) -> str | InvalidValue:
    """A name with single spaces; one without any letter is not valid."""
    name = " ".join(_without_invisible(text).split())
    if not any(character.isalpha() for character in name):
        return InvalidValue("name-invalid", f"{quoted(text)} is not a valid name", "write the name in letters")
    return read_text(name, typed)


def part_of_name(full_name: str, part: Side, rule: NameRule | None = None) -> str | InvalidValue:
    """The first or last name: split at a comma as in `Ada, Nur`, else by the rule.

    A single word is not valid, as it could be either name; nor is a name that the rule does not fit.
    """
    rule = rule or _DEFAULT
    full_name = _without_invisible(full_name)
    before, comma, after = full_name.rpartition(",")
    if comma and normalize(after) in rule.suffixes:  # `Ada Nur, Jr.` has no last name before the comma
        full_name = f"{before} {after}"
    if "," in full_name:
        return _part_by_comma(full_name, part)
    if rule.surname is Surname.BEFORE_COMMA:
        message = f"{quoted(full_name)} has no comma after the last name"
        return InvalidValue("name-split-failed", message, "write it as 'Last, First'")
    words = full_name.split()
    without_suffixes = _without_suffixes(words, rule)
    found = _last_name_words(without_suffixes, rule)
    if found is None:
        return _split_failed(full_name, words, rule)
    begin, end = found
    if part == "first":
        return " ".join(without_suffixes[:begin] + without_suffixes[end:])
    return " ".join(without_suffixes[begin:end] + words[len(without_suffixes) :])


def _without_invisible(text: str) -> str:
    return text if text.isprintable() else text.translate(_INVISIBLE)


def _without_suffixes(words: list[str], rule: NameRule) -> list[str]:
    """The words before the suffixes at the end."""
    count = len(words)
    while count and normalize(words[count - 1]) in rule.suffixes:
        count -= 1
    return words[:count]


def _last_name_words(words: list[str], rule: NameRule) -> tuple[int, int] | None:
    """Where the last name begins and ends among the words, or None where the rule leaves no first or no last name."""
    match rule.surname:
        case Surname.CAPITALS:
            found = _capitals(words)
        case Surname.FIRST_WORD:
            end = 0
            while end < len(words) - 1 and normalize(words[end]) in rule.particles:
                end += 1
            found = (0, end + 1)
        case _:
            begin = len(words) - 1
            while begin > 1 and normalize(words[begin - 1]) in rule.particles:
                begin -= 1
            found = (begin, len(words))
    if found is None or found[1] - found[0] >= len(words) or found[0] < 0:
        return None
    return found


def _capitals(words: list[str]) -> tuple[int, int] | None:
    """The run of words in capitals at the beginning or at the end; None where there is none, or one at each."""
    capital = [word.isupper() and len(word) > 1 and not word.endswith(".") for word in words]
    begin = next((index for index, is_capital in enumerate(capital) if not is_capital), len(words))
    end = next((index for index, is_capital in enumerate(reversed(capital)) if not is_capital), len(words))
    if sum(capital) != max(begin, end) or not (begin or end):
        return None
    return (0, begin) if begin else (len(words) - end, len(words))


def _split_failed(full_name: str, words: list[str], rule: NameRule) -> InvalidValue:
    if len(words) < 2:
        message = f"{quoted(full_name)} is one word and cannot be split into a first and a last name"
        return InvalidValue("name-split-failed", message, "write both names")
    if rule.surname is Surname.CAPITALS:
        message = f"{quoted(full_name)} needs a last name in capitals, with a first name before or after it"
        return InvalidValue("name-split-failed", message, "write it as 'LAST First', or as 'Last, First'")
    message = f"{quoted(full_name)} cannot be split into a first and a last name"
    return InvalidValue("name-split-failed", message, "write it as 'Last, First'")


def _part_by_comma(full_name: str, part: Side) -> str | InvalidValue:
    pieces = [" ".join(piece.split()) for piece in full_name.split(",")]
    if len(pieces) != 2 or not all(pieces):
        message = f"{quoted(full_name)} cannot be split into a first and a last name"
        return InvalidValue("name-split-failed", message, "write it as 'Last, First' or 'First Last'")
    return pieces[0] if part == "last" else pieces[1]


# --- e-mail addresses -----------------------------------------------------------------------------

_EMAIL_HINT = "write one address like name@example.com"
# Nearly every address has this form, and its local part needs no further checks.
_PLAIN_EMAIL = re.compile(r"([A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*)@([A-Za-z0-9.-]+)")
_LONGEST_PLAIN = 64  # the whole address; far below the limits of the library


def read_email(text: str, typed: bool) -> str | InvalidValue:
    """The address with its domain in lower case; no DNS lookup is made."""
    plain = _PLAIN_EMAIL.fullmatch(text) if len(text) <= _LONGEST_PLAIN else None
    domain = _read_domain(plain.group(2)) if plain else None
    if plain and domain:
        return f"{plain.group(1)}@{domain}"
    address, error = _read_address(text)
    return address or InvalidValue(
        "email-invalid", f"{quoted(text)} is not a valid e-mail address: {error}", _EMAIL_HINT
    )


def _read_address(text: str) -> tuple[str, str]:
    """The normalized address and "", or "" and why it is not valid."""
    from email_validator import EmailNotValidError, validate_email

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


# --- phone numbers --------------------------------------------------------------------------------

_SHORTENED = re.compile(r"[0-9][.,]?[0-9]*E\+?[0-9]+", re.IGNORECASE)
# The library reads letters as keypad digits; before the number, as in `Tel. 0555 ...`, it ignores them.
_LETTER_IN_NUMBER = re.compile(r"[+＋\d].*[^\W\d_]|[^\W\d_]\d", re.DOTALL)
_FLOAT_TAIL = re.compile(r"(?<=[0-9]{5})\.0$")  # a number column that a program stored as floats


def phone_reader(value: ResolvedValue) -> Callable[[str, bool], str | InvalidValue]:
    """A reader of phone numbers of the declared region, or with + and the country code; it returns E.164."""

    def read(text: str, typed: bool) -> str | InvalidValue:
        if _SHORTENED.fullmatch(text):
            message = f"{quoted(text)} is a number that a spreadsheet program shortened"
            return InvalidValue("phone-shortened", message, "format the column as text and type the number again")
        return _read_phone(_FLOAT_TAIL.sub("", text), value)

    return read


def _read_phone(text: str, value: ResolvedValue) -> str | InvalidValue:
    import phonenumbers

    region = value.formats.region
    # Without a region the library accepts no international prefix, though 00 is one nearly everywhere.
    dialled = "+" + text[2:] if region is None and text.startswith("00") else text
    try:
        number = phonenumbers.parse(dialled, region)
    except phonenumbers.NumberParseException:
        return InvalidValue("phone-invalid", f"{quoted(text)} is not a valid phone number", _phone_hint(value))
    if number.extension and phonenumbers.is_valid_number(number):
        message = f"{quoted(text)} has the extension {number.extension}, which cannot be sent"
        return InvalidValue("phone-extension", message, "write the number without the extension")
    if _LETTER_IN_NUMBER.search(text):
        return InvalidValue("phone-letters", f"{quoted(text)} contains letters", "write the number in digits")
    if not phonenumbers.is_valid_number(number):
        return InvalidValue("phone-invalid", f"{quoted(text)} is not a valid phone number", _phone_hint(value))
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _phone_hint(value: ResolvedValue) -> str:
    region = value.formats.region
    if region is None:
        return f"write it with + and the country code, or set region: {in_mapping(value.place)}"
    import phonenumbers

    return f"write it as +{phonenumbers.country_code_for_region(region)} ..., or in the usual form for {region}"


# --- web addresses --------------------------------------------------------------------------------

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(/|$))")  # host:8080 has no scheme
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.[^\W\d_][\w-]*\.?|[0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-f:]+:[0-9a-f.:]*")


def read_url(text: str, typed: bool) -> str | InvalidValue:
    """An http or https address; https:// is added to an address without a scheme, such as `linkedin.com/in/ada`."""
    address = text if _SCHEME.match(text) else f"https://{text.removeprefix('//')}"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return _invalid_url(text)
    if parts.scheme.lower() not in ("http", "https"):
        return _invalid_url(text, f": {parts.scheme}: addresses cannot be sent")
    if host is None or port == 0 or not _HOST.fullmatch(host) or not address.isprintable() or " " in address:
        return _invalid_url(text)
    return address


def _invalid_url(text: str, reason: str = "") -> InvalidValue:
    return InvalidValue(
        "url-invalid", f"{quoted(text)} is not a valid web address{reason}", "write it with https:// in front"
    )
