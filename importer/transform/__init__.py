"""A row becomes an application or a pool candidate, or problems; pure functions."""

from __future__ import annotations

from importer.transform.candidates import candidate_rows
from importer.transform.duplicates import Duplicates
from importer.transform.encoding import encode
from importer.transform.joins import join_warnings
from importer.transform.results import Filtered, Invalid
from importer.transform.row import transform_row

__all__ = ["Duplicates", "Filtered", "Invalid", "candidate_rows", "encode", "join_warnings", "transform_row"]
