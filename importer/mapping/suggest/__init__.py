"""Proposes a mapping file from a header, sampled values and the live questions. What the rest may call."""

from __future__ import annotations

from importer.mapping.suggest.proposal import Proposal, SourceFacts
from importer.mapping.suggest.propose import propose
from importer.mapping.suggest.sampled import SampledColumn, sample_columns
from importer.mapping.suggest.written import write_proposal

__all__ = ["Proposal", "SampledColumn", "SourceFacts", "propose", "sample_columns", "write_proposal"]
