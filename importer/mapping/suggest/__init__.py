"""Proposes a mapping file from a header, sampled values and the live questions. What the rest may call."""

from __future__ import annotations

from importer.mapping.suggest.child_sheets import OtherSheet
from importer.mapping.suggest.proposal import OpenPoints, Proposal, SourceFacts, open_points
from importer.mapping.suggest.propose import propose
from importer.mapping.suggest.sampled import SampledColumn, sample_columns
from importer.mapping.suggest.written import write_proposal

__all__ = [
    "OpenPoints",
    "OtherSheet",
    "Proposal",
    "SampledColumn",
    "SourceFacts",
    "open_points",
    "propose",
    "sample_columns",
    "write_proposal",
]
