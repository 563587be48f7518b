"""The real shapes of exports that have an example mapping: their files, and their golden folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.samples.sample import ROOT


@dataclass(frozen=True)
class Shape:
    """One example: a mapping in mappings/, a file in sample_data/, and a golden folder."""

    name: str
    source: str

    @property
    def file(self) -> Path:
        return ROOT / "sample_data" / self.source

    @property
    def mapping(self) -> Path:
        return ROOT / "mappings" / f"{self.name}.yaml"

    @property
    def golden(self) -> Path:
        return Path(__file__).parent / "golden" / self.name


# patterns.py lists the patterns that each of them shows.
SHAPES = (
    Shape("legacy_ats_export", "legacy_ats_export.xlsx"),
    Shape("zoho_backup", "zoho_backup/Candidates_001.csv"),
    Shape("bullhorn_files", "bullhorn_files/Candidate.csv"),
    Shape("combinations", "combinations/candidates_flat.csv"),
    Shape("record_types", "record_types/background.csv"),
    Shape("talent_hub", "talent_hub/Candidates.csv"),
    Shape("entries_in_cells", "entries_in_cells/export.csv"),
    Shape("parallel_lists", "parallel_lists/applications.csv"),
    Shape("numbered_groups", "numbered_groups/scraped.csv"),
    Shape("prefixed_groups", "prefixed_groups/applicants.txt"),
    Shape("positional", "positional/shortlist.csv"),
    Shape("form_answers_tr", "form_answers_tr/yanitlar.csv"),
    Shape("continued_rows", "continued_rows/kandidaty.csv"),
    Shape("json_cells", "json_cells/resumes.csv"),
    Shape("child_sheets", "child_sheets.xlsx"),
    Shape("two_row_header", "two_row_header.xlsx"),
)
