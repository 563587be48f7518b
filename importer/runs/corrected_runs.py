"""The runs of results files: rows of an earlier run that were corrected, and which row each one was there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from importer.extract import ReadingLimits, Sheet
from importer.runs.manifest import RunManifest, manifests_in
from importer.runs.private_copies import sheet_of
from importer.settings import Settings


class CorrectedRuns:
    """The runs of a results folder, by name."""

    def __init__(self, settings: Settings) -> None:
        self.limits = ReadingLimits.of(settings)
        self._opened: dict[str, Sheet] = {}  # the last few: a workbook takes a second to open
        self.all = {manifest.run: (folder, manifest) for folder, manifest in manifests_in(settings.out)}

    def manifest(self, run: str) -> RunManifest:
        return self.all[run][1]

    def sheet(self, run: str) -> Sheet:
        if run not in self._opened:
            self._opened = dict([*self._opened.items(), (run, sheet_of(*self.all[run], self.limits))][-3:])
        return self._opened[run]

    def line(self, manifest: RunManifest) -> list[str]:
        """The runs that a run descends from, the nearest first; [] if it is of no results file."""
        line: list[str] = []
        while manifest.corrects in self.all and manifest.corrects not in line:
            line.append(str(manifest.corrects))
            manifest = self.manifest(line[-1])
        return line

    def lines_to(self, originals: Collection[str]) -> dict[str, list[str]]:
        """The runs that sent corrected rows of these ones, each with the line to one of them."""
        lines = {run: self.line(one) for run, (_, one) in self.all.items() if not one.dry_run}
        return {run: line for run, line in lines.items() if line and line[-1] in originals}

    def numbers(self, sheet: Sheet, line: Sequence[str]) -> dict[int, int]:
        """The number in the last run of the line of each row of a results file."""
        numbers = _corrected(sheet)
        for run in line[:-1]:
            earlier = _corrected(self.sheet(run))
            numbers = {row: earlier[number] for row, number in numbers.items() if number in earlier}
        return numbers


def _corrected(sheet: Sheet) -> dict[int, int]:
    return {row.number: row.corrects for row in sheet.rows() if row.corrects is not None}
