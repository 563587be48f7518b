"""The same tables in every format: cells and row numbers must not depend on the format."""

from __future__ import annotations

from collections.abc import Callable

from importer.models import SourceOptions
from tests.sources.corpus.binary_writers import xls_bytes
from tests.sources.corpus.case import Case, Expected
from tests.sources.corpus.writers import Table, csv_text, openpyxl_bytes, xlsxwriter_bytes

_FORMS: dict[str, tuple[str, Callable[[Table], bytes]]] = {
    "comma": ("a.csv", lambda table: csv_text(table).encode()),
    "semicolon-bom": ("a.csv", lambda table: csv_text(table, ";").encode("utf-8-sig")),
    "tab-utf16": ("a.txt", lambda table: csv_text(table, "\t", "\n").encode("utf-16")),
    "openpyxl": ("a.xlsx", openpyxl_bytes),
    "xlsxwriter": ("a.xlsx", xlsxwriter_bytes),
    "xls": ("a.xls", xls_bytes),
}

_TABLES: dict[str, tuple[str, Table]] = {
    "plain": ("keeps a plain table", (("Name", "E-mail"), ("Ada", "ada@example.com"), ("Alan", "alan@example.org"))),
    "blank-rows": (
        "keeps row numbers over blank rows",
        (("Name", "E-mail"), ("", ""), ("Ada", "ada@example.com"), ("", ""), ("", ""), ("Alan", "alan@example.org")),
    ),
    "line-breaks": (
        "keeps row numbers over cells of several lines",
        (("Name", "Notes"), ("Ada", "one\ntwo\n\nthree"), ("Alan", "x"), ("Grace", "y\nz")),
    ),
    "zeros": (
        "keeps leading zeros, plus signs and long digits of text",
        (("Phone", "Id"), ("0044 20 7946 0001", "000123456789012345678"), ("+442079460002", "1E5"), ("007", "1.0")),
    ),
    "unicode": (
        "keeps letters of all scripts",
        (
            ("Ad", "Şehir"),
            ("Gül Şen", "İstanbul"),
            ("Ольга", "Москва"),
            ("王芳", "北京"),
            ("نور", "القاهرة"),
            ("𝒜da", "🙂"),
        ),
    ),
    "gaps": (
        "keeps cells in their columns after empty cells",
        (("A", "B", "C", "D"), ("", "", "", "d"), ("a", "", "c", ""), ("", "b", "", "")),
    ),
    "signs": (
        "keeps texts that look like a formula or a quote",
        (("A", "B"), ("=1+1", "+x"), ("-y", "@z"), ('say "hi"', "a;b,c|d\te"), ("'quoted", "<&>")),
    ),
}


def _expected(table: Table) -> Expected:
    rows = {number: tuple(map(str, row)) for number, row in enumerate(table, 1) if number > 1 and any(row)}
    return Expected(tuple(map(str, table[0])), rows)


def _case(table_name: str, form_name: str) -> Case:
    promise, table = _TABLES[table_name]
    file, write = _FORMS[form_name]
    expected = _expected(table)
    return Case(f"table-{table_name}-{form_name}", promise, file, lambda: write(table), expected, SourceOptions())


TABLE_CASES = tuple(_case(table, form) for table in _TABLES for form in _FORMS)
