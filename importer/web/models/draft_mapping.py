"""The mapping file of an import that is being prepared: proposed, opened or changed, with what it was before."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from importer.files import read_private, write_json, write_private
from importer.mapping import read_mapping
from importer.models import SourceOptions, Target
from importer.problems import FilePlace, LinePlace, Problem, UnusableInput
from importer.settings import Settings
from importer.suggest import MappingText, refitted, write_proposal
from importer.web.models.file_sample import Sample

_BEFORE: Final = "mapping_before.json"
_STEPS: Final = 50  # that can be taken back


@dataclass(frozen=True, slots=True)
class OpenedMapping:
    """The text of a mapping file, with what it takes from other files, and how it reads its source. fits: its target
    is the one that was asked for."""

    text: str
    source: SourceOptions
    fits: bool

    def fitted(self, sample: Sample) -> str:
        """The text for the file and the target of a sample."""
        return self.text if self.fits else refitted(self.text, sample.proposal)


def open_mapping(path: Path, target: Target, settings: Settings, shown_as: str = "") -> OpenedMapping:
    """A mapping file that exists. shown_as: its name for a person, if that is not its path.

    Raises UnusableInput: it has errors.
    """
    try:
        mapping = read_mapping(path, settings.mapping_folders)
    except UnusableInput as error:
        if not shown_as:
            raise
        raise UnusableInput([_shown_as(problem, str(path), shown_as) for problem in error.problems]) from None
    return OpenedMapping(mapping.content.decode("utf-8-sig"), mapping.source, mapping.target == target)


def _shown_as(problem: Problem, path: str, name: str) -> Problem:
    place = problem.place
    if isinstance(place, LinePlace) and place.file == path:
        place = replace(place, file=name)
    elif isinstance(place, FilePlace) and place.name == path:
        place = FilePlace(name)
    return replace(problem, place=place, hint=problem.hint.replace(path, name))


class DraftMapping:
    """The mapping file at a path; what is known of it is kept in its folder, which is private."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = path.parent / _BEFORE

    def exists(self) -> bool:
        return self.path.exists()

    @property
    def text(self) -> str:
        return read_private(self.path).decode()

    @property
    def unreviewed(self) -> tuple[str, ...]:
        """The IDs of what a person should check before anything is sent."""
        return MappingText(self.text).unreviewed

    def propose(self, sample: Sample) -> None:
        """Begin, or begin again, with the proposal."""
        self.change(write_proposal(sample.proposal))

    def refit(self, sample: Sample) -> None:
        """Make it fit another reading of the file, or another target; what was before is of no use for them."""
        is_changed = self._before.exists()
        text = refitted(self.text, sample.proposal) if is_changed else write_proposal(sample.proposal)
        write_private(self.path, text.encode())
        if is_changed:
            write_json(self._before, {"texts": []})

    def change(self, text: str) -> None:
        """Keep a new text, and the old one for `take_back`."""
        if self.exists() and text != self.text:
            write_json(self._before, {"texts": [*self._texts, self.text][-_STEPS:]})
        write_private(self.path, text.encode())

    @property
    def can_take_back(self) -> bool:
        return bool(self._texts)

    def take_back(self) -> None:
        """The text before the last change, if there is one."""
        if texts := self._texts:
            write_private(self.path, texts[-1].encode())
            write_json(self._before, {"texts": texts[:-1]})

    @property
    def _texts(self) -> list[str]:
        """What the text was before each change; the file is there once a person has changed it."""
        return list(json.loads(read_private(self._before))["texts"]) if self._before.exists() else []
