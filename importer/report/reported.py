"""A source row with what became of it, as the import_ columns tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from importer.models import Column, Outcome, Row
from importer.report.places import place_in_row
from importer.report.words import words_for

IMPORT_COLUMNS: Final = ("import_row", "import_status", "import_problem", "import_hint")
TYPED_COLUMN: Final = "import_typed"

_BETWEEN = " | "


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """One row and its outcome."""

    row: Row
    outcome: Outcome
    import_cells: tuple[str, str, str, str] = field(init=False)
    """The cells of IMPORT_COLUMNS: `7`, `400 rejected`, every problem with its place, every distinct hint."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "import_cells", (str(self.row.number), self.status, self.problem, self.hint))

    def typed_letters(self, columns: Sequence[Column]) -> str:
        """The cell of TYPED_COLUMN: the letters of the cells that the workbook kept as values, `D K`."""
        return " ".join(column.letter for column in columns if column.index in self.row.typed)

    @property
    def status(self) -> str:
        label = words_for(self.outcome.kind).label
        return label if self.outcome.status is None else f"{self.outcome.status} {label}"

    @property
    def problem(self) -> str:
        if not self.outcome.problems:
            return ""
        texts = []
        for problem in self.outcome.problems:
            where = place_in_row(problem.place, self.row)
            texts.append(f"{where}: {problem.message}" if where else problem.message)
        return _BETWEEN.join(texts)

    @property
    def hint(self) -> str:
        if not self.outcome.problems:
            return ""
        hints = dict.fromkeys(problem.hint for problem in self.outcome.problems if problem.hint)
        return _BETWEEN.join(hints)
