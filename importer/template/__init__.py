"""An empty workbook for entering candidates manually, and its mapping file."""

from __future__ import annotations

from importer.template.columns import TemplateColumn, template_columns, template_mapping
from importer.template.workbook import write_workbook

__all__ = ["TemplateColumn", "template_columns", "template_mapping", "write_workbook"]
