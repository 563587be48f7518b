"""The reader for each kind of value that the service accepts; numbers, choices, yes and no, document IDs."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from importer.mapping import NO_WORDS, YES_WORDS, ChoiceOptions, Kind, ResolvedValue
from importer.problems import Unread
from importer.settings import WireFormat
from importer.text.currencies import currency_code, is_declared
from importer.text.normalize import did_you_mean, normalize
from importer.transform.dates import date_reader
from importer.transform.names import read_name
from importer.transform.phones import phone_reader
from importer.transform.texts import (
    InvalidValue,
    email_reader,
    in_mapping,
    into_table,
    or_leave_out,
    plain_digits,
    quoted,
    read_line,
    read_text,
    read_url,
)

TextReader = Callable[[str, bool], str | InvalidValue]


def reader_of(value: ResolvedValue, wire: WireFormat) -> Callable[[str, bool], Any]:
    """The reader of one text; its second argument: whether the workbook stores a number, date or boolean.

    It returns a text, a boolean for `Kind.FLAG`, or a InvalidValue.
    """
    kind = value.field.kind
    if kind is Kind.FLAG:
        return _flag_reader(value)
    if kind is Kind.YES_NO:
        return _yes_no_reader(value, wire.yes_no)
    return _PLAIN[kind] if kind in _PLAIN else _BUILT[kind](value)


# --- numbers: digits are kept exactly -------------------------------------------------------------

# Spaces, apostrophes and minus signs that look alike.
_SIGNS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "\u2212": "-"})
_CANONICAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_LONGEST_NUMBER = 60
_FRACTION = re.compile(r"[+-]?[0-9.,]*[0-9][.,](?!0+$)([0-9]{1,2}|[0-9]{4,})")  # 45.000 may be thousands


def _integer_reader(value: ResolvedValue) -> TextReader:
    """A reader of whole numbers, in digits of any script, with the declared thousands separator.

    A number cell with 12.0 is 12; a text "12,0" is 12 if `decimal: ","` is declared. A text "12,000" may mean
    thousands then, and is not valid.
    """
    thousands = value.formats.thousands
    whole, amount = re.compile(_whole_pattern(thousands)), _amount_in(value)
    zeros = _zero_decimals(value.formats.decimal)

    def read(text: str, typed: bool) -> str | InvalidValue:
        if typed:
            number = _typed_number(amount(text))
        else:
            digits = plain_digits(amount(text)[: _LONGEST_NUMBER + 1])
            number = _declared_number(zeros.sub("", digits) if zeros else digits, whole, thousands)
        if number is None or number != number.to_integral_value():
            return InvalidValue("number-invalid", f"{quoted(text)} is not a whole number", _number_hint(text, value))
        return format(number.to_integral_value() + 0, "f")  # + 0: no minus zero

    return read


def _decimal_reader(value: ResolvedValue) -> TextReader:
    """A reader of numbers with the declared separators, in digits of any script.

    A text "1.234" may mean thousands and is not valid where neither separator is declared; nor is it as an amount of a
    currency.
    """
    thousands, is_unproven = value.formats.thousands, bool(value.formats.currency)
    is_unproven = is_unproven or (value.formats.decimal is None and thousands is None)
    point = decimal_point(value)
    pattern = re.compile(f"{_whole_pattern(thousands)}({re.escape(point)}[0-9]+)?")
    unproven = re.compile(rf"[+-]?[1-9][0-9]{{0,2}}[{point}][0-9]{{3}}") if is_unproven else None
    amount = _amount_in(value)

    def read(text: str, typed: bool) -> str | InvalidValue:
        digits = text if typed else plain_digits(amount(text)[: _LONGEST_NUMBER + 1])
        if not typed and unproven and unproven.fullmatch(digits):
            message = f"{quoted(text)} may have a thousands or a decimal separator"
            declare = f"set decimal: and thousands: {in_mapping(value.place)}"
            hint = "write it without a separator" if value.formats.currency else declare
            return InvalidValue("number-invalid", message, hint)
        number = _typed_number(amount(text)) if typed else _declared_number(digits, pattern, thousands, point)
        if number is None:
            message = f"{quoted(text)} is not a number with the decimal separator '{point}'"
            return InvalidValue("number-invalid", message, _number_hint(text, value))
        return format(number, "f")

    return read


def decimal_point(value: ResolvedValue) -> str:
    """The declared one; if none is, a point, or a comma where points separate thousands."""
    return value.formats.decimal or ("," if value.formats.thousands == "." else ".")


def _typed_number(text: str) -> Decimal | None:
    """A number as a workbook stores it."""
    return Decimal(text) if len(text) <= _LONGEST_NUMBER and _CANONICAL.fullmatch(text) else None


def _declared_number(text: str, pattern: re.Pattern[str], thousands: str | None, point: str = ".") -> Decimal | None:
    """A number with the declared separators; the text is in plain digits."""
    digits = text.translate(_SIGNS)
    if len(text) > _LONGEST_NUMBER or not pattern.fullmatch(digits):
        return None
    if thousands:
        digits = digits.replace(thousands.translate(_SIGNS), "")
    return Decimal(digits.replace(point, "."))


def _whole_pattern(thousands: str | None) -> str:
    if thousands is None:
        return "[+-]?[0-9]+"
    separator = re.escape(thousands.translate(_SIGNS))
    indian = r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}" if thousands == "," else ""  # 12,34,567
    return rf"[+-]?(?:[1-9][0-9]{{0,2}}(?:{separator}[0-9]{{3}})+{indian}|[0-9]+)"


def _zero_decimals(point: str | None) -> re.Pattern[str] | None:
    """Decimals that are all zero; three of them may be thousands."""
    return None if point is None else re.compile(re.escape(point) + r"(?!000\Z)0+\Z")


def _amount_in(value: ResolvedValue) -> Callable[[str], str]:
    """Removes one declared currency before or after a number; a text with any other one does not change."""
    if not value.formats.currency:
        return lambda text: text
    spellings = value.formats.currency

    def amount(text: str) -> str:
        found = _WITH_CURRENCY.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
        return found[2] if found and is_declared(found[1] or found[3], spellings) else text

    return amount


_WITH_CURRENCY = re.compile(r"(\D+?)??\s*([+-]?\d(?:.*\d)?)\s*((?(1)|\D*))")  # in front or behind
_AMOUNT = re.compile(r"[^\d\s.,'+-]{1,4}\.?\s*[\d.,'’\s]+|[\d.,'’\s]+[^\d\s.,'+-]{1,4}\.?")
_WORD = re.compile(r"[^\W\d_]+")
_NUMERIC = re.compile(r"[+-]?[\d.,'’\s]+")
_ZEROS = re.compile(r"[+-]?\d+[.,]0{1,2}")  # three may be thousands
_GROUPS = re.compile(r"\d[.,'’\s]\d{3}(?!\d)")


def _number_hint(text: str, value: ResolvedValue) -> str:
    place, declared = in_mapping(value.place), value.formats.currency
    if not any(map(str.isdigit, text)):
        leave_out = or_leave_out(value)
        return f"write it in digits{leave_out} {place}" if leave_out else "write it in digits"
    is_known = _amount_in(value)(text) != text  # then something else is wrong
    if len(text) <= _LONGEST_NUMBER and _AMOUNT.fullmatch(text) and not is_known:
        word = _WORD.search(text)
        if word and currency_code(word[0]) is None:
            return "write it in digits"  # with another word, such as `from 90000` and `48k`, it may be another number
        if declared:
            return f"write it in digits and in {declared[0]}, or correct currency: {place}"
        is_currency = word or any(unicodedata.category(character) == "Sc" for character in text)
        keys = "currency: and thousands:" if value.formats.thousands is None and _GROUPS.search(text) else "currency:"
        return f"write it in digits, or set {keys} {place}" if is_currency else "write it in digits"
    if value.formats.thousands is None and _WORD.search(_amount_in(value)(text)):
        # `about 5`: no separator explains it
        return "write it in digits"
    amount = _amount_in(value)(text)
    if value.field.kind is Kind.INTEGER and value.formats.decimal is None and _ZEROS.fullmatch(amount):
        return f"write it without decimals, or set decimal: {place}"
    if value.field.kind is Kind.INTEGER and _FRACTION.fullmatch(amount):
        return "the question takes whole numbers: remove the decimals"
    decimal, thousands = value.formats.decimal, value.formats.thousands
    if value.field.kind is Kind.DECIMAL:
        is_declared = decimal and thousands
        example = f"like 1{thousands}234{decimal}50, or correct" if is_declared else "or set"
        return f"write it in digits, {example} decimal: and thousands: {place}"
    if thousands is None:
        is_number = _NUMERIC.fullmatch(amount)  # not 10+
        return f"write it in digits, or set thousands: {place}" if is_number else "write it in digits"
    without = "" if decimal else f"; for numbers like 12{'.' if thousands == ',' else ','}00 set decimal: {place}"
    separator = "an apostrophe" if thousands in ("'", "’") else f"'{thousands}'"
    return f"write it in digits, with or without {separator} between thousands{without}"


# --- choices --------------------------------------------------------------------------------------


def _choice_reader(value: ResolvedValue) -> TextReader:
    """A reader that returns one option in its own spelling. Without known options, any text is accepted."""
    options = ChoiceOptions(value.field.options)

    def read(text: str, typed: bool) -> str | InvalidValue:
        option = options.find(text) if options.spelled else text
        if option is not None:
            return option
        if typed and text[0].isdigit() and ("-" in text or ":" in text):
            hint = "type the option again, in a cell with the format Text: a spreadsheet program has changed it"
            return InvalidValue("not-an-option", f"{quoted(text)} is not {value.field.noun}", hint)
        known = did_you_mean(text, value.field.options, is_value=True)
        hint = f"{known}, {into_table(value)}"
        unread = Unread(text, value.place)
        return InvalidValue("not-an-option", f"{quoted(text)} is not {value.field.noun}", hint, unread)

    return read


def joined_choices(chosen: Iterable[str], wire: WireFormat) -> str:
    """Several choices in one answer string. The service description does not show the format, so it is a setting."""
    distinct = list(dict.fromkeys(chosen))
    return wire.choice_separator.join(distinct) if wire.choice_separator else json.dumps(distinct, ensure_ascii=False)


# --- yes and no, in the words of several languages and of the mapping -----------------------------


def _flag_reader(value: ResolvedValue) -> Callable[[str, bool], bool | InvalidValue]:
    """A reader of booleans; words declared in the mapping take precedence over the built-in ones."""
    meanings = {normalize(word): True for word in YES_WORDS} | {normalize(word): False for word in NO_WORDS}
    meanings |= {normalize(word): True for word in value.formats.yes or ()}
    meanings |= {normalize(word): False for word in value.formats.no or ()}

    def read(text: str, typed: bool) -> bool | InvalidValue:
        meaning = meanings.get(normalize(text))
        if meaning is None:
            hint = f"write yes or no, or add the word under yes: or no: {in_mapping(value.place)}{or_leave_out(value)}"
            unread = Unread(text, value.place)
            return InvalidValue("yes-no-invalid", f"{quoted(text)} is neither yes nor no", hint, unread)
        return meaning

    return read


def _yes_no_reader(value: ResolvedValue, words: tuple[str, str]) -> TextReader:
    """A reader of yes/no answers that returns the word to send."""
    read_flag = _flag_reader(value)
    yes, no = words

    def read(text: str, typed: bool) -> str | InvalidValue:
        flag = read_flag(text, typed)
        if isinstance(flag, InvalidValue):
            return flag
        return yes if flag else no

    return read


# --- IDs of uploaded documents --------------------------------------------------------------------

_TOKEN = re.compile(r"(?=.*[0-9A-Za-z])[0-9A-Za-z_.:=+~{}-]{1,200}")
_NUMBER = re.compile(r"[0-9]{1,30}")
_FLOAT = re.compile(r"^([0-9]{1,15})\.0\Z")  # an ID column that a program stored as floats
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")
# Numbers with separators or an exponent, what a spreadsheet program made of 1-2, answers, and names of files.
_NO_TOKEN = re.compile(
    r"[0-9]+(?:[.,][0-9]+)+|[0-9][.,]?[0-9]*E\+?[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9:]*:[0-9]{2}|TRUE|FALSE|"
    r"none|null|nan|yes|no|ja|nein|evet|var|yok|oui|non|tak|nie|brak|keine?r?|"
    r"(?:[0-9]{1,2}-)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:-[0-9]{2})?|"
    r".*\.(?:pdf|docx?|odt|rtf|txt|html?|jpe?g|png|zip)", re.IGNORECASE
)  # fmt: skip


def _read_document(text: str, typed: bool) -> str | InvalidValue:
    """A document ID of an answer: an integer or numeric text (service description 2.2)."""
    number = _FLOAT.sub(r"\1", text)
    return number if _NUMBER.fullmatch(number) else _invalid_document(text)


def _read_cv(text: str, typed: bool) -> str | InvalidValue:
    """A document ID of a CV: one token of letters, digits and - _ . : = + ~ (a string in service description 4.2).

    Not valid are names of files, web addresses, and numbers with separators.
    """
    token = _FLOAT.sub(r"\1", text)
    is_token = _TOKEN.fullmatch(token) and not (_NO_TOKEN.fullmatch(token) or (typed and _MONTH.fullmatch(token)))
    return read_text(token, typed) if is_token else _invalid_document(text)


def _invalid_document(text: str) -> InvalidValue:
    hint = "enter the ID of one uploaded document"
    return InvalidValue("document-id-invalid", f"{quoted(text)} is not a valid document ID", hint)


# --- the table ------------------------------------------------------------------------------------

_PLAIN: dict[Kind, TextReader] = {
    Kind.TEXT: read_text,
    Kind.LINE: read_line,
    Kind.NAME: read_name,
    Kind.URL: read_url,
    Kind.DOCUMENT: _read_document,
    Kind.CV: _read_cv,
}
_BUILT: dict[Kind, Callable[[ResolvedValue], TextReader]] = {
    Kind.EMAIL: email_reader,
    Kind.PHONE: phone_reader,
    Kind.DATE: date_reader,
    Kind.INTEGER: _integer_reader,
    Kind.DECIMAL: _decimal_reader,
    Kind.CHOICE: _choice_reader,
    Kind.CHOICES: _choice_reader,  # for each choice
}
