"""Import candidates from spreadsheets into a recruiting service, every row once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

__version__ = "0.1.0"


def results(run: str | Path) -> pandas.DataFrame:
    """Each row of a run with its outcome, from its results folder: the columns of its CSV files, all text.

    Raises:
        importer.problems.UnusableInput: it is not the folder of a run that has ended, or the run is damaged.
    """
    from importer.runs.run_report import rows_as_frame  # late: everything else imports this module first

    return rows_as_frame(Path(run))
