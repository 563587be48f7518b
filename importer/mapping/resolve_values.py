"""Looks up columns by name, and checks that a value of the mapping is complete and suits its field."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from importer.mapping.model import Mapping
from importer.mapping.nodes import Diagnostics, Text
from importer.mapping.resolved import (
    ChildIndex,
    FieldSpec,
    FromChild,
    Kind,
    Lookup,
    Options,
    Pattern,
    ResolvedFilter,
    ResolvedTable,
    ResolvedValue,
    Table,
)
from importer.mapping.scalars import NEWLINE
from importer.mapping.tables import ChildRows, ChildSource, Filter
from importer.mapping.values import CandidateValue, Formats, Otherwise, Replacement, ValueSpec
from importer.models import Row
from importer.problems import Column, Place, Problem
from importer.text.currencies import currency_code
from importer.text.dates import FIRST_YEAR, LAST_YEAR
from importer.text.normalize import closest, did_you_mean, normalize, normalize_name

# --- columns ------------------------------------------------------------------------------------

_MIN_UNKNOWN = 3
_LETTER = re.compile(r"=\s*([A-Za-z]{1,3})")


class Header:
    """The columns of a table by name; records which of them are used.

    noun: what messages call a column, for example the group of a pattern. table: the name of a table other than the
    source.
    """

    def __init__(self, columns: Sequence[Column], noun: str = "column", table: str = "") -> None:
        self.table = table
        self.columns = tuple(columns)
        self._noun = noun
        self._by_letter = {column.letter: column for column in columns}
        self._by_normalized: dict[str, list[Column]] = defaultdict(list)
        self._by_name: dict[str, list[Column]] = defaultdict(list)
        self._by_lower: dict[str, list[Column]] = defaultdict(list)
        for column in columns:
            self._by_normalized[normalize(column.name)].append(column)
            self._by_name[normalize_name(column.name)].append(column)
            self._by_lower[normalize_name(column.lower)].append(column)
        self._used: set[int] = set()
        self.unknown: list[Problem] = []  # the errors about missing columns

    def candidates(self, name: str) -> tuple[Column, ...]:
        """The columns that match a name: several if their normalized names are equal.

        In a header of two rows, the lower name is enough: `Email` for `Candidate / Email`.
        """
        letter = _LETTER.fullmatch(name.strip())
        if letter:
            column = self._by_letter.get(letter.group(1).upper())
            return (column,) if column else ()
        normalized, bare = normalize(name), normalize_name(name)
        if not normalized:
            return ()
        # Punctuation matters only where it distinguishes two columns (C++ and C#).
        found = self._by_normalized.get(normalized)
        if found is None and bare:
            found = self._by_name.get(bare) or self._by_lower.get(bare)
        return tuple(found or ())

    def find(self, name: Text, diagnostics: Diagnostics) -> Column | None:
        """The only column of that name; no match, or several, is reported."""
        found = self.candidates(name)
        if len(found) == 1:
            self._used.add(found[0].index)
            return found[0]
        if found:
            described = " and ".join(f"'{column.name}' (column {column.letter})" for column in found)
            hint = "give the letter of the right column, " + " or ".join(f'"={column.letter}"' for column in found)
            diagnostics.error("column-ambiguous", f"'{name}' matches several columns: {described}", hint, name.place)
        else:
            hint = self.proposal(name)
            where = f" in '{self.table}'" if self.table else ""
            message = f"the {self._noun} '{name}' does not exist{where}"
            self.unknown.append(diagnostics.error("column-not-found", message, hint, name.place))
        return None

    def is_wrong_row(self) -> bool:
        """Whether several columns were looked up and none was found: most likely this is not the header row."""
        return bool(self.columns) and len(self.unknown) >= _MIN_UNKNOWN and not self._used

    def unused(self) -> tuple[Column, ...]:
        """The named columns that are not used."""
        return tuple(c for c in self.columns if c.index not in self._used and c.name.strip())

    def unread(self) -> frozenset[int]:
        """The indexes of all columns that are not used, including unnamed ones."""
        return frozenset(column.index for column in self.columns if column.index not in self._used)

    def numbers(self) -> tuple[str, ...]:
        """The numbers in column names, as written (`1`, `01`), in ascending order."""
        found = {digits for column in self.columns for digits in re.findall(r"[0-9]+", column.name)}
        return tuple(sorted((digits for digits in found if len(digits) <= 4), key=lambda digits: (int(digits), digits)))

    def proposal(self, typed: str) -> str:
        """The hint for an unknown column: the closest name, or all names."""
        if _LETTER.fullmatch(typed.strip()) and self.columns:
            return f"the last column is ={self.columns[-1].letter}"
        names = [column.name for column in self.columns if column.name.strip()]
        similar = closest(typed, names)
        if similar is not None:
            return f"did you mean '{similar}'?"
        shown = ", ".join(f"'{name}'" for name in names[:12]) + (", ..." if len(names) > 12 else "")
        if not shown:
            return "the header row is blank; set header_row: under source:"
        return f"the columns are {shown}" if self._noun == "column" else f"its groups are {shown}"


@dataclass(frozen=True, slots=True)
class Context:
    """The mapping, the header and the other tables that it is resolved against.

    today: dates that are later may be a problem; None: no date is.
    """

    mapping: Mapping
    header: Header
    diagnostics: Diagnostics
    tables: Dictionary[ChildSource, Table]
    today: date | None = None
    child_headers: dict[ChildSource, Header] = field(default_factory=dict)
    child_rows: dict[tuple[ChildSource, int], dict[str, list[Row]]] = field(default_factory=dict)  # by column and key

    def find(self, name: Text) -> Column | None:
        """The only column of that name; no match, or several, is reported."""
        return self.header.find(name, self.diagnostics)

    def error(self, code: str, message: str, hint: str, place: Place) -> None:
        self.diagnostics.error(code, message, hint, place)

    def child_header(self, source: ChildSource) -> Header:
        """The header of another table, shared by all answers that use it, so that it knows its unused columns."""
        if source not in self.child_headers:
            table = self.tables.get(source)
            self.child_headers[source] = Header(table.columns if table else (), table=str(source))
        return self.child_headers[source]

    def rows_by_key(self, source: ChildSource, key: Column) -> dict[str, list[Row]]:
        """The rows of another table by key, read into memory once.

        Raises:
            UnusableInput: the table cannot be read to its end.
        """
        if (source, key.index) not in self.child_rows:
            by_key: dict[str, list[Row]] = defaultdict(list)
            for row in self.tables[source].rows():
                by_key[row.cells[key.index].strip()].append(row)
            self.child_rows[source, key.index] = dict(by_key)
        return self.child_rows[source, key.index]


# --- values -------------------------------------------------------------------------------------


def resolve_value(spec: ValueSpec, field: FieldSpec, context: Context) -> ResolvedValue | None:
    """The value, ready to be read; None if a column is not found. Problems are reported."""
    check_value(spec, field, context)
    rows = spec.rows if isinstance(spec, CandidateValue) else None
    header = context.child_header(rows.source) if rows else context.header
    found = [header.find(name, context.diagnostics) for name in spec.columns]
    columns = tuple(column for column in found if column is not None)
    join = resolve_join(rows, context) if rows else None
    if len(columns) != len(found) or (rows and not join):
        return None
    value = with_columns(spec, field, columns, context)
    if join is None:
        return value
    return ResolvedValue(field, spec.place, value.formats, (join.equals,), lookup=Lookup(join, value))


def resolve_join(rows: ChildRows, context: Context, order_by: Text | None = None) -> FromChild | None:
    """The join with another table, whose rows are read into memory; None if a column is not found.

    Raises:
        UnusableInput: the table cannot be read to its end.
    """
    header = context.child_header(rows.source)
    equals, key = context.find(rows.equals), header.find(rows.key_, context.diagnostics)
    order = header.find(order_by, context.diagnostics) if order_by else None
    if equals is None or key is None or (order_by and order is None):
        return None
    index = ChildIndex(context.tables[rows.source].origin, key, order, context.rows_by_key(rows.source, key))
    return FromChild(equals, index)


def with_columns(spec: ValueSpec, field: FieldSpec, columns: tuple[Column, ...], context: Context) -> ResolvedValue:
    """The value with columns that are already resolved."""
    mapping = context.mapping
    formats = spec.over(mapping.defaults)
    ahead = {"error": 0, "allow": None, None: field.years_ahead}[formats.future]
    words = mapping.missing if spec.missing is None else spec.missing
    return ResolvedValue(
        field=field,
        place=spec.place,
        columns=columns,
        separator=NEWLINE.get(spec.with_, str(spec.with_)) if spec.with_ is not None else " " if spec.join else None,
        constant=None if spec.value is None else str(spec.value),
        pattern=_pattern(spec),
        split=spec.split,
        take=spec.take,
        table=_table(spec),
        part=spec.part,
        before=str(spec.before or ""),
        after=str(spec.after or ""),
        default=str(spec.default) if spec.default is not None else None,
        missing=frozenset(normalize(word) for word in words),
        present=frozenset(normalize(word) for word in getattr(spec, "present", None) or ()),
        formats=formats,
        latest=_latest(context.today, ahead) if field.kind is Kind.DATE and context.today else None,
    )


def _latest(today: date, years_ahead: int | None) -> date | None:
    """The last valid day: tomorrow, as it is tomorrow somewhere already, or the last day of a year to come."""
    if years_ahead is None:
        return None
    return today + timedelta(days=1) if years_ahead == 0 else date(today.year + years_ahead, 12, 31)


def _pattern(spec: ValueSpec) -> Pattern | None:
    if spec.pattern is None:
        return None
    return Pattern(spec.pattern, str(spec.group or spec.pattern.names[0]), spec.key("pattern").place)


def _table(spec: ValueSpec) -> ResolvedTable | None:
    if spec.values is None:
        return None
    targets = {normalize(entry.cell): str(entry.target) for entry in spec.values}
    place = spec.key("values").place
    if isinstance(spec.otherwise, Replacement):
        return ResolvedTable(targets, Otherwise.VALUE, str(spec.otherwise.value), place)
    return ResolvedTable(targets, spec.otherwise or Otherwise.ERROR, None, place)


def resolve_filter(spec: Filter, context: Context, label: str) -> ResolvedFilter | None:
    """The filter, ready for rows; None, after reporting it, if its column is not found."""
    column = context.find(spec.column)
    if column is None:
        return None
    return ResolvedFilter(column, frozenset(normalize(word) for word in spec.words), spec.negated, label)


# --- whether a value suits its field ------------------------------------------------------------

YES_WORDS = ("yes", "y", "true", "1", "x", "evet", "e", "ja", "j")
NO_WORDS = ("no", "n", "false", "0", "hayır", "h", "nein")
_NAME, _RANGE = ("first", "last"), ("start", "end")
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL)


def check_value(spec: ValueSpec, field: FieldSpec, context: Context) -> None:
    """Report settings and constants that do not suit the field."""
    formats, defaults = spec.over(context.mapping.defaults), context.mapping.defaults

    def no_effect(message: str, hint: str) -> None:
        context.error("key-without-effect", message, hint, spec.place)

    if spec.split is not None and not (spec.take or spec.part in _RANGE or field.kind is Kind.CHOICES):
        hint = "choose a piece with take: first, or remove split:"
        no_effect(f"split has no effect on {field.label}, which takes one value", hint)
    if spec.take is not None and field.kind is Kind.CHOICES:
        no_effect(f"take would drop choices: {field.label} takes several", "remove take:")
    if spec.currency is not None and field.kind not in _NUMBERS:
        no_effect(f"currency has no effect on {field.label}, which is not a number", "remove currency:")
    if formats.currency is not None and field.kind in _NUMBERS:
        _check_currencies(formats.currency, context)
    if spec.part in _NAME and field.kind not in (Kind.NAME, Kind.TEXT, Kind.LINE):
        no_effect(f"part: {spec.part} has no effect on {field.label}, which is not a name", "remove part:")
    if spec.part in _RANGE and field.kind not in (Kind.DATE, *_NUMBERS):
        no_effect(f"part: {spec.part} has no effect on {field.label}, which is not a date or a number", "remove part:")
    if formats.decimal is not None and formats.decimal == formats.thousands and formats is not defaults:
        message = f"decimal and thousands are both '{formats.decimal}'"
        context.error("separators-identical", message, "set both for this column", spec.place)
    if field.kind is Kind.DATE and formats.short_year is not None and formats.pivot is None:
        message = "%y is a two-digit year, but its century is not set"
        hint = "set the first of the hundred years it belongs to, for example pivot: 1950, or export four-digit years"
        context.error("pivot-missing", message, hint, formats.short_year)
    for text in _constants(spec):
        _check_constant(text, field, formats, context)


def _check_currencies(spellings: tuple[Text, ...], context: Context) -> None:
    """Warn of different currencies: without its currency, 100 EUR and 100 TRY would be the same number."""
    different = dict.fromkeys(code for code in map(currency_code, spellings) if code)
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
        if field.options and Options(field.options).find(text) is None:
            hint = did_you_mean(text, field.options)
            context.error("constant-not-an-option", f"'{text}' is not {field.noun}", hint, text.place)
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
    words = (*YES_WORDS, *NO_WORDS, *(formats.yes or ()), *(formats.no or ()))
    return normalize(text) in {normalize(word) for word in words}


def _is_url(text: str, formats: Formats) -> bool:
    try:
        return urlsplit(text).scheme.lower() in ("http", "https") and bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _matches(pattern: str) -> Callable[[str, Formats], bool]:
    return lambda text, formats: re.fullmatch(pattern, text) is not None


_DOCUMENT_HINT = "give the ID of an uploaded document, in digits"
_FORMS = {
    Kind.DATE: _Form("date", "write it as YYYY-MM-DD", _is_date),
    Kind.INTEGER: _Form("whole number", "write it in digits", _matches(r"[+-]?[0-9]{1,30}")),
    Kind.DECIMAL: _Form("number", "write it like 1234.5", _matches(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?")),
    Kind.YES_NO: _Form("yes/no value", "write yes or no", _is_yes_or_no),
    Kind.FLAG: _Form("yes/no value", "write true or false", _is_yes_or_no),
    Kind.URL: _Form("web address", "write it with https:// in front", _is_url),
    Kind.DOCUMENT: _Form("document ID", _DOCUMENT_HINT, _matches(r"[0-9]{1,30}")),
    Kind.CV: _Form("document ID", "give the ID of an uploaded document", _matches(r"[!-~]{1,200}")),
    Kind.EMAIL: _Form("e-mail address", "write it like name@example.com", _matches(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
}
