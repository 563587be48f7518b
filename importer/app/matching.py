"""Questions beside the columns that answer them: what a page shows of a mapping file for a file, and how it changes it.

A mapping file that is not complete yet can be shown: each value is read by itself, over the first rows of the file.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

from importer.app.mapping_files import tables_of
from importer.app.matched import (
    DateForm,
    Entries,
    Entry,
    Matched,
    Result,
    Sample,
    UnknownText,
    anchor_of,
    column_name,
    opened_mapping,
    proposed_text,
    sample_of,
)
from importer.mapping import (
    ENTRY_FIELDS,
    ENTRY_SOURCES,
    EntryKind,
    FromRow,
    Kind,
    ResolvedEntries,
    ResolvedMapping,
    ResolvedValue,
    read_mapping,
    resolve,
    scalar,
)
from importer.models import Question, Row
from importer.problems import LinePlace, Problem, UnusableInput, UsageError
from importer.settings import Settings, WireFormat
from importer.suggest import (
    CannotChange,
    MappingText,
    ProposedEntries,
    ProposedValue,
    candidate_goals,
    date_forms,
    entry_kind,
    likely_full_names,
    propose_value,
    question_goals,
    question_key,
    write_value,
)
from importer.transform import BodyReader, EntriesReader, ValueReader, candidate_rows

# Re-exported for pages, together with what is defined here.
__all__ = ["ENTRY_FIELDS", "EntryKind", "Matched", "anchor_of", "opened_mapping", "proposed_text", "sample_of"]


_SHOWN: Final = 5  # results
_SAMPLES: Final = 3
_UNKNOWN: Final = 50  # texts
_TRIES: Final = 8
_PLACEHOLDERS: Final = {
    "email": '"=A"',
    "first_name": "{value: A}",
    "last_name": "{value: B}",
    "cv": '{value: "1"}',
}
_SETTINGS: Final[dict[tuple[Kind, ...], dict[str, tuple[str, ...]]]] = {
    (Kind.INTEGER, Kind.DECIMAL): {"decimal": ("", ".", ","), "thousands": ("", ".", ",", "'")},
    (Kind.NAME,): {"part": ("", "first", "last")},
    (Kind.CHOICES,): {"split": ("", ";", ",", "|", "/", "newline", "json")},
}
EDITED: Final = ("column", "join", "with", "value", "part", "dates", "decimal", "thousands", "split", "values")
"""The keys of a value that a page can change; others are kept."""


class Matching:
    """A mapping file beside a file. path: where it is stored, so that it can name other files."""

    def __init__(self, text: str, path: Path, file: Path, sample: Sample, settings: Settings) -> None:
        self._path, self._file, self.sample, self._settings = path, file, sample, settings
        self.proposal = sample.proposal
        self._mapping = MappingText(text)
        self._goals = {f"candidate/{goal.name}": goal for goal in candidate_goals(self.proposal.target)}
        for goal in question_goals(self.proposal.questions):
            assert goal.question is not None
            self._goals[self._id_of(goal.question)] = goal

    @property
    def text(self) -> str:
        return self._mapping.text

    @property
    def rows(self) -> int:
        """How many rows are looked at."""
        return len(self._shown.rows)

    @property
    def columns(self) -> tuple[tuple[str, str, str], ...]:
        """The columns of the file: the name for a mapping, the letter, and the header."""
        views = self.sample.columns
        return tuple((column_name(one, views), one.column.letter, one.column.name) for one in views)

    @cached_property
    def questions(self) -> tuple[Matched, ...]:
        """The fields of the candidate, then the questions in their order."""
        known = {self._id_of(question): question for question in self.proposal.questions}
        fields = [one for one in self._goals if one.startswith("candidate/")]
        return tuple(self._matched(id, known.get(id)) for id in (*fields, *known))

    @property
    def required(self) -> tuple[int, int]:
        """How many of the required questions are matched, and how many there are."""
        needed = [one for one in self.questions if one.required]
        return sum(one.is_done for one in needed), len(needed)

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """The columns with values that nothing uses."""
        free = (one for one in self.sample.columns if one.filled and one.column.index not in self._shown.used)
        return tuple(column_name(one, self.sample.columns) for one in free)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the mapping file that belong to no question."""
        return self._shown.others

    @property
    def kept(self) -> tuple[str, ...]:
        """What of the mapping file a page does not show: its sections, and answers to questions that are not asked."""
        sections = [name for name in ("extends", "without", "route") if self._mapping.top(name) is not None]
        source, defaults = self._mapping.values("source"), self._mapping.values("defaults")
        sections += [f"source: {name}" for name in source if name in ("where", "group_by", "missing", "stop_at")]
        sections += [f"defaults: {name}" for name in defaults if name not in ("region", "unused_columns")]
        known = {id.partition("/")[2] for id in (one.id for one in self.questions)}
        return (*sections, *(f"answers: {name}" for name in self._mapping.values("answers") if name not in known))

    # --- changes ------------------------------------------------------------------------------------

    def use(self, id: str, columns: Sequence[str], joined: str | None = None) -> str:
        """The text with these columns for a value, and the settings that their cells need."""
        section, name = id.split("/", 1)
        goal, views = self._goals.get(id), [self.sample.view(one) for one in columns]
        if goal is None or not all(views) or not views:
            raise UsageError("choose a column of the file")
        chosen = [one for one in views if one is not None]
        full = likely_full_names(self.sample.columns)
        is_full = full is not None and [one.column.index for one in chosen] == [full.column.index]
        part = name.partition("_")[0] if is_full and name in ("first_name", "last_name") else None
        value = propose_value(goal, chosen, self.sample.columns, self.sample.day_first, joined, part)
        names = [column_name(one, self.sample.columns) for one in chosen]
        put = self._mapping.put(section, name, write_value(name, value))
        return put.forget(name, names).text

    def accept(self, id: str) -> str:
        """The text without the notes that ask to check a value."""
        return self._mapping.confirm(*id.split("/", 1)).text

    def constant(self, id: str, value: str) -> str:
        """The text with the same value for every row."""
        section, name = id.split("/", 1)
        return self._mapping.put(section, name, [f"{scalar(name)}: {{value: {scalar(value)}}}"]).forget(name, ()).text

    def leave_out(self, id: str) -> str:
        """The text without a value."""
        return self._mapping.drop(*id.split("/", 1)).text

    def set(self, id: str, keys: Mapping[str, Any]) -> str:
        """The text with other keys of a value; None removes one."""
        section, name = id.split("/", 1)
        return self._mapping.change(section, name, keys).text

    def translate(self, id: str, options: Mapping[str, str]) -> str:
        """The text with an option for each of these texts of cells; "" leaves it out. Others hold their rows back."""
        section, name = id.split("/", 1)
        written = self._mapping.values(section).get(name)
        table = written.get("values") if isinstance(written, dict) else None
        if isinstance(table, str) and table:
            raise CannotChange("the value table is in a file of its own; change it there")
        return self._mapping.change(section, name, {"values": {**(table or {}), **options}}).text

    # --- one question -------------------------------------------------------------------------------

    def _id_of(self, question: Question) -> str:
        """A question may be named by its key, its text or its ID."""
        written = self._mapping.values("answers") if hasattr(self, "_mapping") else {}
        names = (question.key or "", f"text: {question.text}", f"id: {question.id}")
        return f"answers/{next((name for name in names if name in written), question_key(question))}"

    def _matched(self, id: str, question: Question | None) -> Matched:
        section, name = id.split("/", 1)
        written, goal = self._mapping.values(section).get(name), self._goals.get(id)
        spec = goal.spec if goal else None
        title = (question.text or name) if question else (spec.label if spec else name).removeprefix("the ")
        kind = (question.answer_type if question else str(spec.kind) if spec else "").replace("_", " ")
        options = spec.options if spec else ()
        if spec is not None and spec.kind in (Kind.YES_NO, Kind.FLAG):
            options = ("yes", "no")
        required = question.required if question else bool(spec and spec.required)
        takes = entry_kind(question) if question else None
        plain = Matched(id, title, kind, required, options, "open", "", takes=takes)
        if written is None:
            return plain
        keys = written if isinstance(written, dict) else {"column": written}
        read = self._shown.values.get(id)
        problems = self._shown.problems.get(id, ())
        review = self._mapping.review(section, name)
        plain = replace(
            plain,
            columns=tuple(_listed(keys.get("column") or keys.get("join"))),
            joined=keys.get("with", " ") if "join" in keys else None,
            constant=keys.get("value") if isinstance(keys.get("value"), str) else None,
            keys=keys,
            problems=problems,
        )
        if problems or read is None:
            return replace(plain, state="wrong", why="; ".join(one.message for one in problems))
        if isinstance(read, EntriesReader):
            found = replace(plain, entries=self._entries(id, read, keys), keys=None)
            return replace(found, **_sureness(found, review, self._proposed(id)))
        kept = tuple(key for key in keys if key not in EDITED)
        found = replace(self._read(plain, read), kept=kept, settings=_settings_of(read.value.field.kind, keys))
        return replace(found, **_sureness(found, review, self._proposed(id)))

    def _proposed(self, id: str) -> ProposedValue | ProposedEntries | None:
        fields = {f"candidate/{one.name}": one.value for one in self.proposal.candidate}
        return fields.get(id) or next(
            (one.content for one in self.proposal.answers if self._id_of(one.question) == id), None
        )

    def _read(self, shown: Matched, reader: ValueReader) -> Matched:
        """With what the first rows give."""
        results: list[Result] = []
        unknown: Counter[tuple[str, str, bool]] = Counter()
        texts: Counter[str] = Counter()
        filled, columns = 0, reader.columns
        for row in self._shown.rows:
            problems: list[Problem] = []
            sent = reader.read(row, problems)
            cells = " | ".join(row.cells[column.index] for column in columns if row.cells[column.index])
            filled += reader.from_cells(row)
            if cells:
                texts[cells] += 1
            for problem in problems:
                is_word = problem.code in ("not-an-option", "value-unknown", "yes-no-invalid")
                text = problem.unread.text if problem.unread else cells
                unknown[text, problem.message, is_word and bool(shown.options)] += 1
            if len(results) < _SHOWN and (cells or shown.constant):
                text = "" if sent is None or not isinstance(sent, str | bool) else str(sent)
                results.append(Result(row.number, cells, text, problems[0].message if problems else ""))
        return replace(
            shown,
            filled=filled,
            samples=tuple(text for text, _ in texts.most_common(_SAMPLES)),
            results=tuple(results),
            unknown=tuple(
                UnknownText(text, count, problem, is_choice)
                for (text, problem, is_choice), count in unknown.most_common(_UNKNOWN)
            ),
            dates=tuple(self._date_forms(reader)) if reader.value.field.kind is Kind.DATE else (),
        )

    def _date_forms(self, reader: ValueReader) -> Iterator[DateForm]:
        """The forms that may read the column, each with a cell on which it differs from the others, if there is one."""
        used = tuple(map(str, reader.value.formats.dates or ()))
        counts = Counter(row.cells[column.index] for row in self._shown.rows for column in reader.columns)
        del counts[""]
        found = [*used, *date_forms(counts.items(), True).formats, *date_forms(counts.items(), False).formats]
        forms = tuple(dict.fromkeys((*found, *map(_turned, found))))[:6]
        read: dict[str, dict[str, str]] = {form: {} for form in forms}
        for form in forms:
            value = replace(reader.value, formats=reader.value.formats.model_copy(update={"dates": (form,)}))
            own = ValueReader(value, self._shown.wire)
            for row in islice(self._shown.rows, 500):
                if isinstance(day := own.read(row, []), str):
                    read[form].setdefault(row.cells[reader.columns[0].index] if reader.columns else "", day)
        for form, days in read.items():
            others = [other for name, other in read.items() if name != form]
            telling = [cell for cell, day in days.items() if any(other.get(cell, day) != day for other in others)]
            if cell := next(iter([*telling, *days]), None):
                yield DateForm(form, cell, _day_in_words(days[cell]), form in used)

    def _entries(self, id: str, reader: EntriesReader, keys: dict[str, Any]) -> Entries:
        kind = next(one for one in EntryKind if one.value in keys)
        own = keys[kind.value] if isinstance(keys[kind.value], list) else [keys[kind.value]]
        other = next((name for one in own for name in ENTRY_SOURCES if name in one and name != "repeat"), "")
        groups = [
            {field: ", ".join(column.label for column in value.columns) for field, value in group.items()}
            for source in self._shown.entries[id].sources
            for group in source.groups
        ]
        candidates: list[tuple[int, tuple[Entry, ...]]] = []
        for row in self._shown.rows:
            if isinstance(text := reader.read(row, []), str):
                entries = (Entry({name: str(one) for name, one in entry.items()}) for entry in json.loads(text))
                candidates.append((row.number, tuple(entries)))
            if len(candidates) == _SAMPLES:
                break
        return Entries(kind, () if other else tuple(groups), tuple(candidates), other)

    def _with_groups(self, id: str, groups: Sequence[dict[str, Any]], kind: EntryKind) -> str:
        """The text with these groups in place of what was there."""
        section, name = id.split("/", 1)
        old = self._mapping.values(section).get(name)
        source = old.get(kind.value) if isinstance(old, dict) else None
        order = source.get("order") if isinstance(source, dict) else None
        keys = {kind.value: groups, **({"order": order} if order else {})}
        return self._mapping.change(section, name, keys).forget(name, ()).text

    def _groups(self, id: str) -> list[dict[str, Any]]:
        """The groups of an answer as they are written, each with its own columns."""
        if id not in self._shown.entries:
            return []
        if any(not isinstance(source.source, FromRow) for source in self._shown.entries[id].sources):
            raise CannotChange("these entries come from another table or one cell; change them in the mapping file")
        return [
            {field: self._written(value) for field, value in group.items()}
            for source in self._shown.entries[id].sources
            for group in source.groups
        ]

    def _written(self, value: ResolvedValue) -> Any:
        views = {one.column: one for one in self.sample.columns}
        keys = _plain(value.written)
        if value.columns:
            names = [column_name(views[column], self.sample.columns) for column in value.columns]
            keys["join" if "join" in keys else "column"] = names[0] if len(names) == 1 else names
        return keys["column"] if set(keys) == {"column"} and isinstance(keys["column"], str) else keys

    def remove_group(self, id: str, index: int) -> str:
        """The text without a group of columns of education or experience; without the last one, the answer is gone."""
        groups = [group for number, group in enumerate(self._groups(id)) if number != index]
        return self._with_groups(id, groups, self._shown.entries[id].kind) if groups else self.leave_out(id)

    def add_group(self, id: str, kind: EntryKind, columns: Mapping[str, str]) -> str:
        """The text with one more group: the columns of its fields. Dates are read like those of the other groups."""
        groups = self._groups(id)
        settings = {
            field: {key: one for key, one in value.items() if key not in ("column", "join", "with", "value")}
            for field, value in (groups[-1] if groups else {}).items()
            if isinstance(value, dict)
        }
        new = {
            field: {"column": name, **settings[field]} if settings.get(field) else name
            for field, name in columns.items()
        }
        return self._with_groups(id, [*groups, new], kind)

    # --- the mapping, as far as it can be used --------------------------------------------------------

    @cached_property
    def _shown(self) -> _Usable:
        """The values that can be read, each by itself: what prevents others is told with them."""
        text, problems, others = self._mapping, dict[str, tuple[Problem, ...]](), tuple[Problem, ...]()
        for _ in range(_TRIES):
            try:
                return self._usable(self._resolved(text), problems, others)
            except UnusableInput as error:
                wrong: dict[str, list[Problem]] = {}
                for problem in error.problems:
                    place = problem.place
                    owner = _completed(text).at(place.line) if isinstance(place, LinePlace) else None
                    wrong.setdefault("/".join(owner) if owner else "", []).append(problem)
                others = tuple(wrong.pop("", ()))
                if not wrong:
                    break
                problems |= {id: tuple(found) for id, found in wrong.items()}
                for id in wrong:
                    text = text.drop(*id.split("/", 1))
        return _Usable({}, {}, problems, others, frozenset(), (), self._settings.wire)

    def _resolved(self, text: MappingText) -> ResolvedMapping:
        """The mapping, without what it lacks: required questions, and fields of the candidate."""
        folder = self._path.parent
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".shown-", suffix=".yaml") as file:
            Path(file.name).write_bytes(_completed(text).text.encode())
            mapping = read_mapping(Path(file.name), self._settings.mapping_folders)
            questions = [replace(one, required=False) for one in self.proposal.questions]
            columns = [one.column for one in self.sample.columns]
            with tables_of(mapping, self._file, self._settings) as tables:
                return resolve(mapping, columns, questions, self._settings.wire, tables)

    def _usable(
        self, resolved: ResolvedMapping, problems: dict[str, tuple[Problem, ...]], others: tuple[Problem, ...]
    ) -> _Usable:
        body = BodyReader(resolved)
        given = self._mapping.values("candidate")
        values: dict[str, ValueReader | EntriesReader] = {
            f"candidate/{name}": reader for name, reader in body.fields.items() if name in given
        }
        values |= {self._id_of(answer.question): answer.reader for answer in body.answers}
        entries = {
            self._id_of(answer.question): answer.content
            for answer in resolved.answers
            if isinstance(answer.content, ResolvedEntries)
        }
        used = frozenset(column.index for reader in values.values() for column in reader.columns)
        rows = tuple(row for row in candidate_rows(lambda: iter(self.sample.rows), resolved) if isinstance(row, Row))
        return _Usable(values, entries, problems, others, used, rows, self._settings.wire)


@dataclass(frozen=True, slots=True)
class _Usable:
    """What of a mapping can be read. used: the indexes of columns; rows: those of candidates, of the first ones."""

    values: dict[str, ValueReader | EntriesReader]
    entries: dict[str, ResolvedEntries]
    problems: dict[str, tuple[Problem, ...]]
    others: tuple[Problem, ...]
    used: frozenset[int]
    rows: tuple[Row, ...]
    wire: WireFormat


def _completed(text: MappingText) -> MappingText:
    """A mapping with a value for each required field of the candidate, which is not shown."""
    given = text.values("candidate")
    for name, value in _PLACEHOLDERS.items():
        if name not in given:
            text = text.put("candidate", name, [f"{name}: {value}"])
    return text


def _sureness(found: Matched, review: str | None, proposed: ProposedValue | ProposedEntries | None) -> dict[str, Any]:
    """How sure a match is. why: the reason to check it; or a word: given, constant, proposed."""
    if any(one.is_choice for one in found.unknown):
        return {"state": "unknown", "why": review or ""}
    if review is not None:
        return {"state": "review", "why": review}
    if found.constant is not None:
        return {"state": "matched", "why": "constant"}
    is_proposed = isinstance(proposed, ProposedEntries) or (proposed and proposed.names == found.columns)
    return {"state": "matched", "why": "proposed" if is_proposed else "given"}


def _settings_of(kind: Kind, keys: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The keys of how texts of a kind are read, with their usual values and the one that is set."""
    found = {
        key: choices for kinds, choices_of in _SETTINGS.items() if kind in kinds for key, choices in choices_of.items()
    }
    return {key: tuple(dict.fromkeys((*choices, str(keys.get(key, ""))))) for key, choices in found.items()}


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _turned(form: str) -> str:
    """A form of dates with day and month exchanged."""
    return form.replace("%d", "%\0").replace("%m", "%d").replace("%\0", "%m")


def _day_in_words(iso: str) -> str:
    day = date.fromisoformat(iso)
    return f"{day.day} {day:%B} {day.year}"


def _plain(node: Any) -> Any:
    """A node of a mapping as texts, lists and dictionaries."""
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    return [_plain(one) for one in node] if isinstance(node, list) else str(node)
