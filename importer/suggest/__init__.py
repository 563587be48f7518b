"""Proposes a mapping file from a header, sampled values and the live questions: the public names."""

from __future__ import annotations

from importer.suggest.columns import ColumnView, sample_columns
from importer.suggest.entry_columns import Join, OtherSheet, join_of
from importer.suggest.full_names import likely_full_names
from importer.suggest.profile import ColumnKind, ColumnProfile, SheetProfile, profile_sheet
from importer.suggest.proposal import OpenPoints, Proposal, SourceFacts, open_points
from importer.suggest.propose import finds_candidates, propose
from importer.suggest.yaml_writer import write_proposal

__all__ = [
    "ColumnKind",
    "ColumnProfile",
    "ColumnView",
    "Join",
    "OpenPoints",
    "OtherSheet",
    "Proposal",
    "SheetProfile",
    "SourceFacts",
    "finds_candidates",
    "join_of",
    "likely_full_names",
    "open_points",
    "profile_sheet",
    "propose",
    "sample_columns",
    "write_proposal",
]
