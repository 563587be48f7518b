"""Questions beside the columns that answer them: what a page shows of a mapping file for a file, and how it changes it.

A mapping file that is not complete yet can be shown: each value is read by itself, over the first rows of the file.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from importer.mapping import ENTRY_FIELDS, ChoiceOptions, EntryKind, Kind, Surname
from importer.models import Question
from importer.problems import Problem
from importer.settings import Settings
from importer.suggest import MappingText, ProposedEntries, ProposedValue, candidate_goals, entry_kind, question_goals
from importer.transform import EntriesReader
from importer.web.models.file_sample import Sample, SampledColumn, sample_of
from importer.web.models.mapping_changes import MappingChanges
from importer.web.models.matched import MarkedText, Matched, anchor_of
from importer.web.models.readable_mapping import ReadableMapping, id_of, read_what_is_right
from importer.web.models.shown_candidates import ShownCandidates
from importer.web.models.shown_values import settings_of, shown_entries, texts_of, with_results

# Re-exported for pages, together with what is defined here.
__all__ = ["ENTRY_FIELDS", "EntryKind", "Matched", "Surname", "anchor_of", "sample_of"]

EDITED: Final = (
    *("column", "join", "with", "value", "part", "dates", "decimal", "thousands", "split", "values", "folder"),
    *("missing", "default", "pick", "before", "after", "region", "currency", "yes", "no", "optional", "otherwise"),
)
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

    def marked_text(self, id: str) -> MarkedText:
        """The text, with the lines of a value marked."""
        start, end = self._mapping.lines(*id.split("/", 1)) if "/" in id else (0, 0)
        lines = self.text.splitlines(keepends=True)
        return MarkedText("".join(lines[:start]), "".join(lines[start:end]), "".join(lines[end:]))

    @property
    def rows(self) -> int:
        """How many rows are looked at."""
        return len(self._readable.rows)

    @property
    def changes(self) -> MappingChanges:
        return MappingChanges(self._mapping, self._goals, self._readable, self.sample)

    @cached_property
    def candidates(self) -> ShownCandidates:
        """The rows that are looked at, each beside what would be sent for it."""
        titles = {one.id: one.title for one in self.questions}
        lacking = tuple(one.title for one in self.questions if one.required and not one.is_done)
        return ShownCandidates(self._readable, self._mapping, self.sample.columns, titles, lacking)

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

    @property
    def to_review(self) -> dict[str, tuple[str, str]]:
        """What a person should check and is no question that is shown: its value and the reason, by its ID."""
        shown = {one.id for one in self.questions}
        found = {id: id.split("/", 1) for id in self._mapping.unreviewed if id not in shown}
        return {
            id: (", ".join(_listed(self._mapping.values(section)[name])), self._mapping.review(section, name) or name)
            for id, (section, name) in found.items()
        }

    @property
    def missing(self) -> tuple[str, ...]:
        """The words that are read as a blank cell in every column."""
        return self._readable.missing

    @cached_property
    def columns(self) -> tuple[SampledColumn, ...]:
        """The columns of the file, in their order, with how many cells are filled in as this mapping reads them."""
        return self.sample.listed(self.missing)

    @cached_property
    def unused(self) -> tuple[SampledColumn, ...]:
        """The columns with values that nothing uses."""
        views, used = self.sample.columns, self._readable.used
        return tuple(
            one for one, view in zip(self.columns, views, strict=True) if one.filled and view.column.index not in used
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the mapping file that belong to no question."""
        return self._readable.others

    @property
    def kept(self) -> tuple[str, ...]:
        """What of the mapping file a page does not show: its sections, and answers to questions that are not asked."""
        sections = [name for name in ("extends", "without", "route") if self._mapping.top(name) is not None]
        source, defaults = self._mapping.values("source"), self._mapping.values("defaults")
        sections += [f"source: {name}" for name in source if name == "stop_at"]
        sections += [f"defaults: {name}" for name in defaults if name not in ("region", "unused_columns", "names")]
        known = {id.partition("/")[2] for id in (one.id for one in self.questions)}
        return (*sections, *(f"answers: {name}" for name in self._mapping.values("answers") if name not in known))

    @property
    def document_folders(self) -> tuple[str, ...]:
        """The folders of documents that its values name."""
        values = (one for section in ("candidate", "answers") for one in self._mapping.values(section).values())
        return tuple(dict.fromkeys(str(one["folder"]) for one in values if isinstance(one, dict) and one.get("folder")))

    # --- one question -------------------------------------------------------------------------------

    @cached_property
    def _readable(self) -> ReadableMapping:
        return read_what_is_right(self._mapping, self._path, self._file, self.sample, self._settings)

    def _id_of(self, question: Question) -> str:
        return id_of(question, self._mapping)

    def _matched(self, id: str, question: Question | None) -> Matched:
        section, name = id.split("/", 1)
        written, goal = self._mapping.values(section).get(name), self._goals.get(id)
        spec = goal.spec if goal else None
        title = (
            (question.text or name)
            if question
            else (spec.label if spec else name).removeprefix("the ").replace("_", " ")
        )
        kind = (question.answer_type if question else str(spec.kind) if spec else "").replace("_", " ")
        options = spec.options if spec else ()
        if spec is not None and spec.kind in (Kind.YES_NO, Kind.FLAG):
            options = ("yes", "no")
        required = question.required if question else bool(spec and spec.required)
        takes = entry_kind(question) if question else None
        plain = Matched(id, title, kind, required, options, "open", "", takes=takes)
        if written is None:
            return replace(plain, closest=self._closest(name, question))
        keys = written if isinstance(written, dict) else {"column": written}
        read = self._readable.values.get(id)
        problems = self._readable.problems.get(id, ())
        review = self._mapping.review(section, name)
        plain = replace(
            plain,
            columns=tuple(_listed(keys.get("column") or keys.get("join"))),
            joined=keys.get("with", " ") if "join" in keys else None,
            constant=keys.get("value") if isinstance(keys.get("value"), str) else None,
            keys=keys,
            problems=problems,
            is_left_out=id in self._readable.left_out,
        )
        if problems or read is None:
            problems = problems or (
                Problem("column-not-found", "what it reads is not here", "choose its columns again"),
            )
            return replace(plain, problems=problems, state="wrong", why="; ".join(one.message for one in problems))
        if isinstance(read, EntriesReader):
            entries = shown_entries(
                read, self._readable.entries[id], keys, self._readable.rows, leaves_out=plain.is_left_out
            )
            found = replace(plain, entries=entries, keys=None, unknown=entries.unknown)
            found = replace(found, held=entries.held, blank=entries.blank)
            return replace(found, **_sureness(found, review, self._proposed(id)))
        kept = tuple(key for key in keys if key not in EDITED)
        found = with_results(plain, read, self._readable.rows, self._settings.wire)
        kind_of = read.value.field.kind
        table, known = keys.get("values"), ChoiceOptions(found.options)
        found = replace(found, kept=kept, settings=settings_of(kind_of, keys), texts=texts_of(kind_of, keys))
        if isinstance(table, dict):
            meant = {str(text): str(one) for text, one in table.items()}
            found = replace(found, table={text: known.find(one) or one for text, one in meant.items()})
        return replace(found, **_sureness(found, review, self._proposed(id)))

    def _closest(self, name: str, question: Question | None) -> tuple[str, ...]:
        """The unused columns that perhaps answer something that is open."""
        fields = ((one.name, one) for one in self.proposal.open_fields)
        known = {**dict(fields), **{id_of(each, self._mapping): one for each, one in self.proposal.open_questions}}
        found = known.get(id_of(question, self._mapping) if question else name)
        unused = {one.name for one in self.unused}
        return tuple(one for one in found.closest if one in unused) if found else ()

    def _proposed(self, id: str) -> ProposedValue | ProposedEntries | None:
        fields = {f"candidate/{one.name}": one.value for one in self.proposal.candidate}
        return fields.get(id) or next(
            (one.content for one in self.proposal.answers if self._id_of(one.question) == id), None
        )


def _sureness(found: Matched, review: str | None, proposed: ProposedValue | ProposedEntries | None) -> dict[str, Any]:
    """How sure a match is. why: the reason to check it; or a word: given, constant, proposed."""
    if any(one.is_choice for one in found.unknown):
        return {"state": "unknown", "why": review or "", "is_marked": review is not None}
    if review is not None:
        return {"state": "review", "why": review, "is_marked": True}
    state = "held" if found.holds_back else "matched"
    if found.constant is not None:
        return {"state": state, "why": "constant"}
    is_proposed = isinstance(proposed, ProposedEntries) or (proposed and proposed.names == found.columns)
    return {"state": state, "why": "proposed" if is_proposed else "given"}


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []
