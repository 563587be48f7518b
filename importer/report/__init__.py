"""The results folder: what became of every row, for people and for programs."""

from importer.report.facts import RunFacts
from importer.report.pairing import Unaccounted
from importer.report.summary import ProblemGroup, Requests, SourceSummary, Stopped, Summary
from importer.report.summary_file import read_summary
from importer.report.text import summary_lines
from importer.report.words import OutcomeWords, words_for
from importer.report.write import write_report, write_unfinished_summary

__all__ = [
    "OutcomeWords",
    "ProblemGroup",
    "Requests",
    "RunFacts",
    "SourceSummary",
    "Stopped",
    "Summary",
    "Unaccounted",
    "read_summary",
    "summary_lines",
    "words_for",
    "write_report",
    "write_unfinished_summary",
]
