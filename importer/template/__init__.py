"""An empty workbook for people who fill in candidates by hand, and the mapping file that fits it."""

from __future__ import annotations

from importer.template.columns import TemplateColumn, template_columns, template_mapping
from importer.template.workbook import write_workbook

__all__ = ["TemplateColumn", "template_columns", "template_mapping", "write_workbook"]
