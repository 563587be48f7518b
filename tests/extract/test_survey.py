"""The look through a whole CSV before it is read: the same while it is copied as afterwards."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from importer.extract import ReadingLimits, copy_source
from importer.extract.csv_survey import SurveyOfCopy, survey

_BLOCK = 1 << 18

pieces = st.sampled_from([b"a,b\r\n", b"1.2E", b"+11,", b"\n", "ğ".encode(), b"\xc4", b"#N/A", "\u200b".encode(), b"x"])


@given(st.lists(pieces, max_size=12), st.integers(1, 7))
@example([b"\xef\xbb\xbfa,b\n"], 3)
@example([b"1.2E", b"+11"], 4)
def test_a_survey_of_a_copy_is_that_of_the_file(parts: list[bytes], size: int) -> None:
    """However its bytes come; of what is no UTF-8 there is none, and the file is looked at when it is opened."""
    content = b"".join(parts)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(content)
        afterwards = survey(path, "utf-8")
        seen = SurveyOfCopy()
        for start in range(0, len(content), size):
            seen.at(content[start : start + size])
        assert seen.survey(path) == (None if afterwards.undecodable else afterwards)


@pytest.mark.parametrize("cut", range(-1, 5))
def test_a_shortened_number_is_seen_where_two_blocks_meet(tmp_path: Path, cut: int) -> None:
    """A file of any size is read in blocks, and a cell may lie in two."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * (_BLOCK - cut) + b"1.2E+11\n")
    assert not survey(path, "utf-8").plain
    assert not survey(path, "cp1254").plain


def test_a_copy_that_was_written_anew_is_looked_at_again(tmp_path: Path) -> None:
    """What was seen holds for the bytes that were copied, and for no others."""
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n")
    copy = copy_source(tmp_path / "a.csv", tmp_path, ReadingLimits())
    assert survey(copy.path, "utf-8", copy.survey) is copy.survey
    copy.path.write_bytes(b"a,b\n1,2E+11\n")
    assert not survey(copy.path, "utf-8", copy.survey).plain
