"""Proposes the folder of each column whose cells are names of files beside the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from importer.documents.contents import UNREADABLE
from importer.documents.folder import DocumentFile, DocumentFolder
from importer.problems import Column
from importer.suggest import ColumnView, Proposal, ProposedField, ProposedValue, Setting

_MOST_FOLDERS, _MOST_FILES = 20, 20_000  # that are looked through for a proposal
_NEARLY_ALL = 0.5


def with_document_folders(proposal: Proposal, views: Sequence[ColumnView], file: Path) -> Proposal:
    """The proposal, with the folder of each column whose cells are names of files that lie beside the source."""
    named = [one for one in views if one.files > _NEARLY_ALL]
    has_no_cv = any(one.name == "cv" for one in proposal.open_fields)
    folders = list(_folders_beside(file)) if named or has_no_cv else []
    of_column = {one.column: found for one in named if (found := _folder_of(one, folders)) is not None}

    def completed(value: ProposedValue) -> ProposedValue:
        found = next((of_column[column] for column in value.taken if column in of_column), None)
        if found is None or value.child is not None:
            return value
        folder, share = found
        reason = "" if share == 1 else f"{share:.0%} of these files are there"
        return replace(value, settings=(*value.settings, Setting("folder", folder)), review_reason=reason)

    answers = tuple(
        replace(one, content=completed(one.content)) if isinstance(one.content, ProposedValue) else one
        for one in proposal.answers
    )
    candidate = [replace(one, value=completed(one.value)) for one in proposal.candidate]
    proposal = replace(proposal, candidate=tuple(candidate), answers=answers)
    return _with_cv(proposal, {one for one in of_column if one.name}, completed)


def _with_cv(proposal: Proposal, columns: set[Column], completed: Callable[[ProposedValue], ProposedValue]) -> Proposal:
    """The only column of files that is left is that of the CVs, if its header resembles that or there is no other."""
    still_open = next((one for one in proposal.open_fields if one.name == "cv"), None)
    left = [one for one in columns if any(each.name == one.name for each in proposal.open_columns)]
    near = [one for one in left if still_open and one.name in still_open.closest] or left
    if still_open is None or len(near) != 1:
        return proposal
    (column,) = near
    value = completed(ProposedValue((column.name,), (column,)))
    return replace(
        proposal,
        candidate=(*proposal.candidate, ProposedField("cv", value)),
        open_fields=tuple(one for one in proposal.open_fields if one.name != "cv"),
        open_columns=tuple(one for one in proposal.open_columns if one.name != column.name),
    )


def _folders_beside(file: Path) -> Iterator[DocumentFolder]:
    beside = (path for path in sorted(file.parent.iterdir()) if not path.name.startswith("."))
    for path in islice((one for one in beside if one.is_dir() or one.suffix.lower() == ".zip"), _MOST_FOLDERS):
        with suppress(*UNREADABLE):
            yield DocumentFolder(path, path.name, most=_MOST_FILES)


def _folder_of(column: ColumnView, folders: Sequence[DocumentFolder]) -> tuple[str, float] | None:
    """The folder that has most of the files that a column names, and their share."""
    counts = {one.shown_as: sum(isinstance(one.find(text), DocumentFile) for text in column.texts) for one in folders}
    name = max(counts, key=counts.__getitem__, default="")
    share = counts.get(name, 0) / max(len(column.texts), 1)
    return (name, share) if share >= _NEARLY_ALL else None
