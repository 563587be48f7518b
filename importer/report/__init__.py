"""The results folder: the outcome of every row, for people and for programs."""

from importer.report.accounting import MissingOutcome, ProblemGroups
from importer.report.summary import ProblemGroup, RunFacts, Summary, read_summary
from importer.report.text import summary_lines, warning_lines
from importer.report.write import ReportWriter, write_report, write_unfinished_summary

__all__ = [
    "MissingOutcome",
    "ProblemGroup",
    "ProblemGroups",
    "ReportWriter",
    "RunFacts",
    "Summary",
    "read_summary",
    "summary_lines",
    "warning_lines",
    "write_report",
    "write_unfinished_summary",
]
