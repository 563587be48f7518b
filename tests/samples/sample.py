"""The samples that have a golden folder: their file, their mapping and their expected results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.samples.other_format import as_csv, as_workbook

ROOT = Path(__file__).parent.parent.parent
DEMO_FAULTS = ROOT / "sample_data" / "demo_faults.json"


@dataclass(frozen=True)
class Sample:
    """One sample. `copy` writes its table to a folder in the other format and returns the path."""

    name: str
    file: Path
    mapping: Path
    copy: Callable[[Path], Path]

    @property
    def golden(self) -> Path:
        return Path(__file__).parent / "golden" / self.name


def _legacy_copy(folder: Path) -> Path:
    return as_csv(LEGACY.file, "Candidates", folder)


def _nightly_copy(folder: Path) -> Path:
    return as_workbook(NIGHTLY.file, "cp1254", folder)


LEGACY = Sample(
    "legacy_ats_export",
    ROOT / "sample_data" / "legacy_ats_export.xlsx",
    ROOT / "mappings" / "legacy_ats_export.yaml",
    _legacy_copy,
)
NIGHTLY = Sample(
    "nightly_candidates",
    ROOT / "sample_data" / "nightly_candidates.csv",
    ROOT / "mappings" / "nightly_talent_pool.yaml",
    _nightly_copy,
)
SAMPLES = (LEGACY, NIGHTLY)
