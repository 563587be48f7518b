"""The results folder: the outcome of every row, for people and for programs."""

from importer.report.accounting import ReportedRow, SummaryCounter, pair, place_in_list
from importer.report.csv_files import cells, header, write_rows
from importer.report.next_steps import next_steps
from importer.report.outcomes import EDITS_FILE, WORKBOOK_FILE, csv_file, outcome_text
from importer.report.problem_codes import GeneralTexts
from importer.report.summary import ProblemGroup, RunFacts, Summary, read_summary
from importer.report.text import LARGEST_GROUPS, problem_lines, status_lines, subject_line, summary_lines
from importer.report.write import edited_files, is_newer_than_report, write_report, write_unfinished_summary

__all__ = [
    "EDITS_FILE",
    "LARGEST_GROUPS",
    "WORKBOOK_FILE",
    "GeneralTexts",
    "ProblemGroup",
    "ReportedRow",
    "RunFacts",
    "Summary",
    "SummaryCounter",
    "cells",
    "csv_file",
    "edited_files",
    "header",
    "is_newer_than_report",
    "next_steps",
    "outcome_text",
    "pair",
    "place_in_list",
    "problem_lines",
    "read_summary",
    "status_lines",
    "subject_line",
    "summary_lines",
    "write_report",
    "write_rows",
    "write_unfinished_summary",
]
