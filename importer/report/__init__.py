"""The results folder: the outcome of every row, for people and for programs."""

from importer.report.accounting import MissingOutcome
from importer.report.summary import RunFacts, Summary, read_summary
from importer.report.text import import_command, summary_lines
from importer.report.write import ReportWriter, write_report, write_unfinished_summary

__all__ = [
    "MissingOutcome",
    "ReportWriter",
    "RunFacts",
    "Summary",
    "import_command",
    "read_summary",
    "summary_lines",
    "write_report",
    "write_unfinished_summary",
]
