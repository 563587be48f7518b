"""Import candidates from spreadsheets into a recruiting service, every row once.

From Python: `check`, `run`, `events` and `results` (docs/python.md).
"""

# Nothing is imported here: `python -m importer` has not yet removed the current folder, where a pathlib.py may be.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from importer.python_api import check, events, results, run

__all__ = ["check", "events", "results", "run"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'importer' has no attribute {name!r}")
    from importer import python_api

    return getattr(python_api, name)
