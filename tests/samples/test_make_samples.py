"""The generator: the committed samples are its output, with invented addresses only."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.samples.other_format import as_csv
from tests.samples.sample import LEGACY, NIGHTLY, ROOT, Sample

GENERATOR = ROOT / "sample_data" / "make_samples.py"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the current output of the generator."""
    folder = tmp_path_factory.mktemp("generated")
    # An import in this process may have said that no other one is to import modules from its folder.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONSAFEPATH"}
    subprocess.run([sys.executable, str(GENERATOR), str(folder)], check=True, env=environment)
    return folder


def parts(file: Path) -> dict[str, bytes]:
    """A workbook's parts by name, unpacked: compressed bytes may differ between versions of zlib."""
    if not zipfile.is_zipfile(file):
        return {file.name: file.read_bytes()}
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("sample", [LEGACY, NIGHTLY], ids=lambda sample: sample.file.name)
def test_the_committed_sample_is_the_output_of_the_generator(generated: Path, sample: Sample) -> None:
    """The samples change with the generator, and are never edited manually."""
    assert parts(generated / sample.file.name) == parts(sample.file)


def test_no_address_in_the_samples_is_real(tmp_path: Path) -> None:
    """Every address in the samples is in a domain that is reserved for examples."""
    texts = as_csv(LEGACY.file, "Candidates", tmp_path).read_text("utf-8-sig"), NIGHTLY.file.read_text("cp1254")
    domains = {domain.lower().strip(".") for text in texts for domain in re.findall(r"@([\w.-]+)", text)}
    assert domains == {"example.com", "example.org", "example.net", "example..com"}
