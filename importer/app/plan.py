"""A plan: a checked combination of file, mapping and target, and what it says of the rows before they are sent."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from importer.app.classify_rows import ReadRows
from importer.app.orders import Forecast, Planned, Started
from importer.ledger import RunRecord
from importer.mapping import ResolvedMapping
from importer.runs.known_rows import KnownRows
from importer.runs.manifest import RunManifest
from importer.runs.presences import Presence
from importer.runs.results_folder import remove_folder
from importer.sources import Sheet


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked combination of file, mapping and target, with the private copy that all rows are read from.

    read: the rows as they are checked; their candidates are kept in the table; forecast: what will become of these.
    known: what a ledger knows of them.
    """

    folder: Path
    manifest: RunManifest
    sheet: Sheet
    mapping: ResolvedMapping
    read: ReadRows
    forecast: Forecast
    presence: Presence
    known: KnownRows

    @property
    def as_event(self) -> Planned:
        manifest = self.manifest
        return Planned(
            folder=self.folder,
            service=manifest.service,
            reading=self.sheet.reading,
            dry_run=manifest.dry_run,
            sha256=manifest.sha256,
            run=manifest.run,
            target=self.mapping.target,
            forecast=self.forecast,
            warnings=manifest.warnings,
        )

    @property
    def ledger_run(self) -> RunRecord:
        """The record of this run in the ledger."""
        return RunRecord(self.manifest.run, self.manifest.scope, self.manifest.started_at)

    @property
    def started(self) -> Started:
        return Started(self.manifest.run, self.manifest.target, self.forecast.rows)

    def discard(self) -> None:
        """Remove the files of a plan that is not executed."""
        remove_files(self.folder, self.presence)


def remove_files(folder: Path, presence: Presence) -> None:
    with suppress(OSError):
        remove_folder(folder)
    presence.end()
