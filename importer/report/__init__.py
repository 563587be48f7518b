"""The results folder: the outcome of every row, for people and for programs."""

from importer.report.accounting import MissingOutcome, ReportedRow, SummaryCounter, pair, place_in_list
from importer.report.csv_files import write_rows
from importer.report.outcomes import EDITS_FILE, csv_file, outcome_text
from importer.report.summary import Entries, ProblemGroup, RunFacts, Summary, read_summary
from importer.report.text import (
    LARGEST_GROUPS,
    MOST_GROUPS,
    Copy,
    OpenRows,
    attention_lines,
    group_lines,
    import_command,
    status_lines,
    subject_line,
    summary_lines,
    warning_lines,
)
from importer.report.write import ReportWriter, edited_files, write_report, write_unfinished_summary

__all__ = [
    "EDITS_FILE",
    "LARGEST_GROUPS",
    "MOST_GROUPS",
    "Copy",
    "Entries",
    "MissingOutcome",
    "OpenRows",
    "ProblemGroup",
    "ReportWriter",
    "ReportedRow",
    "RunFacts",
    "Summary",
    "SummaryCounter",
    "attention_lines",
    "csv_file",
    "edited_files",
    "group_lines",
    "import_command",
    "outcome_text",
    "pair",
    "place_in_list",
    "read_summary",
    "status_lines",
    "subject_line",
    "summary_lines",
    "warning_lines",
    "write_report",
    "write_rows",
    "write_unfinished_summary",
]
