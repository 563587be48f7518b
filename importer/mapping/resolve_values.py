"""Resolves a value of the mapping against a header, and checks that it suits its field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from importer.mapping.fields import NO_WORDS, NUMBERS, YES_WORDS, ChoiceOptions, FieldSpec, Kind
from importer.mapping.header import Context
from importer.mapping.nodes import Text
from importer.mapping.resolved import ChildIndex, FromChild, Lookup, ResolvedFilter, ResolvedTable, ResolvedValue
from importer.mapping.tables import ChildRows, Filter
from importer.mapping.values import EndValue, Formats, Otherwise, Replacement, ValueSpec
from importer.problems import Column
from importer.text.currencies import currencies_of, currency_code
from importer.text.dates import FIRST_YEAR, LAST_YEAR
from importer.text.normalize import did_you_mean, normalize, normalized, site_of

# --- values -------------------------------------------------------------------------------------


def resolve_value(spec: ValueSpec, field: FieldSpec, context: Context) -> ResolvedValue | None:
    """The value, ready to be read; None if a column is not found. Problems are reported."""
    check_value(spec, field, context)
    columns = context.find_all(spec.own_columns)
    return None if columns is None else with_columns(spec, field, columns, context)


def with_columns(
    spec: ValueSpec, field: FieldSpec, columns: tuple[Column, ...], context: Context
) -> ResolvedValue | None:
    """The value from these columns of the row itself; None if a column of the other table is not found."""
    if spec.rows is None:
        return _from_cells(spec, field, columns, context)
    there = replace(context, header=context.child_header(spec.rows.source)).find_all(spec.columns)
    join = _joined(spec.rows, columns[0], None, context)
    if there is None or join is None:
        return None
    value = _from_cells(spec, field, there, context)
    return ResolvedValue(spec, field, value.formats, columns, lookup=Lookup(join, value))


def _from_cells(spec: ValueSpec, field: FieldSpec, columns: tuple[Column, ...], context: Context) -> ResolvedValue:
    mapping = context.mapping
    formats = spec.over(mapping.defaults)
    missing = normalized(mapping.missing if spec.missing is None else spec.missing)
    present = normalized((spec.present or ()) if isinstance(spec, EndValue) else ())
    latest = _latest(field, formats, context.today)
    documents = context.documents.get(str(spec.folder)) if spec.folder else None
    return ResolvedValue(spec, field, formats, columns, _table(spec), latest, missing, present, documents=documents)


def _latest(field: FieldSpec, formats: Formats, today: date | None) -> date | None:
    """The last valid day: tomorrow, as it is tomorrow somewhere already, or the last day of a year to come."""
    ahead = {"error": 0, "allow": None, None: field.years_ahead}[formats.future]
    if field.kind is not Kind.DATE or today is None or ahead is None:
        return None
    return today + timedelta(days=1) if ahead == 0 else date(today.year + ahead, 12, 31)


def _table(spec: ValueSpec) -> ResolvedTable | None:
    if spec.values is None:
        return None
    targets = {normalize(entry.cell): str(entry.target) for entry in spec.values}
    place = spec.node.key("values").place
    if isinstance(spec.otherwise, Replacement):
        return ResolvedTable(targets, Otherwise.VALUE, str(spec.otherwise.value), place)
    return ResolvedTable(targets, spec.otherwise or Otherwise.ERROR, None, place)


# --- other tables and filters -------------------------------------------------------------------


def resolve_join(rows: ChildRows, context: Context, order_by: Text | None = None) -> FromChild | None:
    """The join with another table, whose rows are read into memory; None if a column is not found.

    Raises UnusableInput: the table cannot be read to its end.
    """
    return _joined(rows, context.find(rows.equals), order_by, context)


def _joined(rows: ChildRows, equals: Column | None, order_by: Text | None, context: Context) -> FromChild | None:
    there = replace(context, header=context.child_header(rows.source))
    key, order = there.find(rows.key_), there.find(order_by) if order_by else None
    if equals is None or key is None or (order_by and order is None):
        return None
    table = context.tables[rows.source]
    index = ChildIndex(table.origin, table.columns, key, order, *context.rows_by_key(rows.source, key))
    return FromChild(equals, index, normalized(context.mapping.missing))


def resolve_filter(spec: Filter, context: Context, label: str) -> ResolvedFilter | None:
    """The filter, ready for rows; None, after reporting it, if its column is not found."""
    column = context.find(spec.column)
    return None if column is None else ResolvedFilter(column, normalized(spec.words), spec.negated, label)


# --- whether a value suits its field ------------------------------------------------------------

_NAME, _RANGE = ("first", "last"), ("start", "end")
_OF_NAMES = (Kind.NAME, Kind.TEXT, Kind.LINE)


def check_value(spec: ValueSpec, field: FieldSpec, context: Context) -> None:
    """Report settings and constants that do not suit the field."""
    formats, kind, label = spec.over(context.mapping.defaults), field.kind, field.label
    part = f"part: {spec.part} has no effect on {label}, which is not a"

    def no_effect(message: str, hint: str) -> None:
        context.error("key-not-applicable", message, hint, spec.place)

    if spec.split is not None and not (spec.take or spec.part in _RANGE or kind is Kind.CHOICES):
        hint = "choose a piece with take: first, or remove split:"
        no_effect(f"split has no effect on {label}, which takes one value", hint)
    if spec.take is not None and kind is Kind.CHOICES:
        no_effect(f"take would drop choices: {label} takes several", "remove take:")
    if spec.pick is not None and kind in (Kind.URL, Kind.EMAIL) and site_of(spec.pick) is None:
        example = "@" if kind is Kind.EMAIL else "github.com"
        no_effect(
            f"'{spec.pick}' is a label, and {label} takes a part of an address", f'write it like pick: "{example}"'
        )
    if spec.folder is not None and kind not in (Kind.CV, Kind.DOCUMENT):
        no_effect(f"folder has no effect on {label}, which is not a document", "remove folder:")
    if spec.currency is not None and kind not in NUMBERS:
        no_effect(f"currency has no effect on {label}, which is not a number", "remove currency:")
    if spec.part in _NAME and kind not in _OF_NAMES:
        no_effect(f"{part} name", "remove part:")
    if spec.part in _RANGE and kind not in (Kind.DATE, *NUMBERS):
        no_effect(f"{part} date or a number", "remove part:")
    if formats.decimal is not None and formats.decimal == formats.thousands and formats is not context.mapping.defaults:
        message = f"decimal and thousands are both '{formats.decimal}'"
        context.error("delimiter-invalid", message, "set both for this column", spec.place)
    if kind is Kind.DATE and formats.short_year is not None and formats.pivot is None:
        message = "%y is a two-digit year, but its century is not set"
        hint = "set the first of the hundred years it belongs to, for example pivot: 1950, or export four-digit years"
        context.error("date-format-invalid", message, hint, formats.short_year)
    if kind in (Kind.YES_NO, Kind.FLAG):
        for text in (*_meaning(formats.yes, NO_WORDS), *_meaning(formats.no, YES_WORDS)):
            message = f"'{text}' is listed under {text.name.removeprefix('each item of ')} and means the opposite"
            context.error(
                "keys-conflict", message, "to exchange them on purpose, write values: {yes: no, no: yes}", text.place
            )
    if formats.currency is not None and kind in NUMBERS:
        _check_currencies(formats.currency, context)
    if spec.missing is None and spec.value is None:
        _check_missing(_meant(spec, kind, formats), context)
    for text in _constants(spec):
        _check_constant(text, field, formats, context)


def _meaning(words: tuple[Text, ...] | None, known: tuple[str, ...]) -> list[Text]:
    whole = normalized(word for word in known if len(word) > 1)  # x may mean both
    return [word for word in words or () if normalize(word) in whole]


def _meant(spec: ValueSpec, kind: Kind, formats: Formats) -> Iterator[Text]:
    """The texts of cells that the mapping gives another meaning than that of a blank cell."""
    default = spec.default or ""
    yield from (entry.cell for entry in spec.values or () if entry.target.strip() not in ("", default.strip()))
    if kind in (Kind.YES_NO, Kind.FLAG):
        for words, known in ((formats.yes or (), YES_WORDS), (formats.no or (), NO_WORDS)):
            yield from () if normalize(default) in normalized((*words, *known)) else words
    if isinstance(spec, EndValue) and spec.present and "" not in spec.present:  # else a blank one has it too
        yield from spec.present


def _check_missing(meant: Iterator[Text], context: Context) -> None:
    """Report words with a meaning that are read as an empty cell, by `missing:` of all columns: it would be lost."""
    missing = normalized(context.mapping.missing) - {""}
    for text in meant:
        if normalize(text) in missing:
            message = f"'{text}' has a meaning here, and is read as an empty cell by missing: under source:"
            hint = 'give this column a list of its own, such as missing: [""], or remove the word there'
            context.error("keys-conflict", message, hint, text.place)


def _check_currencies(spellings: tuple[Text, ...], context: Context) -> None:
    """Warn of different currencies: without its currency, 100 EUR and 100 TRY would be the same number."""
    different = [one for one in currencies_of(spellings) if currency_code(one)]
    if len(different) > 1:
        message = f"currency lists {' and '.join(different)}, and only the number is sent, without its currency"
        hint = "list the spellings of one currency, and convert the other amounts in the file"
        context.diagnostics.warning("currencies-differ", message, hint, spellings[0].place)


def _constants(spec: ValueSpec) -> Iterator[Text]:
    """The texts in the mapping file that can become the value."""
    if spec.value is not None:
        yield spec.value
    if spec.default is not None:
        parts = spec.default.split(spec.split) if spec.split else [spec.default]
        yield from (Text(part.strip(), spec.default.place) for part in parts if part.strip())
    yield from (entry.target for entry in spec.values or () if entry.target.strip())
    if isinstance(spec.otherwise, Replacement):
        yield spec.otherwise.value


def _check_constant(text: Text, field: FieldSpec, formats: Formats, context: Context) -> None:
    """Report a text that would make rows invalid."""
    form = _FORMS.get(field.kind)
    if field.kind in (Kind.CHOICE, Kind.CHOICES):
        if field.options and ChoiceOptions(field.options).find(text) is None:
            hint = did_you_mean(text, field.options)
            context.error("constant-invalid", f"'{text}' is not {field.noun}", hint, text.place)
    elif form is not None and not form.fits(text.strip(), formats):
        context.error("constant-invalid", f"'{text}' is not a valid {form.noun}", form.hint, text.place)


class _Form(NamedTuple):
    noun: str
    hint: str
    fits: Callable[[str, Formats], bool]


def _is_date(text: str, formats: Formats) -> bool:
    try:
        return FIRST_YEAR <= date.fromisoformat(text).year <= LAST_YEAR and len(text) == 10
    except ValueError:
        return False


def _is_yes_or_no(text: str, formats: Formats) -> bool:
    return normalize(text) in normalized((*YES_WORDS, *NO_WORDS, *(formats.yes or ()), *(formats.no or ())))


def _is_url(text: str, formats: Formats) -> bool:
    try:
        return urlsplit(text).scheme.lower() in ("http", "https") and bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _matches(pattern: str) -> Callable[[str, Formats], bool]:
    return lambda text, formats: re.fullmatch(pattern, text) is not None


_DOCUMENT_HINT = "give the ID of an uploaded document"
_FORMS = {
    Kind.DATE: _Form("date", "write it as YYYY-MM-DD", _is_date),
    Kind.INTEGER: _Form("whole number", "write it in digits", _matches(r"[+-]?[0-9]{1,30}")),
    Kind.DECIMAL: _Form("number", "write it like 1234.5", _matches(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?")),
    Kind.YES_NO: _Form("yes/no value", "write yes or no", _is_yes_or_no),
    Kind.FLAG: _Form("yes/no value", "write true or false", _is_yes_or_no),
    Kind.URL: _Form("web address", "write it with https:// in front", _is_url),
    Kind.DOCUMENT: _Form("document ID", f"{_DOCUMENT_HINT}, in digits", _matches(r"[0-9]{1,30}")),
    Kind.CV: _Form("document ID", _DOCUMENT_HINT, _matches(r"[!-~]{1,200}")),
    Kind.EMAIL: _Form("e-mail address", "write it like name@example.com", _matches(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
}
