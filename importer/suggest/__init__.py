"""Proposes a mapping file from a header, sampled values and the live questions. What the rest may call."""

from __future__ import annotations

from importer.suggest.child_sheets import OtherSheet
from importer.suggest.proposal import OpenPoints, Proposal, SourceFacts, open_points
from importer.suggest.propose import propose
from importer.suggest.sampled import SampledColumn, sample_columns
from importer.suggest.written import write_proposal

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
