"""The corpus: every file gives its rows or its message."""

from __future__ import annotations

from pathlib import Path

import pytest

from importer.problems import UnusableInput
from importer.sources import open_sheet
from tests.sources.corpus import CASES, Case, Expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_corpus(case: Case, tmp_path: Path) -> None:
    """Each file of the corpus gives exactly the cells and messages of its case."""
    path = tmp_path / case.file
    path.write_bytes(case.content())
    assert _read(path, case) == case.expected, case.promise


def _read(path: Path, case: Case) -> Expected:
    try:
        sheet = open_sheet(path, case.options, shown_as=case.file)
        rows = list(sheet.rows())
    except UnusableInput as error:
        return Expected(refused=tuple(str(problem) for problem in error.problems))
    assert list(sheet.rows()) == rows, "rows may be read again"
    return Expected(
        columns=tuple(column.label for column in sheet.columns),
        rows={row.number: row.cells for row in rows},
        problems=tuple(str(problem) for row in rows for problem in row.problems),
        warnings=tuple(str(warning) for warning in sheet.warnings),
        reading=None if case.expected.reading is None else sheet.reading,
        header_row=sheet.header_row,
        typed=None if case.expected.typed is None else {row.number: set(row.typed) for row in rows},
    )


def test_corpus_is_large() -> None:
    """The corpus keeps at least 120 files, each with its own ID."""
    assert len({case.id for case in CASES}) == len(CASES) >= 120
