"""Extract: a CSV or workbook becomes a Sheet of Rows of text. The public names of the room."""

from importer.sources.cell_text import clean, find_problem, is_canonical
from importer.sources.opening import open_sheet
from importer.sources.results_file import run_of_report
from importer.sources.results_reader import ResultsTable, is_results_file, results_tables
from importer.sources.sheet import USUAL_LIMITS, FileKind, ReadingLimits, Sheet
from importer.sources.source_file import SourceCopy, copy_source, kind_by_name, share_copy
