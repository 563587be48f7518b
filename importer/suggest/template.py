"""A template: an empty workbook with a column for each field and question, and the mapping that reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]  # no type hints

from importer.mapping import PLACEHOLDER, EntryKind, FieldSpec, Kind, spec_of_entry
from importer.models import Question, Target
from importer.problems import Column, column_letter
from importer.suggest.columns import ColumnNames
from importer.suggest.proposal import (
    Proposal,
    ProposedAnswer,
    ProposedEntries,
    ProposedField,
    ProposedValue,
    Setting,
    SourceFacts,
    candidate_goals,
    entry_kind,
    question_goals,
)
from importer.text.dates import FIRST_YEAR, LAST_YEAR

_SHEET = "Candidates"

_GROUPS = 3  # entries per candidate; columns with higher numbers may be added
_CANDIDATE = {
    "email": "E-mail",
    "first_name": "First name",
    "last_name": "Last name",
    "cv": "CV document ID",
    "terms_of_use": "Terms of use accepted",
}
_ENTRY_HEADERS: dict[EntryKind, dict[str, str]] = {
    EntryKind.EDUCATION: {
        "school_name": "School", "degree": "Degree", "major": "Major", "start_date": "School from",
        "end_date": "School to", "currently_pursuing": "Still studying",
    },
    EntryKind.EXPERIENCE: {
        "company_name": "Company", "position_title": "Job title", "employment_type": "Employment type",
        "start_date": "Job from", "end_date": "Job to", "currently_employed": "Still employed",
    },
}  # fmt: skip
_HINTS = {
    Kind.EMAIL: "An e-mail address, for example name@example.com.",
    Kind.PHONE: "A phone number with country code, for example +90 555 000 00 00.",
    Kind.URL: "A web address, for example https://example.com/me.",
    Kind.DATE: "A date, for example 2024-12-31.",
    Kind.INTEGER: "A whole number.",
    Kind.DECIMAL: "A number.",
    Kind.YES_NO: "yes or no.",
    Kind.FLAG: "yes or no.",
    Kind.CHOICE: "One of:",
    Kind.CHOICES: "One or more of these, separated by {separator}:",
    Kind.DOCUMENT: "The document ID of an uploaded file.",
    Kind.CV: "The document ID of an uploaded CV.",
}
_SEPARATORS = (";", "|", "/", "\n")


@dataclass(frozen=True, slots=True)
class TemplateColumn:
    """A column: its header, and the values that it takes.

    `field`: the name of a candidate field, or of a field of an entry of this `kind`.
    """

    header: str
    spec: FieldSpec
    field: str = ""
    question: Question | None = None
    kind: EntryKind | None = None

    @property
    def separator(self) -> str | None:
        """The separator between several choices: a character that no option contains."""
        if self.spec.kind is not Kind.CHOICES:
            return None
        free = (one for one in _SEPARATORS if not any(one in option for option in self.spec.options))
        return next(free, _SEPARATORS[-1])

    @property
    def note(self) -> str:
        """The note in the header that explains the column."""
        between = "a line break" if self.separator == "\n" else self.separator or ""
        hint = _HINTS.get(self.spec.kind, "Text.").replace("{separator}", between)
        return "\n".join(("Required." if self.spec.required else "Optional.", hint, *self.spec.options))


def template_columns(target: Target, questions: Sequence[Question]) -> tuple[TemplateColumn, ...]:
    """All columns in order: the candidate, the answers in the order of the questions, the entries."""
    found = [TemplateColumn(_CANDIDATE[goal.name], goal.spec, goal.name) for goal in candidate_goals(target)]
    for goal in question_goals(questions):
        header = " ".join(goal.question.text.split()) if goal.question else ""
        found.append(TemplateColumn(header or goal.name, goal.spec, question=goal.question))
    for question in questions:
        kind = entry_kind(question)
        found += _entry_columns(question, kind) if kind else ()
    return tuple(found)


def _entry_columns(question: Question, kind: EntryKind) -> Iterator[TemplateColumn]:
    for number in range(1, _GROUPS + 1):
        for field, header in _ENTRY_HEADERS[kind].items():
            yield TemplateColumn(f"{header} {number}", spec_of_entry(kind, field), field, question, kind)


# --- the mapping file -----------------------------------------------------------------------------


def template_mapping(
    target: Target, questions: Sequence[Question], columns: Sequence[TemplateColumn], file: str
) -> Proposal:
    """The mapping file of a workbook with these columns; `file` is its name."""
    placed = [Column.at(index, column.header) for index, column in enumerate(columns)]
    names = ColumnNames(placed)
    pairs = list(zip(columns, placed, strict=True))
    contents: dict[int, ProposedValue | ProposedEntries] = {}
    for column, place in pairs:
        if column.question is not None:
            contents[column.question.id] = (
                _proposed_entries(column.kind) if column.kind is not None else _proposed_value(column, names.of(place))
            )
    return Proposal(
        target=target,
        source=SourceFacts(file, sheet=_SHEET, header_row=1),
        candidate=tuple(
            ProposedField(column.field, _proposed_value(column, names.of(place)))
            for column, place in pairs
            if column.question is None
        ),
        answers=tuple(
            ProposedAnswer(question, contents[question.id]) for question in questions if question.id in contents
        ),
        questions=tuple(questions),
    )


def _proposed_value(column: TemplateColumn, name: str) -> ProposedValue:
    settings = (Setting("split", column.separator),) if column.separator else ()
    return ProposedValue(names=(name,), settings=settings)


def _proposed_entries(kind: EntryKind) -> ProposedEntries:
    fields = (
        ProposedField(field, ProposedValue(names=(f"{header} {PLACEHOLDER}",)))
        for field, header in _ENTRY_HEADERS[kind].items()
    )
    return ProposedEntries(kind, tuple(fields), numbered=True)


# --- the workbook: a header with notes, dropdowns, and cell formats that preserve input ------------------

_LISTS = "Lists"  # hidden: the options behind the dropdowns
_LAST_ROW = 20_000  # of the dropdowns, counted from 0
_MAX_INLINE = 255  # characters of a list inside a dropdown, including commas: the limit of the format
_NUMBERS = {"criteria": "between", "minimum": -(10**12), "maximum": 10**12}
_DAYS = {"criteria": "between", "minimum": date(FIRST_YEAR, 1, 1), "maximum": date(LAST_YEAR, 12, 31)}


def _rule(validate: str, criteria: dict[str, Any], title: str, message: str) -> dict[str, Any]:
    return {"validate": validate, **criteria, "error_title": title, "error_message": message}


_YES_NO = _rule("list", {"source": ["yes", "no"]}, "yes or no", "Choose yes or no.")
_RULES: dict[Kind, dict[str, Any]] = {
    Kind.YES_NO: _YES_NO,
    Kind.FLAG: _YES_NO,
    Kind.DATE: _rule("date", _DAYS, "Not a date", "Enter a date, for example 2024-12-31."),
    Kind.INTEGER: _rule("integer", _NUMBERS, "Not a whole number", "Enter a whole number."),
    Kind.DECIMAL: _rule("decimal", _NUMBERS, "Not a number", "Enter a number."),
}


def write_workbook(path: Path, columns: Sequence[TemplateColumn]) -> None:
    """Write the workbook, replacing an existing file. Raises OSError: it cannot be written."""
    # in_memory: with temporary files, the library reports a full disk with an error class of its own.
    with path.open("wb") as file:
        workbook: Any = xlsxwriter.Workbook(file, {"in_memory": True, "strings_to_formulas": False})
        sheet, lists = workbook.add_worksheet(_SHEET), _Lists(workbook)
        required = workbook.add_format({"bold": True, "bottom": 1, "bg_color": "#FFE699", "text_wrap": True})
        optional = workbook.add_format({"bold": True, "bottom": 1, "bg_color": "#DDEBF7", "text_wrap": True})
        text = workbook.add_format({"num_format": "@"})
        day = workbook.add_format({"num_format": "yyyy-mm-dd"})
        for index, column in enumerate(columns):
            sheet.set_column(index, index, _width(column), _cell_format(column, text, day))
            sheet.write_string(0, index, column.header, required if column.spec.required else optional)
            sheet.write_comment(0, index, column.note[:2000], {"x_scale": 2, "y_scale": _note_height(column)})
            _validate(sheet, index, column, lists)
        sheet.freeze_panes(1, 0)
        lists.hide()
        workbook.close()


class _Lists:
    """The hidden sheet with lists of options that do not fit into a dropdown; added when first needed."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._sheet: Any = None  # a worksheet, if one was needed
        self._ranges: dict[tuple[str, ...], str] = {}

    def source(self, options: Sequence[str]) -> list[str] | str:
        """The source of a dropdown: the options, or their cell range."""
        # A comma would split an option.
        if sum(len(option) + 1 for option in options) <= _MAX_INLINE and not any("," in o for o in options):
            return list(options)
        key = tuple(options)
        if key not in self._ranges:
            self._ranges[key] = self._write(key)
        return self._ranges[key]

    def _write(self, options: tuple[str, ...]) -> str:
        if self._sheet is None:
            self._sheet = self._workbook.add_worksheet(_LISTS)
        column = len(self._ranges)
        for row, option in enumerate(options):
            self._sheet.write_string(row, column, option)
        letter = column_letter(column)
        return f"={_LISTS}!${letter}$1:${letter}${len(options)}"

    def hide(self) -> None:
        if self._sheet is not None:
            self._sheet.hide()


def _cell_format(column: TemplateColumn, text: Any, day: Any) -> Any:
    if column.spec.kind is Kind.DATE:
        return day
    # Text keeps leading zeros and +; a number stays a number, so that its decimal separator is not ambiguous.
    return None if column.spec.kind in (Kind.INTEGER, Kind.DECIMAL) else text


def _validate(sheet: Any, index: int, column: TemplateColumn, lists: _Lists) -> None:
    kind = column.spec.kind
    if kind is Kind.CHOICE and column.spec.options:
        options = {"source": lists.source(column.spec.options)}
        rule = _rule("list", options, "Not in the list", "Choose one from the list.")
    elif kind in _RULES:
        rule = _RULES[kind]
    else:
        return
    sheet.data_validation(1, index, _LAST_ROW, index, rule)


def _width(column: TemplateColumn) -> int:
    return min(max(len(column.header) + 2, 14), 40)


def _note_height(column: TemplateColumn) -> float:
    return min(max(column.note.count("\n") / 4, 1), 6)
