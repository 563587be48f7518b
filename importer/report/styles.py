"""How the cells of report.xlsx look: few, calm colours, and the same one for the same thing."""

from __future__ import annotations

from typing import Any, Final

from importer.models import OutcomeKind

_INK = "#1F2933"
_FAINT = "#7B8794"
_LINE = "#CBD2D9"

TAB_COLOURS: Final[dict[OutcomeKind, str]] = {
    OutcomeKind.CREATED: "#6AA889",
    OutcomeKind.ALREADY_THERE: "#9AB3A5",
    OutcomeKind.REJECTED: "#D98E73",
    OutcomeKind.INVALID: "#D98E73",
    OutcomeKind.FAILED: "#D9B26F",
    OutcomeKind.UNCLEAR: "#D9B26F",
    OutcomeKind.NOT_SENT: "#AEB8C2",
    OutcomeKind.DONE_BEFORE: "#9AB3A5",
    OutcomeKind.FILTERED: "#AEB8C2",
}


class Styles:
    """The formats of one workbook.

    Source cells are text (`@`), so that a phone or a date that a person mends in the sheet stays as it was typed;
    `long` is for what is longer than a text cell can show.
    """

    def __init__(self, workbook: Any) -> None:
        def style(**properties: Any) -> Any:
            return workbook.add_format({"valign": "top", "font_color": _INK, **properties})

        heading = {"bold": True, "bottom": 1, "bottom_color": _LINE}
        self.header = style(**heading, bg_color="#E4E9EE", text_wrap=True)
        self.import_header = style(**heading, bg_color="#F3DFC1", text_wrap=True)
        self.text = style(num_format="@")
        self.long = style()
        self.guilty = style(num_format="@", bg_color="#F8D3C5", border=1, border_color="#D98E73")
        self.short_import = style(bg_color="#FDF8EF")
        self.wrapped_import = style(bg_color="#FDF8EF", text_wrap=True)
        self.note = style(italic=True, font_color=_FAINT)

        self.title = style(bold=True, font_size=16)
        self.headline = style(font_size=12)
        self.section = style(bold=True, font_size=12, bottom=2, bottom_color="#8FA3B5")
        self.label = style(font_color=_FAINT)
        self.wrapped = style(text_wrap=True)
        self.number = style(num_format="#,##0", align="right", indent=1)
        self.total = style(num_format="#,##0", align="right", indent=1, bold=True, top=1, top_color=_LINE)
        self.total_label = style(bold=True, top=1, top_color=_LINE)
        self.link = style(font_color="#2B6CB0", underline=1)
        self.faint = style(font_color=_FAINT)
        self.faint_number = style(font_color=_FAINT, num_format="#,##0", align="right", indent=1)
        self.command = style(font_name="Consolas", bg_color="#F1F4F7")
