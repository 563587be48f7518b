"""The results folder: the outcome of every row, for people and for programs."""

from importer.report.accounting import MissingOutcome, ReportedRow, SummaryCounter
from importer.report.outcomes import outcome_text
from importer.report.summary import ProblemGroup, RunFacts, Summary, read_summary
from importer.report.text import group_lines, import_command, summary_lines, warning_lines, wrapped
from importer.report.write import ReportWriter, write_report, write_unfinished_summary

__all__ = [
    "MissingOutcome",
    "ProblemGroup",
    "ReportWriter",
    "ReportedRow",
    "RunFacts",
    "Summary",
    "SummaryCounter",
    "group_lines",
    "import_command",
    "outcome_text",
    "read_summary",
    "summary_lines",
    "warning_lines",
    "wrapped",
    "write_report",
    "write_unfinished_summary",
]
