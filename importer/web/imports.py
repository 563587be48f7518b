"""Drafts: what is known of an import that is prepared in the browser, each in a private folder of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from importer.app.mapping_files import question_list, saved_questions
from importer.app.orders import Order, SandboxSetup, Sending
from importer.files import INTERNAL, read_private, write_json
from importer.models import Question, Route, SourceOptions, Target
from importer.runs.corrections import read_corrections
from importer.runs.results_folder import (
    announce_run,
    folders_in,
    is_run_name,
    make_private_folder,
    make_results,
    new_run_id,
)
from importer.runs.results_folder import remove_folder as remove
from importer.runs.row_selection import ALL_ROWS, Selection
from importer.settings import Settings

_FILE: Final = "import.json"
_QUESTIONS: Final = "questions.json"
_UPLOAD: Final = "upload"
_VERSION: Final = 1
_INPUTS: Final = {"file", "source", "sandbox", "target", "mapping", "corrections", "documents"}
"""What a check depends on."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An import that is being prepared, or was sent. Its ID is also the name of its folder.

    file: a path on this machine, of an upload in the draft's folder; source: how it is read; is_read: a person has seen
    how. sandbox: a rehearsal. asked: who was asked for the questions of the target, "" if nobody was. mapping,
    corrections: paths, "" if there are none. rows: of the file, if counted. check: the run that checked exactly this;
    grid: the last check, perhaps with other corrections; run: the last one that sent it. edits: counts the changes of
    what is checked. fits: its mapping file is for this target and this way of reading the file. folders: those of
    documents that the mapping names; documents: where they and the list of IDs are, as far as that is known. route,
    selection: of a run that was one of a folder of mappings, or for some of the rows.
    """

    id: str
    file: str = ""
    source: SourceOptions = field(default_factory=SourceOptions)
    is_read: bool = False
    sandbox: bool = False
    target: Target | None = None
    asked: Literal["", "service", "sandbox"] = ""
    mapping: str = ""
    corrections: str = ""
    rows: int | None = None
    check: str = ""
    grid: str = ""
    run: str = ""
    edits: int = 0
    fits: bool = True
    folders: tuple[str, ...] = ()
    documents: Mapping[str, str] = field(default_factory=dict)
    route: Route | None = None
    selection: Selection = ALL_ROWS

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.file).name

    @property
    def is_of_page(self) -> bool:
        """Whether no command line does the same: corrections, and documents that are elsewhere, are known here only."""
        beside = Path(self.file).parent
        return bool(self.corrections) or any(Path(path).parent != beside for path in self.documents.values())

    def with_changes(self, **values: Any) -> Draft:
        """With other values; a check of other inputs is forgotten. check="": what one of its files contains changed;
        with grid: only the corrections.
        """
        changed = replace(self, **values)
        if values.get("check") == "" or any(getattr(changed, name) != getattr(self, name) for name in _INPUTS):
            is_grid = all(getattr(changed, name) == getattr(self, name) for name in _INPUTS - {"corrections"})
            grid = values.get("grid", changed.grid if is_grid and "check" not in values else "")
            return replace(changed, check="", grid=grid, edits=self.edits + 1)
        return changed


def out_flag(settings: Settings) -> dict[str, str]:
    """The flag that names the results folder, unless it is the usual one."""
    return {} if settings.out == Path("results") else {"--out": str(settings.out)}


class Drafts:
    """The drafts of a results folder, each in `<out>/.importer/<id>`. `importer purge` removes old ones and uploads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()

    def create(self, **values: Any) -> Draft:
        """A new draft. Raises UnusableInput if the results folder cannot be used."""
        make_results(self._settings)
        draft = Draft(**{"id": new_run_id(), **values})
        make_private_folder(self._settings.out / INTERNAL, draft.id)
        self._write(draft)
        return draft

    @contextmanager
    def create_for_upload(self) -> Iterator[Draft]:
        """A new draft; removed if the upload fails, and by the next command if this process is killed before it ends.

        Raises UnusableInput if the results folder cannot be used.
        """
        make_results(self._settings)
        id = new_run_id()
        presence = announce_run(self._settings.out, id)  # before it has a folder
        try:
            draft = self.create(id=id)
            try:
                yield draft
            except BaseException:
                self.remove(draft)
                raise
        finally:
            presence.end()

    def folder(self, draft: Draft) -> Path:
        return self._settings.out / INTERNAL / draft.id

    def upload_folder(self, draft: Draft) -> Path:
        """The folder of its upload alone, which may have the name of one of our files."""
        return self.folder(draft) / _UPLOAD

    def file_shown_as(self, draft: Draft) -> str:
        """The path of its file; of an upload its name, as a person knows the file, not this copy."""
        return draft.name if Path(draft.file).parent == self.upload_folder(draft) else draft.file

    def get(self, id: str) -> Draft | None:
        """The draft with this ID; None if there is none, or its file was damaged."""
        if not is_run_name(id):  # it is a part of a path
            return None
        try:
            return _draft(json.loads(read_private(self._settings.out / INTERNAL / id / _FILE)))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def all(self) -> Iterator[Draft]:
        """Every draft, the newest first."""
        for folder in reversed(folders_in(self._settings.out / INTERNAL)):
            if (draft := self.get(folder.name)) is not None:
                yield draft

    def change(self, id: str, **values: Any) -> Draft:
        """Change values of a draft, and keep them. Others may change other values at the same time.

        Raises KeyError: it was removed.
        """
        with self._lock:
            draft = self.get(id)
            if draft is None:
                raise KeyError(id)
            changed = draft.with_changes(**values)
            self._write(changed)
        return changed

    def keep_questions(self, draft: Draft, questions: tuple[Question, ...]) -> None:
        """Keep the questions of the draft's target."""
        assert draft.target is not None
        write_json(self.folder(draft) / _QUESTIONS, question_list(draft.target, questions))

    def questions(self, draft: Draft) -> tuple[Question, ...]:
        """The questions that were kept."""
        try:
            return saved_questions(read_private(self.folder(draft) / _QUESTIONS))
        except (OSError, ValueError):
            return ()

    def sandbox_setup(self, draft: Draft) -> SandboxSetup | None:
        """The sandbox of a rehearsal: with the questions of the real service, if it was asked for them."""
        if not draft.sandbox:
            return None
        asks = draft.asked == "service" and self.questions(draft)
        return SandboxSetup(self.folder(draft) / _QUESTIONS if asks else None)

    def flags(self, draft: Draft) -> dict[str, str]:
        """The flags of the command that uses the service as this draft does."""
        setup = self.sandbox_setup(draft)
        questions = {"--questions": str(setup.questions)} if setup and setup.questions else {}
        return {**({"--sandbox": ""} if setup else {}), **questions, **out_flag(self._settings)}

    def order(self, draft: Draft, settings: Settings) -> Order:
        """The order that checks or sends it."""
        sending, flags = Sending(sandbox_setup=self.sandbox_setup(draft)), self.flags(draft)
        corrections, expects = read_corrections(Path(draft.corrections)) if draft.corrections else ((), "")
        return Order(
            Path(draft.file),
            Path(draft.mapping),
            settings,
            draft.selection,
            sending,
            file_shown_as=self.file_shown_as(draft),
            flags=flags,
            corrections=corrections,
            expects=expects,
            documents=draft.documents,
            route=draft.route,
        )

    def remove(self, draft: Draft) -> None:
        """Remove a draft with its upload. Its runs are kept."""
        with self._lock, suppress(OSError):
            (self.folder(draft) / _FILE).unlink()
        with suppress(OSError):
            remove(self.folder(draft))

    def _write(self, draft: Draft) -> None:
        write_json(self.folder(draft) / _FILE, {"version": _VERSION, **_adapter().dump_python(draft, mode="json")})


@cache
def _adapter() -> TypeAdapter[Draft]:
    return TypeAdapter(Draft)


def _draft(values: dict[str, Any]) -> Draft:
    if values.pop("version") != _VERSION:
        raise ValueError("it was written by another version of importer")
    return _adapter().validate_python(values)
