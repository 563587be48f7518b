"""A row becomes an application or a pool candidate, or problems; pure functions."""

from __future__ import annotations

from importer.transform.candidates import Filtered, candidate_rows, filtered, place_of_address, same_address
from importer.transform.dates import DATE_IN_FUTURE
from importer.transform.entries import EntriesReader
from importer.transform.entry_rows import join_warnings
from importer.transform.likely_errors import LikelyErrors, Seen
from importer.transform.lookups import value_reader
from importer.transform.row import BodyReader, Invalid, body_reader, encode, transform_row
from importer.transform.texts import undeclared
from importer.transform.trace import TracedAnswer, TracedPart, trace_parts, trace_row
from importer.transform.values import ValueReader
