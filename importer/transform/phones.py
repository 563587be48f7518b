"""Reads phone numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

from importer.mapping import ResolvedValue
from importer.transform.refusal import Refusal, in_mapping, quoted

_SHORTENED = re.compile(r"[0-9][.,]?[0-9]*E\+?[0-9]+", re.IGNORECASE)
# The library reads letters as the digits of their keys; before the number, as in `Tel. 0555 ...`, it leaves them out.
_LETTER_IN_NUMBER = re.compile(r"[+＋\d].*[^\W\d_]|[^\W\d_]\d", re.DOTALL)
_FLOAT_TAIL = re.compile(r"(?<=[0-9]{5})\.0$")  # a number column that some program kept as a float


def phone_reader(value: ResolvedValue) -> Callable[[str, bool], str | Refusal]:
    """A reader of phone numbers of the declared region, or of any with + and its country code; they become E.164."""

    def read(text: str, typed: bool) -> str | Refusal:
        if _SHORTENED.fullmatch(text):
            message = f"{quoted(text)} is a number that a spreadsheet program has shortened"
            return Refusal("phone-shortened", message, "format the column as text and type the number again")
        return _read(_FLOAT_TAIL.sub("", text), value)

    return read


def _hint(value: ResolvedValue) -> str:
    region = value.formats.region
    if region is None:
        return f"write it with + and the country code, or declare region: {in_mapping(value.place)}"
    import phonenumbers

    return f"write it as +{phonenumbers.country_code_for_region(region)} ..., or as people write it in {region}"


def _read(text: str, value: ResolvedValue) -> str | Refusal:
    import phonenumbers  # it takes a while to load, and not every file has phone numbers

    region = value.formats.region
    # Without a region the library knows no international prefix, though 00 is one nearly everywhere.
    dialled = "+" + text[2:] if region is None and text.startswith("00") else text
    try:
        number = phonenumbers.parse(dialled, region)
    except phonenumbers.NumberParseException:
        return Refusal("phone-unreadable", f"{quoted(text)} is no phone number", _hint(value))
    if number.extension and phonenumbers.is_valid_number(number):
        message = f"{quoted(text)} has the extension {number.extension}, which cannot be sent"
        return Refusal("phone-extension", message, "write the number without it")
    if _LETTER_IN_NUMBER.search(text):
        return Refusal("phone-letters", f"{quoted(text)} has letters in its number", "write the number in digits")
    if not phonenumbers.is_valid_number(number):
        return Refusal("phone-invalid", f"{quoted(text)} is no valid phone number", _hint(value))
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
