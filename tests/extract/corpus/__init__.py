"""The corpus: small files as people really have them, each made by code, each with what reading it must give.

`python -m tests.extract.corpus FOLDER` writes them, to look at in a spreadsheet program.
"""

from __future__ import annotations

from tests.extract.corpus.binary_cases import BINARY_CASES
from tests.extract.corpus.case import Case, Expected
from tests.extract.corpus.csv_cases import CSV_CASES
from tests.extract.corpus.encoding_cases import ENCODING_CASES
from tests.extract.corpus.header_cases import HEADER_CASES
from tests.extract.corpus.refused_cases import REFUSED_CASES
from tests.extract.corpus.table_cases import TABLE_CASES
from tests.extract.corpus.xlsx_cases import XLSX_CASES

CASES: tuple[Case, ...] = (
    *CSV_CASES,
    *ENCODING_CASES,
    *HEADER_CASES,
    *TABLE_CASES,
    *XLSX_CASES,
    *BINARY_CASES,
    *REFUSED_CASES,
)

__all__ = ["CASES", "Case", "Expected"]
