"""Reads phone numbers, or says why a text is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import phonenumbers

from importer.mapping import ResolvedValue
from importer.text.normalize import normalize, normalized
from importer.transform.texts import InvalidValue, in_mapping, plain_digits, quoted

_SHORTENED = re.compile(r"[0-9][.,]?[0-9]*E\+?[0-9]+", re.IGNORECASE)
# The library ignores what is before the number, which may say that it is not the candidate's, or not to be called.
_OTHERS = normalized((
    "fax", "faks", "telefax", "wife", "husband", "spouse", "partner", "mother", "mom", "mum", "father", "dad",
    "parent", "parents", "brother", "sister", "son", "daughter", "friend", "guardian", "eş", "eşi", "eşim", "anne",
    "annesi", "annem", "baba", "babası", "babam", "kardeş", "kardeşim", "veli", "yakını", "yakın", "ehefrau",
    "ehemann", "mutter", "vater", "eltern", "mère", "père", "conjoint", "madre", "padre", "esposa", "esposo", "żona",
    "mąż", "matka", "ojciec", "acil", "emergency", "notfall", "urgence", "emergencia", "old", "former", "previous",
    "eski", "alt", "alte", "ancien", "wrong", "invalid", "yanlış", "falsch", "not", "nicht", "don't", "aramayın",
    "reference", "referans", "referenz", "recruiter", "agency", "manager", "secretary", "assistant", "sekreter",
    "sekretariat", "neighbour", "neighbor", "nachbar", "nachbarin", "komşu", "komşusu", "voisin", "vecino", "sąsiad",
    "colleague", "kollege", "kollegin", "boss", "chef", "chefin", "patron", "roommate", "landlord", "vermieter",
))  # fmt: skip
_BEFORE_NUMBER = re.compile(r"[^\d+＋]*")
# The library reads letters as keypad digits.
_LETTER_IN_NUMBER = re.compile(r"[+＋\d].*[^\W\d_]|[^\W\d_]\d", re.DOTALL)
_FLOAT_TAIL = re.compile(r"(?<=[0-9]{5})\.0$")  # a number column that a program stored as floats

_DATE = re.compile(r"(?:19|20)[0-9]{2}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}([./-])[0-9]{1,2}\1(?:19|20)[0-9]{2}")
_SEVERAL = re.compile(r"[/;,|\n&]|\s-\s|\s{2,}")  # between two numbers; a slash also behind an area code
_INTERNATIONAL = re.compile(r"[+＋]\s*\(?[0-9]")
_LEAST_NATIONAL = 9  # digits; a shorter number without 0 most likely has no area code
_LONGEST_NATIONAL = 10  # longer numbers without + mostly begin with the code of a country
_DANGLING = re.compile(r"\?|[0-9]\s*(?:\+|\(\+)")


def phone_reader(value: ResolvedValue) -> Callable[[str, bool], str | InvalidValue]:
    """A reader of one phone number of the declared region, or with + and the country code; it returns E.164.

    Accepts a word before the number, but none of another person or of a fax, and digits of any script. Not valid are
    several numbers, an extension, letters, a date, and a number without + that is as likely one of another country.
    """

    def read(text: str, typed: bool) -> str | InvalidValue:
        if text.removeprefix("+").isdecimal():
            return _read_phone(text, value)
        text = _FLOAT_TAIL.sub("", text)
        return _problem_of_signs(text, value) or _read_phone(text, value)

    return read


def _problem_of_signs(text: str, value: ResolvedValue) -> InvalidValue | None:
    """What is wrong with a text that is not only digits, before the library reads it."""
    if _SHORTENED.fullmatch(text):
        message = f"{quoted(text)} is a number that a spreadsheet program shortened"
        return InvalidValue("number-shortened", message, "format the column as text and type the number again")
    if _DATE.fullmatch(text) or _DANGLING.search(text):
        return _invalid_phone(text, value)
    if _has_several(text, value.formats.region):
        hint = "write one number, or set split: and take: first_valid " + in_mapping(value.place)
        return InvalidValue("phone-invalid", f"{quoted(text)} contains several phone numbers", hint)
    return None


def _read_phone(text: str, value: ResolvedValue) -> str | InvalidValue:
    region = value.formats.region
    # Without a region the library accepts no international prefix, though 00 is one nearly everywhere.
    dialled = "+" + text[2:] if region is None and text.startswith("00") else text
    number = _parsed(dialled, region)
    if number is None:
        return _invalid_phone(text, value)
    if number.extension and phonenumbers.is_valid_number(number):
        message = f"{quoted(text)} has the extension {number.extension}, which cannot be sent"
        return InvalidValue("phone-extension", message, "write the number without the extension")
    if other := _other_word_before(text):
        hint = "if it is the candidate's, write only the number"
        return InvalidValue("phone-invalid", f"{quoted(text)} has '{other}' before the number", hint)
    if _LETTER_IN_NUMBER.search(text):
        return InvalidValue("phone-invalid", f"{quoted(text)} contains letters", "write the number in digits")
    if not phonenumbers.is_valid_number(number):
        is_complete = phonenumbers.is_possible_number_with_reason(number) == phonenumbers.ValidationResult.IS_POSSIBLE
        if is_complete and text.startswith(("+", "(+", "0")):  # others may be from another country
            hint = f"it has enough digits, but +{number.country_code} has no number like this: correct the digits"
            return replace(_invalid_phone(text, value), hint=hint)
        return _invalid_phone(text, value)
    if region and _may_be_another(text, number, region):
        hint = f"write it with + and the country code, or as usual in {region}, with its area code"
        return InvalidValue("phone-invalid", f"{quoted(text)} may be a number of another area or country", hint)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _other_word_before(text: str) -> str | None:
    """The first word before the number that says that it is another one."""
    before = _BEFORE_NUMBER.match(text)
    words = re.findall(r"[^\W\d_]+(?:'t)?", before[0]) if before else []
    return next((word for word in words if normalize(word) in _OTHERS), None)


def _parsed(text: str, region: str | None = None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None


def _is_valid(text: str, region: str | None = None) -> bool:
    number = _parsed(text, region)
    return number is not None and phonenumbers.is_valid_number(number)


def region_of(text: str) -> str:
    """The country of a number that begins with + and its code; "" if it has none."""
    number = _parsed(text)
    return (phonenumbers.region_code_for_number(number) or "") if number else ""


def is_mobile(text: str, region: str) -> bool:
    """Whether a number without a country code is that of a mobile phone in a region, and no landline."""
    number = _parsed(text, region)
    return number is not None and phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.MOBILE


def _has_several(text: str, region: str | None) -> bool:
    """Whether the text up to a separator is a number of its own, or more than one begins with +."""
    if len(_INTERNATIONAL.findall(text)) > 1:
        return True
    return any(_is_valid(text[: found.start()], region) for found in _SEVERAL.finditer(text))


def _may_be_another(text: str, number: phonenumbers.PhoneNumber, region: str) -> bool:
    """Whether a number without + and without the 0 that its region writes in front may be another one.

    It may have no area code, or begin with the code of another country. Where all mobile numbers of a region are
    equally long, a number of that length belongs to the region.
    """
    if "+" in plain_digits(text):
        return False
    digits = phonenumbers.normalize_digits_only(text)
    national = phonenumbers.national_significant_number(number)
    if digits != national:
        return False
    usual = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    is_usual = phonenumbers.normalize_digits_only(usual) == digits
    if is_usual and len(digits) <= _LONGEST_NATIONAL:
        return False
    if not is_usual and len(digits) < _LEAST_NATIONAL:
        return True
    if len(digits) > _LONGEST_NATIONAL and digits.startswith(str(number.country_code)):
        return True
    metadata = phonenumbers.PhoneMetadata.metadata_for_region(region)
    if metadata and metadata.mobile and metadata.mobile.possible_length == (len(national),):
        return False
    return _is_valid(f"+{digits}")


def _invalid_phone(text: str, value: ResolvedValue) -> InvalidValue:
    return InvalidValue("phone-invalid", f"{quoted(text)} is not a valid phone number", _phone_hint(text, value))


def _phone_hint(text: str, value: ResolvedValue) -> str:
    region = value.formats.region
    if text.startswith(("+", "00", "(+")):
        return "check the country code and the number of digits"
    if text.isdecimal() and len(text) > _LONGEST_NATIONAL and _is_valid(f"+{text}"):
        return f"if its first digits are the country code, write a + in front: +{text}"
    if region is None:
        return f"write it with + and the country code, or set region: {in_mapping(value.place)}"
    return f"write it as +{phonenumbers.country_code_for_region(region)} ..., or in the usual form for {region}"
