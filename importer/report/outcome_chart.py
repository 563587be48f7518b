"""The bar chart of the outcomes in the sheet Summary of report.xlsx."""

from __future__ import annotations

from typing import Any, Final

from importer.models import SUMMARY_SHEET, OutcomeKind
from importer.report.outcomes import outcome_text
from importer.report.summary import Summary

_ROW_HEIGHT: Final = 20  # pixels; those of the columns are computed from their widths
_FONT: Final = {"size": 8, "color": "#1F2933"}
_NONE: Final = {"none": True}


def insert_outcome_chart(
    workbook: Any, sheet: Any, summary: Summary, first_row: int, column: int, width: float
) -> None:
    """Insert the chart beside the table of outcomes, as high as its rows.

    first_row: of the first outcome in the sheet, from 0; labels and counts are in the columns A and B. column: where
    the chart begins; width: how much room it has, in characters.
    """
    last_row = first_row + len(OutcomeKind) - 1
    texts = [outcome_text(kind, dry_run=summary.dry_run) for kind in OutcomeKind]
    counts = [summary.outcomes[kind] for kind in OutcomeKind]
    chart = workbook.add_chart({"type": "bar"})
    chart.add_series(
        {
            "name": "Rows",
            "categories": [SUMMARY_SHEET, first_row, 0, last_row, 0],
            "values": [SUMMARY_SHEET, first_row, 1, last_row, 1],
            # XlsxWriter keeps no cells in constant memory; a viewer that computes nothing shows these.
            "categories_data": [text.label for text in texts],
            "values_data": counts,
            "points": [{"fill": {"color": text.tab_color}} for text in texts],
            "data_labels": {"value": True, "num_format": "#,##0;;", "font": _FONT},  # no label for 0
            "gap": 40,
        }
    )
    chart.set_title(_NONE)
    chart.set_legend(_NONE)
    chart.set_chartarea({"border": _NONE, "fill": _NONE})
    labels = {"num_font": _FONT, "interval_unit": 1}  # 1: each outcome has its label
    chart.set_y_axis({**labels, "reverse": True, "major_tick_mark": "none", "line": {"color": "#CBD2D9"}})
    chart.set_x_axis({"visible": False, "min": 0, "major_gridlines": {"visible": False}})
    chart.set_plotarea({"layout": {"x": 0.3, "y": 0, "width": 0.55, "height": 1}})  # each bar beside its row
    chart.set_size({"width": int(7 * width), "height": _ROW_HEIGHT * len(OutcomeKind)})
    spoken = ", ".join(f"{count:,} {text.label}" for count, text in zip(counts, texts, strict=True))
    sheet.insert_chart(first_row, column, chart, {"description": f"Rows by outcome: {spoken}", "x_offset": 5})
