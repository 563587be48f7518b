"""The real shapes of exports that have an example mapping: their files, and the patterns that each of them shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.samples.sample import ROOT


@dataclass(frozen=True)
class Shape:
    """One example: a mapping in mappings/, a file in sample_data/, a golden folder, and the patterns that it shows."""

    name: str
    source: str
    patterns: frozenset[str]

    @property
    def file(self) -> Path:
        return ROOT / "sample_data" / self.source

    @property
    def mapping(self) -> Path:
        return ROOT / "mappings" / f"{self.name}.yaml"

    @property
    def golden(self) -> Path:
        return Path(__file__).parent / "golden" / self.name


def _shape(name: str, source: str, patterns: str) -> Shape:
    return Shape(name, source, frozenset(patterns.split()))


# The patterns are P1 to P28 of the list of what real exports need; P20 and P21, attachments, are of another issue.
SHAPES = (
    _shape("legacy_ats_export", "legacy_ats_export.xlsx", "P3 P4 P11 P12 P13 P15 P17 P19 P22 P24 P25"),
    _shape("zoho_backup", "zoho_backup/Candidates_001.csv", "P1 P2 P5 P12 P15 P16 P17 P19 P23 P24 P26"),
    _shape("bullhorn_files", "bullhorn_files/Candidate.csv", "P1 P5 P13 P16 P17 P25 P26"),
    _shape("combinations", "combinations/candidates_flat.csv", "P6 P14 P17"),
    _shape("record_types", "record_types/background.csv", "P2 P7 P16 P24 P28"),
    _shape("talent_hub", "talent_hub/Candidates.csv", "P11 P16 P19"),
    _shape("entries_in_cells", "entries_in_cells/export.csv", "P3 P8 P14 P16 P18 P28"),
    _shape("parallel_lists", "parallel_lists/applications.csv", "P10 P14"),
    _shape("numbered_groups", "numbered_groups/scraped.csv", "P4 P16 P18"),
    _shape("positional", "positional/shortlist.csv", "P2 P16 P25"),
    _shape("form_answers_tr", "form_answers_tr/yanitlar.csv", "P1 P12 P13 P14 P15 P16 P19 P22 P23 P24"),
    _shape("json_cells", "json_cells/resumes.csv", "P9 P10 P19"),
    _shape("child_sheets", "child_sheets.xlsx", "P5 P16 P27 P28"),
)
