"""The generator: the committed samples are what it writes, and they hold what they are there to show."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.samples.other_format import as_csv
from tests.samples.sample import LEGACY, NIGHTLY, ROOT, SAMPLES, Sample

GENERATOR = ROOT / "sample_data" / "make_samples.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the samples as the generator writes them now."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, str(GENERATOR), str(folder)], check=True)
    return folder


def parts(file: Path) -> dict[str, bytes]:
    """A workbook's parts by name, unpacked: compressed bytes may differ between versions of zlib."""
    if not zipfile.is_zipfile(file):
        return {file.name: file.read_bytes()}
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.file.name)
def test_the_committed_sample_is_what_the_generator_writes(made: Path, sample: Sample) -> None:
    """Whoever changes the generator sees the sample change, and nobody edits a sample by hand."""
    assert parts(made / sample.file.name) == parts(sample.file)


def test_nobody_in_the_samples_can_be_written_to(tmp_path: Path) -> None:
    """Every address in the samples is in a domain that is reserved for examples."""
    texts = as_csv(LEGACY.file, "Candidates", tmp_path).read_text("utf-8-sig"), NIGHTLY.file.read_text("cp1254")
    domains = {domain.lower().strip(".") for text in texts for domain in re.findall(r"@([\w.-]+)", text)}
    assert domains == {"example.com", "example.org", "example.net", "example..com"}
