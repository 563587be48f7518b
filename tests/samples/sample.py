"""The samples: a file in sample_data/, its mapping in mappings/, and the golden folder of its import."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DEMO_FAULTS = ROOT / "sample_data" / "demo_faults.json"


@dataclass(frozen=True)
class Sample:
    """One file with its mapping, or its folder of mappings."""

    name: str
    file: Path
    mapping: Path

    @property
    def golden(self) -> Path:
        return Path(__file__).parent / "golden" / self.name

    def in_file(self, file: Path) -> Sample:
        """The same table in another file."""
        return replace(self, file=file)


def _sample(source: str, name: str, mapping: str | None = None) -> Sample:
    return Sample(name, ROOT / "sample_data" / source, ROOT / "mappings" / (mapping or f"{name}.yaml"))


LEGACY = _sample("legacy_ats_export.xlsx", "legacy_ats_export")
NIGHTLY = _sample("nightly_candidates.csv", "nightly_candidates", "nightly_talent_pool.yaml")

# patterns.py lists the patterns of real exports that each of them shows.
SAMPLES = (
    LEGACY,
    NIGHTLY,
    _sample("zoho_backup/Candidates_001.csv", "zoho_backup"),
    _sample("bullhorn_files/Candidate.csv", "bullhorn_files"),
    _sample("combinations/candidates_flat.csv", "combinations"),
    _sample("record_types/background.csv", "record_types"),
    _sample("talent_hub/Candidates.csv", "talent_hub"),
    _sample("entries_in_cells/export.csv", "entries_in_cells"),
    _sample("parallel_lists/applications.csv", "parallel_lists"),
    _sample("numbered_groups/scraped.csv", "numbered_groups"),
    _sample("prefixed_groups/applicants.txt", "prefixed_groups"),
    _sample("positional/shortlist.csv", "positional"),
    _sample("form_answers_tr/yanitlar.csv", "form_answers_tr"),
    _sample("continued_rows/kandidaty.csv", "continued_rows"),
    _sample("json_cells/resumes.csv", "json_cells"),
    _sample("child_sheets.xlsx", "child_sheets"),
    _sample("two_row_header.xlsx", "two_row_header"),
    _sample("all_job_posts/export.csv", "all_job_posts", "all_job_posts"),
)
