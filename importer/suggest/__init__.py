"""Proposes a mapping file from a header, sampled values and the live questions: the public names."""

from __future__ import annotations

from importer.suggest.columns import ColumnNames, ColumnView, sample_columns
from importer.suggest.date_forms import date_forms
from importer.suggest.entry_columns import Join, OtherSheet, join_of
from importer.suggest.full_names import likely_full_names
from importer.suggest.mapping_text import CannotChange, MappingText
from importer.suggest.profile import ColumnKind, ColumnProfile, SheetProfile, profile_sheet
from importer.suggest.proposal import (
    Goal,
    OpenPoints,
    Proposal,
    ProposedEntries,
    ProposedField,
    ProposedValue,
    Setting,
    SourceFacts,
    candidate_goals,
    entry_kind,
    open_points,
    question_goals,
)
from importer.suggest.propose import date_settings, finds_candidates, propose, propose_value, writes_day_first
from importer.suggest.refitted_text import refitted
from importer.suggest.yaml_writer import question_key, write_proposal, write_value
