"""Import candidates from spreadsheets into a recruiting service, every row once."""

# Nothing is imported here: `python -m importer` has not yet removed the current folder, where a pathlib.py may be.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    import pandas

__version__ = "0.1.0"


def results(run: "str | os.PathLike[str]") -> "pandas.DataFrame":
    """Each row of a run with its outcome, from its results folder: the columns of its CSV files, all text.

    Raises:
        importer.problems.UnusableInput: it is not the folder of a run that has ended, or the run is damaged.
    """
    from pathlib import Path

    from importer.runs.run_report import rows_as_frame

    return rows_as_frame(Path(run))
